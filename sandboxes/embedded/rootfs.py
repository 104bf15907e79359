"""What a program in a box sees: which files of the host, read-only, and what is made new.

The host's /usr (with what links into it), the Python that runs us, the loader's cache, five
device nodes, a fresh /proc, and two sized tmpfs. Not the host's /etc, homes, /var, /sys or
any installed package: site-packages directories are covered by empty ones.

It is data here, in the order in which it is to be made; who makes boxes brings it about.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from sandboxes.layout import MOUNTS, PACKAGES, SHARED_MEMORY, TEMPORARY, TOOLS

_LINKS_INTO_USR = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_DEVICES = ("null", "zero", "full", "random", "urandom")
# Java's own folder holds links to its settings there.
_FROM_ETC = ("ld.so.cache", "alternatives", "localtime", "java-*-openjdk")


class Kind(StrEnum):
    """What stands at a path: a folder of its own, the host's file or folder read-only, the
    host's device, a link, or an empty folder over the one that is there.
    """

    FOLDER = "folder"
    BIND = "bind"
    DEVICE = "device"
    LINK = "link"
    COVER = "cover"


class Entry(NamedTuple):
    """One thing in the box's file system. `source` is a host path, or what a link says."""

    kind: Kind
    path: str
    source: str = ""


def system_view() -> tuple[Entry, ...]:
    """All that is the same in every box. /proc and what is writable come on top."""
    return tuple(_system())


def package_view(entries: Mapping[str, str]) -> tuple[Entry, ...]:
    """Installed packages, where `PYTHONPATH` has to say (`layout.PACKAGES`).

    Args:
        entries: host paths by name, see `packages`.
    """
    if not entries:
        return ()
    binds = (Entry(Kind.BIND, f"{PACKAGES}/{name}", path) for name, path in sorted(entries.items()))
    return (Entry(Kind.FOLDER, PACKAGES), *binds)


def mount_view(points: Mapping[str, str]) -> tuple[Entry, ...]:
    """Directories that the box was asked to show.

    Args:
        points: host paths by their paths in the box, see `mounts`.
    """
    if not points:
        return ()
    return (Entry(Kind.FOLDER, MOUNTS), *(Entry(Kind.BIND, *point) for point in points.items()))


def _system() -> Iterator[Entry]:
    program = os.path.realpath(sys.executable)
    yield Entry(Kind.BIND, "/usr", "/usr")
    # Parents are not left to whoever makes the box: theirs may be closed to all but their owner.
    inside = (f"{TOOLS}/python3", "/etc/-", f"{SHARED_MEMORY}/-", f"{TEMPORARY}/-", program)
    for folder in _ancestors(*inside):
        yield Entry(Kind.FOLDER, folder)
    for path in _LINKS_INTO_USR:
        if os.path.islink(path):
            yield Entry(Kind.LINK, path, os.readlink(path))
        elif os.path.isdir(path):
            yield Entry(Kind.BIND, path, path)
    for path in sorted(str(p) for name in _FROM_ETC for p in Path("/etc").glob(name)):
        yield Entry(Kind.BIND, path, path)
    yield from _python(program)
    for name in _DEVICES:
        yield Entry(Kind.DEVICE, f"/dev/{name}", f"/dev/{name}")
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        yield Entry(Kind.LINK, f"/dev/{name}", f"/proc/self/{target}")


def _python(program: str) -> Iterator[Entry]:
    """The interpreter below this process's virtual environment, at its own path."""
    if not _is_below_usr(program):
        yield Entry(Kind.BIND, program, program)
        for library in ("lib", "lib64"):
            folder = os.path.join(sys.base_prefix, library)
            if os.path.isdir(folder) and not os.path.islink(folder):
                yield Entry(Kind.BIND, folder, folder)
    for folder in _package_folders():
        yield Entry(Kind.COVER, folder)
    for name in ("python3", "python"):
        yield Entry(Kind.LINK, f"{TOOLS}/{name}", program)


def _package_folders() -> Iterator[str]:
    """Where third-party packages of any Python in view are installed."""
    for prefix in sorted({os.path.realpath(sys.base_prefix), "/usr", "/usr/local"}):
        for library in ("lib", "lib64"):
            if os.path.islink(f"{prefix}/{library}"):
                continue
            for pattern in ("python3*/site-packages", "python3*/dist-packages"):
                for folder in sorted(Path(prefix, library).glob(pattern)):
                    if folder.is_dir() and not folder.is_symlink():
                        yield str(folder)


def _ancestors(*paths: str) -> list[str]:
    """Directories above the paths, outermost first, without what comes from the host."""
    folders = {str(folder) for path in paths for folder in Path(path).parents}
    return sorted(f for f in folders if f not in ("/", "/usr") and not _is_below_usr(f))


def _is_below_usr(path: str) -> bool:
    return path.startswith("/usr/")


__all__ = ["Entry", "Kind", "mount_view", "package_view", "system_view"]
