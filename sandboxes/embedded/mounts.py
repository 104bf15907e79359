"""A box's file system made by mounts of our own, in a mount namespace of our own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sandboxes.confinement.kernel import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    mount,
    pivot_root,
    restrict_mount,
)
from sandboxes.embedded.rootfs import Entry, Kind
from sandboxes.launcher.namespaces import mount_proc

# Any directory will do to build upon, as long as nothing that the box shows is below it.
_BUILDING_SITES = ("/mnt", "/media", "/srv", "/boot", "/sys", "/run", "/tmp")  # noqa: S108
_SEALED = MS_RDONLY | MS_NOSUID | MS_NODEV


def make_root(entries: Sequence[Entry], files: Mapping[str, bytes]) -> None:
    """Builds a root file system, makes it ours and closes it to writers.

    Args:
        entries: of the host, see `rootfs`.
        files: contents of further ones, by path.

    Raises:
        OSError: the kernel refuses, or a host file is missing.
    """
    os.umask(0o022)
    mount("none", "/", flags=MS_REC | MS_PRIVATE)  # nothing of what follows shows outside
    root = _building_site(entries)
    mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=0755")
    for entry in entries:
        _make(entry, root)
    for path, content in files.items():
        file = Path(root + path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    os.mkdir(f"{root}/proc")
    mount_proc(root)  # while one is in view: else the kernel fears that we see too much
    pivot_root(root)
    restrict_mount("/", _SEALED)


def _building_site(entries: Iterable[Entry]) -> str:
    sources = [Path(entry.source) for entry in entries if entry.kind is Kind.BIND]
    for site in _BUILDING_SITES:
        if os.path.isdir(site) and not any(source.is_relative_to(site) for source in sources):
            return site
    raise FileNotFoundError(f"none of {', '.join(_BUILDING_SITES)} is free to build upon")


def _make(entry: Entry, root: str) -> None:
    path = root + entry.path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    match entry.kind:
        case Kind.FOLDER:
            os.makedirs(path, exist_ok=True)
        case Kind.LINK:
            os.symlink(entry.source, path)
        case Kind.COVER:
            mount("tmpfs", path, "tmpfs", _SEALED, "size=4k,mode=0755")
        case Kind.BIND:
            _bind(entry.source, path)
            restrict_mount(path, _SEALED, below=True)
        case Kind.DEVICE:
            _bind(entry.source, path)
            restrict_mount(path, MS_RDONLY | MS_NOSUID | MS_NOEXEC)


def _bind(source: str, path: str) -> None:
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    elif not os.path.exists(path):
        Path(path).touch()
    mount(source, path, flags=MS_BIND | MS_REC)


__all__ = ["make_root"]
