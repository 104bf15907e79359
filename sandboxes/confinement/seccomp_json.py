"""The list of allowed system calls as container runtimes read it: `linux.seccomp` of an OCI
`config.json`, Docker's `--security-opt seccomp=FILE`.

It is the outer ring, for whatever runs in the container from its first instruction. The
launcher puts the exact filter (`seccomp`) around a program; libseccomp, which reads this one,
compares all 64 bits of an argument where the kernel looks at 32 (for ioctl, prctl), so what
it could only seem to refuse is left to the inner ring. Source: OCI runtime-spec, config-linux.
"""

from __future__ import annotations

import errno
import platform
import socket
import stat
from collections.abc import Iterable, Mapping
from typing import Any

from sandboxes.base import SandboxUnavailable
from sandboxes.confinement.syscalls import syscall_numbers

_ARCHITECTURES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
# What a launcher needs to confine a program further. Neither takes anything back.
_CONFINING = ("seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
_NAMESPACES = 0x7E020000  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}
_TYPE_BITS = 0xFF  # of a socket's type; the others are flags
_FILE_TYPES = (stat.S_IFIFO, stat.S_IFREG, 0)

_Rule = dict[str, Any]


def seccomp_profile(
    *, also: Iterable[str] = (), machine: str = platform.machine()
) -> Mapping[str, Any]:
    """The profile, as data for JSON.

    Args:
        also: calls to allow whatever their arguments, beyond those of a program in a box.
        machine: `platform.machine()`.

    Raises:
        SandboxUnavailable: no system call table for this architecture.
    """
    if machine not in _ARCHITECTURES:
        raise SandboxUnavailable(
            f"no seccomp profile for {machine}", remedy="run on x86_64 or aarch64"
        )
    free = {*_CONFINING, *also}
    by_arguments = {name: rules for name, rules in _by_arguments().items() if name not in free}
    names = sorted({*syscall_numbers(machine), *free} - {*by_arguments})
    rules: list[_Rule] = [{"names": names, "action": "SCMP_ACT_ALLOW"}]
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.EPERM,
        "architectures": [_ARCHITECTURES[machine]],
        "syscalls": rules + [rule for own in by_arguments.values() for rule in own],
    }


def _by_arguments() -> dict[str, list[_Rule]]:
    """The calls whose arguments decide. Of several rules for one call any may allow it."""
    inet = [
        _allow("socket", _equal(0, family), _masked(1, _TYPE_BITS, kind), _equal(2, protocol))
        for family in (socket.AF_INET, socket.AF_INET6)
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)
        for protocol in (0, socket.IPPROTO_TCP, socket.IPPROTO_UDP)
    ]
    return {
        "clone": [_allow("clone", _masked(0, _NAMESPACES, 0))],
        # Its flags lie behind a pointer; glibc goes on with clone where there is none.
        "clone3": [{"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS}],
        "socket": inet,
        "socketpair": [_allow("socketpair", _equal(0, socket.AF_UNIX))],
        "mknod": [_allow("mknod", _masked(1, 0o170000, kind)) for kind in _FILE_TYPES],
        "mknodat": [_allow("mknodat", _masked(2, 0o170000, kind)) for kind in _FILE_TYPES],
    }


def _allow(name: str, *conditions: _Rule) -> _Rule:
    """Allows a call where all conditions hold, each on an argument of its own."""
    return {"names": [name], "action": "SCMP_ACT_ALLOW", "args": list(conditions)}


def _equal(argument: int, value: int) -> _Rule:
    return {"index": argument, "value": int(value), "op": "SCMP_CMP_EQ"}


def _masked(argument: int, mask: int, value: int) -> _Rule:
    return {"index": argument, "value": mask, "valueTwo": int(value), "op": "SCMP_CMP_MASKED_EQ"}


__all__ = ["seccomp_profile"]
