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
from functools import cache

from sandboxes.base import SandboxUnavailable
from sandboxes.confinement.rules import RULES, Never, Rule
from sandboxes.confinement.syscalls import syscall_numbers

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_LOAD, _AND, _EQ, _GE, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_NR, _ARCH = 0, 4
_X32_BIT = 0x40000000
# The last call that the tables took into account. Newer ones don't exist for the program:
# glibc falls back on ENOSYS, but not on EPERM.
_NEWEST = 441

_Instruction = tuple[int, int, int, int]


def _errno(number: int) -> int:
    return 0x00050000 | number


def _argument(index: int) -> int:
    """Offset of the low 32 bits of an argument (both architectures are little-endian)."""
    return 16 + 8 * index


def _return(action: int) -> _Instruction:
    return (_RETURN, 0, 0, action)


def _steps(rule: Rule) -> list[_Instruction]:
    """Goes on to what follows where the rule holds; else refuses."""
    refuse = _return(_errno(rule.error))
    load = (_LOAD, 0, 0, _argument(rule.argument))
    if isinstance(rule, Never):
        refusal = [refuse] if rule.unless_null is None else _unless_null(rule.unless_null, refuse)
        return [s for v in rule.values for s in (load, (_EQ, 0, len(refusal), v), *refusal)]
    left = len(rule.values)
    tests = [(_EQ, left - i, 0, v) for i, v in enumerate(rule.values)]
    return [load, (_AND, 0, 0, rule.mask), *tests, refuse]


def _unless_null(pointer: int, refuse: _Instruction) -> list[_Instruction]:
    """Refuses where an argument, all 64 bits of it, is anything but 0."""
    low = _argument(pointer)
    return [(_LOAD, 0, 0, low), (_EQ, 0, 2, 0), (_LOAD, 0, 0, low + 4), (_EQ, 1, 0, 0), refuse]


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
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQ, 1, 0, _AUDIT_ARCH[machine]),
        _return(_KILL_PROCESS),
        (_LOAD, 0, 0, _NR),
        (_GE, 0, 1, _X32_BIT),
        _return(_errno(errno.EPERM)),
    ]
    for name, number in numbers.items():
        rules = RULES.get(name, ())
        body = [*(step for rule in rules for step in _steps(rule)), _return(_ALLOW)]
        program += [(_EQ, 0, len(body), number), *body]
    program += [
        (_GE, 0, 1, _NEWEST + 1),
        _return(_errno(errno.ENOSYS)),
        _return(_errno(errno.EPERM)),
    ]
    return b"".join(struct.pack("<HBBI", *step) for step in program)


__all__ = ["seccomp_filter"]
