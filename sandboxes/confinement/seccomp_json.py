"""The list of allowed system calls as container runtimes read it: `linux.seccomp` of an OCI
`config.json`, Docker's `--security-opt seccomp=FILE`.

It is the outer ring, for whatever runs in the container from its first instruction. The
launcher puts the exact filter (`seccomp`) around a program, made from the same `rules`. What
a `Never` of those refuses is left to it: this format has no way to say "none of these".
Source: OCI runtime-spec, config-linux.
"""

from __future__ import annotations

import errno
import platform
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from sandboxes.base import SandboxUnavailable
from sandboxes.confinement.rules import RULES, Only, Rule
from sandboxes.confinement.syscalls import syscall_numbers

# x32 is named so that its calls get to the exact filter, which refuses them: libseccomp kills
# whoever makes a call of an architecture that isn't.
_ARCHITECTURES = {
    "x86_64": ("SCMP_ARCH_X86_64", "SCMP_ARCH_X32"),
    "aarch64": ("SCMP_ARCH_AARCH64",),
}
# What a launcher needs to confine a program further. Neither takes anything back.
_CONFINING = ("seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
_Entry = dict[str, Any]


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
    names = {*syscall_numbers(machine), *free}
    limited = {
        name for name in names - free if any(isinstance(r, Only) for r in RULES.get(name, ()))
    }
    entries: list[_Entry] = [{"names": sorted(names - limited), "action": "SCMP_ACT_ALLOW"}]
    for name in sorted(limited):
        entries += _rules(name, RULES[name])
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.EPERM,
        "architectures": list(_ARCHITECTURES[machine]),
        "syscalls": entries,
    }


def _rules(name: str, conditions: Iterable[Rule]) -> Iterator[_Entry]:
    """What allows a call: any entry whose tests, each on an argument of its own, all hold."""
    limited = [rule for rule in conditions if isinstance(rule, Only)]
    for rule in limited:
        if not rule.values:
            yield {"names": [name], "action": "SCMP_ACT_ERRNO", "errnoRet": rule.error}
    for values in product(*(rule.values for rule in limited)):
        pairs = zip(limited, values, strict=True)
        tests = [_test(rule.argument, rule.mask, value) for rule, value in pairs]
        yield {"names": [name], "action": "SCMP_ACT_ALLOW", "args": tests}


def _test(argument: int, mask: int, value: int) -> _Entry:
    return {"index": argument, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}


__all__ = ["seccomp_profile"]
