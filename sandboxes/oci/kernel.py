"""System calls on mounts for which neither Python nor our other code has a function.

Each raises OSError with the kernel's error number. The numbers of the newer calls are the
same on all architectures. Sources: unshare(2), umount(2), open_tree(2), fspick(2), fsconfig(2).
"""

from __future__ import annotations

import os
import platform

from sandboxes.confinement.kernel import CLONE_NEWNS, syscall

_UNSHARE, _UMOUNT = {"x86_64": (272, 166), "aarch64": (97, 39)}.get(platform.machine(), (0, 0))
_OPEN_TREE, _FSCONFIG, _FSPICK = 428, 431, 433
_AT_FDCWD, _CLONE_TREE, _FSPICK_CLOEXEC, _DETACH = -100, 1, 1, 2
_SET_STRING, _RECONFIGURE = 1, 7


def leave_mounts() -> None:
    """Gives the calling thread a copy of the host's mounts of its own."""
    syscall(_UNSHARE, CLONE_NEWNS)


def unmount(path: str) -> None:
    """Takes a mount out of view; it ends when nobody uses it any more."""
    syscall(_UMOUNT, os.fsencode(path), _DETACH)


def detached_folder(path: str) -> int:
    """A descriptor of a directory from which no `..` leads to what is above it."""
    return syscall(_OPEN_TREE, _AT_FDCWD, os.fsencode(path), _CLONE_TREE | os.O_CLOEXEC)


def resize_tmpfs(path: str, *, size_bytes: int, inodes: int) -> None:
    """Changes what the tmpfs mounted there can hold, in whatever mount namespace it lies."""
    context = syscall(_FSPICK, _AT_FDCWD, os.fsencode(path), _FSPICK_CLOEXEC)
    try:
        for name, value in (("size", size_bytes), ("nr_inodes", inodes)):
            syscall(_FSCONFIG, context, _SET_STRING, name.encode(), str(value).encode(), 0)
        syscall(_FSCONFIG, context, _RECONFIGURE, None, None, 0)
    finally:
        os.close(context)


__all__ = ["detached_folder", "leave_mounts", "resize_tmpfs", "unmount"]
