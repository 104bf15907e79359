"""What a program in a box sees: which files of the host, read-only, and what is made new.

The host's /usr (with what links into it), the Python that runs us, the loader's cache, five
device nodes, a fresh /proc, and two sized tmpfs. Not the host's /etc, homes, /var, /sys or
any installed package: site-packages directories are covered by empty ones.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from sandboxes.layout import PACKAGES, SHARED_MEMORY, TEMPORARY, TOOLS, WORK

_LINKS_INTO_USR = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_DEVICES = ("null", "zero", "full", "random", "urandom")
# Java's own folder holds links to its settings there.
_FROM_ETC = ("ld.so.cache", "alternatives", "localtime", "java-*-openjdk")


def fixed_mounts() -> tuple[str, ...]:
    """The bwrap options for all that doesn't change from run to run."""
    program = os.path.realpath(sys.executable)
    options: list[str] = ["--ro-bind", "/usr", "/usr"]
    # Parents that bwrap makes by itself are closed to all but their owner.
    for folder in _ancestors(f"{TOOLS}/python3", "/etc/-", f"{SHARED_MEMORY}/-", program):
        options += ["--perms", "0755", "--dir", folder]
    for path in _LINKS_INTO_USR:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            options += ["--ro-bind", path, path]
    for path in sorted(str(p) for name in _FROM_ETC for p in Path("/etc").glob(name)):
        options += ["--ro-bind", path, path]
    options += _python(program)
    for name in _DEVICES:
        options += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        options += ["--symlink", f"/proc/self/{target}", f"/dev/{name}"]
    return (*options, "--proc", "/proc")


def writable_mounts(disk_bytes: int, laid_bytes: int) -> tuple[str, ...]:
    """The options for the writable part, and for closing all the rest.

    The files that are laid down come on top of `disk_bytes`: their size must never be why a
    box can't start. A tmpfs without a size, or a root left writable, is memory without limit.
    """
    size = str(disk_bytes + laid_bytes + (1 << 20))
    return (
        *("--perms", "1777", "--size", size, "--tmpfs", TEMPORARY),
        *("--perms", "1777", "--size", str(disk_bytes), "--tmpfs", SHARED_MEMORY),
        *("--perms", "0755", "--dir", WORK),
        *("--remount-ro", "/", "--chdir", WORK),
    )


def package_mounts(entries: Mapping[str, str]) -> tuple[str, ...]:
    """The options that show a program these files of installed packages, and how to import them.

    Args:
        entries: host paths by name, see `packages`.
    """
    if not entries:
        return ()
    binds = (("--ro-bind", path, f"{PACKAGES}/{name}") for name, path in sorted(entries.items()))
    folder = ("--perms", "0755", "--dir", PACKAGES, *(part for bind in binds for part in bind))
    return (*folder, "--setenv", "PYTHONPATH", PACKAGES)


def _python(program: str) -> list[str]:
    """The interpreter below this process's virtual environment, at its own path."""
    options: list[str] = []
    if not _is_below_usr(program):
        options += ["--ro-bind", program, program]
        for library in ("lib", "lib64"):
            folder = os.path.join(sys.base_prefix, library)
            if os.path.isdir(folder) and not os.path.islink(folder):
                options += ["--ro-bind", folder, folder]
    for folder in _package_folders():
        options += ["--perms", "0755", "--size", "4096", "--tmpfs", folder]
        options += ["--remount-ro", folder]
    for name in ("python3", "python"):
        options += ["--symlink", program, f"{TOOLS}/{name}"]
    return options


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


__all__ = ["fixed_mounts", "package_mounts", "writable_mounts"]
