"""The profile for container runtimes; what it does to real programs is seen by conformance."""

from __future__ import annotations

import json

import pytest

from sandboxes.base import SandboxUnavailable
from sandboxes.confinement.seccomp_json import seccomp_profile
from sandboxes.confinement.syscalls import syscall_numbers

MACHINES = ("x86_64", "aarch64")


def outcome(machine: str, name: str, *arguments: int, also: tuple[str, ...] = ()) -> str:
    """What the profile says to a call, by the rules of libseccomp."""
    profile = json.loads(json.dumps(seccomp_profile(also=also, machine=machine)))
    padded = (*arguments, *[0] * (6 - len(arguments)))
    for rule in profile["syscalls"]:
        if name in rule["names"] and all(_holds(c, padded) for c in rule.get("args", [])):
            return str(rule["action"])
    return str(profile["defaultAction"])


def _holds(condition: dict[str, int | str], arguments: tuple[int, ...]) -> bool:
    given, value = arguments[int(condition["index"])], int(condition["value"])
    assert condition["op"] == "SCMP_CMP_MASKED_EQ"
    return given & value == int(condition["valueTwo"])


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_of_the_table_has_a_rule_and_no_other_but_the_launchers(machine: str) -> None:
    named = {n for rule in seccomp_profile(machine=machine)["syscalls"] for n in rule["names"]}
    extra = named - set(syscall_numbers(machine))
    assert set(syscall_numbers(machine)) <= named
    assert {n.partition("_")[0] for n in extra} - {"mknod"} == {"seccomp", "landlock"}


@pytest.mark.parametrize(
    ("name", "arguments", "allowed"),
    [
        ("read", (0,), True),
        ("mount", (), False),
        ("unshare", (), False),
        ("clone", (0x1200011,), True),
        ("clone", (0x10000000 | 17,), False),
        ("clone", (0x40000000 | 17,), False),
        ("clone3", (), False),
        ("socket", (2, 1, 0), True),
        ("socket", (10, 0o2004000 | 2, 17), True),
        ("socket", (2, 3, 1), False),
        ("socket", (2, 1, 132), False),
        ("socket", (1, 1, 0), False),
        ("socket", (16, 3, 0), False),
        ("socket", (40, 1, 0), False),
        ("socketpair", (1, 1, 0), True),
        ("socketpair", (16, 1, 0), False),
        ("mknodat", (0, 0, 0o010600), True),
        ("mknodat", (0, 0, 0o060600), False),
    ],
)
@pytest.mark.parametrize("machine", MACHINES)
def test_calls_are_judged_by_their_arguments(
    machine: str, name: str, arguments: tuple[int, ...], allowed: bool
) -> None:
    assert (outcome(machine, name, *arguments) == "SCMP_ACT_ALLOW") is allowed


def test_calls_can_be_added_for_a_launcher_that_makes_namespaces() -> None:
    assert outcome("x86_64", "clone", 0x10000000, also=("clone", "mount")) == "SCMP_ACT_ALLOW"
    assert outcome("x86_64", "mount", also=("clone", "mount")) == "SCMP_ACT_ALLOW"


def test_conditions_of_one_rule_are_on_different_arguments() -> None:
    for rule in seccomp_profile(machine="x86_64")["syscalls"]:
        indices = [condition["index"] for condition in rule.get("args", [])]
        assert len(indices) == len(set(indices))


def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(SandboxUnavailable, match="sparc"):
        seccomp_profile(machine="sparc")
