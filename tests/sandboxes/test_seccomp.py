"""The filter's decisions, by running its instructions, on both architectures."""

from __future__ import annotations

import errno
import struct

import pytest

from sandboxes.base import SandboxUnavailable
from sandboxes.confinement.rules import RULES
from sandboxes.confinement.seccomp import seccomp_filter
from sandboxes.confinement.syscalls import syscall_numbers

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL = "allow", "kill"


def decide(machine: str, number: int, *arguments: int, arch: int | None = None) -> str:
    """What the filter says to a call: `allow`, `kill` or the name of an error."""
    padded = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number, arch or ARCHITECTURES[machine], 0, *padded)
    program = list(struct.iter_unpack("<HBBI", seccomp_filter(machine)))
    at, accumulator = 0, 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        if code == 0x20:
            accumulator = struct.unpack_from("<I", data, value)[0]
        elif code == 0x54:
            accumulator &= value
        elif code == 0x06:
            break
        else:
            holds = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }[code]
            at += if_true if holds else if_false
    if value & 0xFFFF0000 == 0x00050000:
        return errno.errorcode[value & 0xFFFF]
    return {0x7FFF0000: ALLOW, 0x80000000: KILL}[value]


@pytest.fixture(params=ARCHITECTURES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_calls_of_the_list_are_allowed_whatever_their_arguments(machine: str) -> None:
    for name, number in syscall_numbers(machine).items():
        if name not in RULES:
            assert decide(machine, number, *[2**64 - 1] * 6) == ALLOW, name


def test_calls_off_the_list_are_refused_and_unknown_ones_do_not_exist(machine: str) -> None:
    known = set(syscall_numbers(machine).values())
    for number in range(600):
        if number not in known:
            expected = "EPERM" if number <= 441 else "ENOSYS"
            assert decide(machine, number) == expected, number


@pytest.mark.parametrize(
    "name",
    [
        *("mount", "umount2", "unshare", "setns", "chroot", "pivot_root", "ptrace", "bpf"),
        *("process_vm_readv", "keyctl", "io_uring_setup", "perf_event_open", "userfaultfd"),
        *("kexec_load", "init_module", "memfd_create", "shmget", "sync", "personality"),
    ],
)
def test_what_is_dangerous_is_not_on_the_list(machine: str, name: str) -> None:
    assert name not in syscall_numbers(machine)


@pytest.mark.parametrize(
    ("name", "arguments", "decision"),
    [
        ("clone", (17,), ALLOW),
        ("clone", (0x3D0F00,), ALLOW),  # a thread
        ("clone", (17 | 0x10000000,), "EPERM"),
        ("clone", (17 | 0x20000,), "EPERM"),
        ("clone", (17 | 0x2000000,), "EPERM"),
        ("clone3", (0,), "ENOSYS"),
        ("socket", (2, 1, 0), ALLOW),
        ("socket", (10, 2 | 0o2000000, 17), ALLOW),  # close-on-exec
        ("socket", (2, 1, 6), ALLOW),
        ("socket", (1, 1, 0), "EAFNOSUPPORT"),
        ("socket", (16, 3, 0), "EAFNOSUPPORT"),
        ("socket", (40, 1, 0), "EAFNOSUPPORT"),
        ("socket", (2, 3, 1), "EPROTONOSUPPORT"),
        ("socket", (2, 1, 132), "EPROTONOSUPPORT"),
        ("socketpair", (1, 1, 0), ALLOW),
        ("socketpair", (30, 1, 0), "EAFNOSUPPORT"),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), "EPERM"),
        ("ioctl", (0, 0x541C), "EPERM"),
        ("ioctl", (0, 0x5412 | 1 << 32), "EPERM"),  # the kernel looks at 32 bits only
        ("prctl", (15,), ALLOW),
        ("prctl", (1,), "EPERM"),
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (1, 7), "EPERM"),
        ("prlimit64", (0, 7, 0x1000), ALLOW),
        ("prlimit64", (0, 4, 0, 0x1000), ALLOW),  # to know the limit of core files
        ("prlimit64", (0, 4, 0x1000), "EPERM"),
        ("prlimit64", (0, 4, 1 << 32), "EPERM"),
        ("prlimit64", (0, 4 | 1 << 32, 0x1000), "EPERM"),
        ("setrlimit", (7, 0x1000), ALLOW),
        ("setrlimit", (4, 0x1000), "EPERM"),
        ("setpriority", (0, 0, 5), ALLOW),
        ("setpriority", (0, 1, 19), "EPERM"),
        ("setpriority", (2, 0, 19), "EPERM"),
        ("mknodat", (-100 & 2**64 - 1, 0, 0o010600), ALLOW),
        ("mknodat", (-100 & 2**64 - 1, 0, 0o060600), "EPERM"),
        ("mknodat", (-100 & 2**64 - 1, 0, 0o020600), "EPERM"),
    ],
)
def test_arguments_decide(
    machine: str, name: str, arguments: tuple[int, ...], decision: str
) -> None:
    assert decide(machine, syscall_numbers(machine)[name], *arguments) == decision


def test_other_architectures_are_killed(machine: str) -> None:
    i386 = 0x40000003
    assert decide(machine, syscall_numbers(machine)["read"], arch=i386) == KILL
    assert decide(machine, 0x40000000 | 0) == "EPERM"  # x32


def test_an_architecture_without_a_table_is_refused() -> None:
    with pytest.raises(SandboxUnavailable, match="riscv64"):
        seccomp_filter("riscv64")
