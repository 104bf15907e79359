"""The seccomp filter of a box, as a classic BPF program, assembled here without libseccomp.

Order matters little for speed: since Linux 5.11 the kernel caches the calls that are allowed
whatever their arguments. Refusals are errors, not kills, so that a program that merely tries
(glibc does, for clone3) goes on. Sources: seccomp(2), `linux/seccomp.h`, `linux/filter.h`.
"""

from __future__ import annotations

import errno
import platform
import struct
import sys
from collections.abc import Iterable, Sequence
from functools import cache

from sandboxes.base import SandboxUnavailable
from sandboxes.confinement.syscalls import syscall_numbers

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_LOAD, _AND, _EQ, _GE, _SET, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_NR, _ARCH = 0, 4
_X32_BIT = 0x40000000
# The last call that the tables took into account. Newer ones don't exist for the program:
# glibc falls back on ENOSYS, but not on EPERM.
_NEWEST = 441

_NAMESPACES = 0x7E020000  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}
_UNIX, _INET, _INET6 = 1, 2, 10
_STREAM, _DATAGRAM = 1, 2
_IP, _TCP, _UDP = 0, 6, 17
_FILE_TYPE, _FIFO, _REGULAR, _UNTYPED = 0o170000, 0o010000, 0o100000, 0
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423  # terminal input and discipline
_PR_SET_PDEATHSIG = 1  # the box's init must not be made to outlive us

_Instruction = tuple[int, int, int, int]


def _errno(number: int) -> int:
    return 0x00050000 | number


def _argument(index: int) -> int:
    """Offset of the low 32 bits of an argument (both architectures are little-endian)."""
    return 16 + 8 * index


def _return(action: int) -> _Instruction:
    return (_RETURN, 0, 0, action)


def _refuse_if(argument: int, values: Iterable[int], action: int) -> list[_Instruction]:
    """Refuses where the argument is one of `values`; else goes on to what follows."""
    tests = [step for v in values for step in ((_EQ, 0, 1, v), _return(action))]
    return [(_LOAD, 0, 0, _argument(argument)), *tests]


def _refuse_unless(
    argument: int, values: Sequence[int], action: int, *, mask: int = 0xFFFFFFFF
) -> list[_Instruction]:
    """Goes on where the masked argument is one of `values`; else refuses."""
    left = len(values)
    tests = [(_EQ, left - i, 0, v) for i, v in enumerate(values)]
    return [
        (_LOAD, 0, 0, _argument(argument)),
        (_AND, 0, 0, mask),
        *tests,
        _return(action),
    ]


def _by_arguments() -> dict[str, list[_Instruction]]:
    """The calls whose arguments decide, each with the steps that may refuse it."""
    eperm, family = _errno(errno.EPERM), _errno(errno.EAFNOSUPPORT)
    protocol = _errno(errno.EPROTONOSUPPORT)
    files = (_FIFO, _REGULAR, _UNTYPED)
    return {
        "clone": [(_LOAD, 0, 0, _argument(0)), (_SET, 0, 1, _NAMESPACES), _return(eperm)],
        "clone3": [_return(_errno(errno.ENOSYS))],  # its flags lie behind a pointer
        "socket": [
            *_refuse_unless(0, (_INET, _INET6), family),
            *_refuse_unless(1, (_STREAM, _DATAGRAM), protocol, mask=0xFF),
            *_refuse_unless(2, (_IP, _TCP, _UDP), protocol),
        ],
        "socketpair": _refuse_unless(0, (_UNIX,), family),
        "ioctl": _refuse_if(1, (_TIOCSTI, _TIOCLINUX, _TIOCSETD), eperm),
        "prctl": _refuse_if(0, (_PR_SET_PDEATHSIG,), eperm),
        "mknod": _refuse_unless(1, files, eperm, mask=_FILE_TYPE),
        "mknodat": _refuse_unless(2, files, eperm, mask=_FILE_TYPE),
    }


@cache
def seccomp_filter(machine: str = platform.machine()) -> bytes:
    """The filter for `bwrap --seccomp`, an array of `struct sock_filter`.

    Raises:
        SandboxUnavailable: no system call table for this architecture.
    """
    if machine not in _AUDIT_ARCH or sys.byteorder != "little":
        raise SandboxUnavailable(
            f"no seccomp filter for {machine} ({sys.byteorder}-endian)",
            remedy="run on x86_64 or aarch64",
        )
    numbers = syscall_numbers(machine)
    special = _by_arguments()
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQ, 1, 0, _AUDIT_ARCH[machine]),
        _return(_KILL_PROCESS),
        (_LOAD, 0, 0, _NR),
        (_GE, 0, 1, _X32_BIT),
        _return(_errno(errno.EPERM)),
    ]
    for name, number in numbers.items():
        body = [*special.get(name, []), _return(_ALLOW)]
        program += [(_EQ, 0, len(body), number), *body]
    program += [
        (_GE, 0, 1, _NEWEST + 1),
        _return(_errno(errno.ENOSYS)),
        _return(_errno(errno.EPERM)),
    ]
    return b"".join(struct.pack("<HBBI", *step) for step in program)


__all__ = ["seccomp_filter"]
