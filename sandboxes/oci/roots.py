"""Root file systems of containers: an unpacked image, else the host's own files.

An image that was made for this (`verifier-server sandbox build RUNTIME --export`) is taken as
it is. Where there is none, no image is needed: a program then sees what one in a bubblewrap
box sees (`embedded.rootfs`), the host's /usr and the Python that runs us, read-only.

All is mounted in the workshop's thread, once for all containers of a kind: a runtime adds
what is the container's own, /proc, /dev and two tmpfs.
"""

from __future__ import annotations

import os
import py_compile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandboxes.base import SandboxUnavailable
from sandboxes.confinement.kernel import (
    MS_BIND,
    MS_NODEV,
    MS_NOSUID,
    MS_RDONLY,
    MS_REC,
    mount,
    restrict_mount,
)
from sandboxes.embedded.rootfs import Entry, package_view, system_view
from sandboxes.embedded.rootfs import Kind as Shown
from sandboxes.images.rootfs import rootfs
from sandboxes.launcher.bundle import launcher_files
from sandboxes.layout import LAUNCHER, PACKAGES, SHARED_MEMORY, TEMPORARY
from sandboxes.packages import package_entries

HOST_FILES = "the host's files, read-only"
_SKELETON_BYTES = 4 << 20
_OPEN_TO_ALL = 0o755
_READ_ONLY = MS_RDONLY | MS_NOSUID | MS_NODEV
# What a runtime mounts onto.
_MOUNT_POINTS = ("/proc", "/dev", "/sys", TEMPORARY)
_MADE_BY_THE_RUNTIME = ("/dev", "/proc", TEMPORARY, SHARED_MEMORY)


@dataclass(frozen=True, slots=True)
class Kind:
    """What containers differ in before their program is known."""

    runtime: str
    packages: tuple[str, ...] = ()


def source_of(kind: Kind) -> str:
    """Where its files come from, for people: an image's folder, or `HOST_FILES`."""
    image = _image(kind)
    return HOST_FILES if image is None else str(image)


def mount_root(kind: Kind, folder: Path) -> None:
    """Mounts the root file system of a kind on an empty directory.

    Raises:
        SandboxUnavailable: a package is not installed, or the image has no room for any.
        OSError: the kernel refuses.
    """
    packages = package_entries(kind.packages)
    image = _image(kind)
    if image is None:
        _mount_host(folder)
    else:
        _bind(str(image), folder)
    # runc gives a tmpfs the mode of what it covers, whatever the configuration says.
    _mount_tmpfs(folder / TEMPORARY.lstrip("/"), os.sysconf("SC_PAGE_SIZE"), mode="1777")
    if packages:
        _mount_packages(packages, folder)
    restrict_mount(str(folder), _READ_ONLY, below=True)


def _image(kind: Kind) -> Path | None:
    try:
        return rootfs(kind.runtime)
    except SandboxUnavailable:
        return None


def _mount_host(folder: Path) -> None:
    _mount_tmpfs(folder, _SKELETON_BYTES)
    for path in (*_MOUNT_POINTS, PACKAGES):
        _make_folder(folder / path.lstrip("/"))
    for entry in system_view():
        if not entry.path.startswith(_MADE_BY_THE_RUNTIME):
            _place(entry, folder / entry.path.lstrip("/"))
    _lay_launcher(folder / LAUNCHER.lstrip("/"))


def _place(entry: Entry, target: Path) -> None:
    match entry.kind:
        case Shown.FOLDER:
            _make_folder(target)
        case Shown.LINK:
            _make_folder(target.parent)
            target.symlink_to(entry.source)
        case Shown.BIND:
            _bind(entry.source, target)
        case Shown.COVER:
            _mount_tmpfs(target, os.sysconf("SC_PAGE_SIZE"))
        case Shown.DEVICE:
            raise AssertionError(f"{target} is the runtime's to make")


def _lay_launcher(folder: Path) -> None:
    """Compiled, for nothing in a container can keep what it compiles."""
    for path, content in launcher_files().items():
        _make_folder((folder / path).parent)
        (folder / path).write_bytes(content)
        py_compile.compile(
            str(folder / path),
            dfile=f"{LAUNCHER}/{path}",
            doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )


def _mount_packages(entries: Mapping[str, str], folder: Path) -> None:
    room = folder / PACKAGES.lstrip("/")
    if not room.is_dir():
        raise SandboxUnavailable(
            f"the image has no {PACKAGES}", remedy="build it anew, or remove it to use the host's"
        )
    _mount_tmpfs(room, _SKELETON_BYTES)
    for entry in package_view(entries):
        _place(entry, folder / entry.path.lstrip("/"))


def _mount_tmpfs(folder: Path, size_bytes: int, mode: str = "755") -> None:
    mount("tmpfs", str(folder), "tmpfs", MS_NOSUID | MS_NODEV, f"size={size_bytes},mode={mode}")


def _bind(source: str, target: Path) -> None:
    if os.path.isdir(source):
        _make_folder(target)
    else:
        _make_folder(target.parent)
        target.touch()
    mount(source, str(target), flags=MS_BIND | MS_REC)


def _make_folder(folder: Path) -> None:
    """Open to all, whatever our mask says: the container's ids are nobody's here."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir()
        folder.chmod(_OPEN_TO_ALL)


__all__ = ["HOST_FILES", "Kind", "mount_root", "source_of"]
