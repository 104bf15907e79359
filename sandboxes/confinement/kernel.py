"""System calls for which Python has no function, through the C library.

Each raises OSError with the kernel's error number. Sources: clone(2), mount(2),
pivot_root(2), prctl(2), capset(2), landlock(7), seccomp(2).
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterable
from typing import NoReturn

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE, _PIVOT_ROOT = {"x86_64": (56, 155), "aarch64": (220, 41)}.get(platform.machine(), (0, 0))

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

# The first four mean the same to mount_setattr(2).
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
_MNT_DETACH = 2
# No descriptor is above; gVisor finds fault with anything larger.
_CLOSE_RANGE, _LAST_FD = 436, 0x7FFFFFFF
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_CAPABILITY_VERSION_3 = 0x20080522


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def syscall(number: int, *arguments: int | bytes | None) -> int:
    """Makes a system call by its number."""
    typed = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *typed), f"system call {number}")


def clone(flags: int) -> int:
    """A copy of this process in new namespaces; returns 0 in it, else its pid.

    Like `os.fork`, but nothing is told of it: neither Python's nor the C library's handlers
    of forks run. For single-threaded programs alone.
    """
    return syscall(_CLONE, flags | 17, 0, 0, 0, 0)  # 17: SIGCHLD at its end


def close_all_but(kept: Iterable[int]) -> None:
    """Closes every descriptor that we have, except these."""
    first = 0
    for fd in sorted(kept):
        if first < fd:
            syscall(_CLOSE_RANGE, first, fd - 1, 0)
        first = fd + 1
    syscall(_CLOSE_RANGE, first, _LAST_FD, 0)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mounts a file system, or changes how mounts are told of one another's changes."""
    texts = (os.fsencode(text) or None for text in (source, target, kind))
    result = _libc.mount(*texts, ctypes.c_ulong(flags), options.encode() or None)
    _checked(result, f"mounting {target}")


def restrict_mount(target: str, flags: int, *, below: bool = False) -> None:
    """Adds flags to a mount, and to all mounts below it if asked, leaving those it has."""
    attributes = struct.pack("=QQQQ", flags, 0, 0, 0)
    recursive = _AT_RECURSIVE if below else 0
    path = os.fsencode(target)
    syscall(_MOUNT_SETATTR, _AT_FDCWD, path, recursive, attributes, len(attributes))


def pivot_root(folder: str) -> None:
    """Makes a mounted folder the root directory, and lets go of the one before."""
    os.chdir(folder)
    syscall(_PIVOT_ROOT, b".", b".")
    _checked(_libc.umount2(b".", _MNT_DETACH), "letting go of the old root")
    os.chdir("/")


def die_with_parent(signal: int) -> None:
    """Has the kernel send us a signal when our parent's thread ends.

    Forgotten by the kernel whenever our uid changes.
    """
    _prctl(_PR_SET_PDEATHSIG, signal)


def set_dumpable(dumpable: bool) -> None:
    """Whether processes of our user may look into our memory and descriptors."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable))


def gain_no_privileges() -> None:
    """From now on no program that we or our children start gains any by its file."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Gives up all capabilities, for good once `gain_no_privileges` is called."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _checked(_libc.capset(header, bytes(24)), "dropping capabilities")


def write_file(path: str, content: bytes) -> None:
    """Writes to one of the kernel's own files, in one call as those want it."""
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(file, content)
    finally:
        os.close(file)


def leave(status: int) -> NoReturn:
    """Ends this process as C programs end: with what is left in the C library's own buffers."""
    _libc.exit(status)
    raise AssertionError("exit(3) came back")


def filter_system_calls(program: bytes) -> None:
    """Loads a seccomp filter, see `confinement.seccomp`."""
    filter_program = _FilterProgram(len(program) // 8, program)
    result = _libc.prctl(
        _PR_SET_SECCOMP,
        ctypes.c_ulong(_SECCOMP_MODE_FILTER),
        ctypes.byref(filter_program),
        ctypes.c_ulong(0),
        ctypes.c_ulong(0),
    )
    _checked(result, "loading the filter of system calls")


def _prctl(option: int, value: int) -> None:
    rest = (ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3)
    _checked(_libc.prctl(option, *rest), f"prctl {option}")


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


__all__ = [
    "CLONE_NEWCGROUP",
    "CLONE_NEWIPC",
    "CLONE_NEWNET",
    "CLONE_NEWNS",
    "CLONE_NEWPID",
    "CLONE_NEWUSER",
    "CLONE_NEWUTS",
    "MS_BIND",
    "MS_NODEV",
    "MS_NOEXEC",
    "MS_NOSUID",
    "MS_PRIVATE",
    "MS_RDONLY",
    "MS_REC",
    "clone",
    "close_all_but",
    "die_with_parent",
    "drop_capabilities",
    "filter_system_calls",
    "gain_no_privileges",
    "leave",
    "mount",
    "pivot_root",
    "restrict_mount",
    "set_dumpable",
    "syscall",
    "write_file",
]
