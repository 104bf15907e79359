"""The provider without a sandbox: as good as it can be, and called what it is."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandboxes.base import MIB, ExitReason, Limits, Sandbox, SandboxSpec
from sandboxes.unsafe import UnsafeProvider
from tests.sandboxes.conftest import until

LIMITS = Limits(time_s=20, memory_bytes=256 * MIB, output_bytes=1000)


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with UnsafeProvider().create(SandboxSpec(LIMITS)) as box:
        yield box


def test_it_says_that_nothing_is_isolated(box: Sandbox) -> None:
    probe = UnsafeProvider().probe()
    assert box.isolation == probe.isolation == "none(unsafe)"
    assert not any(finding.ok for finding in probe.findings)


def test_programs_run_over_their_files(box: Sandbox) -> None:
    box.write({"a/b.py": b"import sys; print(sys.stdin.read(), end=''); sys.exit(3)"})
    result = box.exec(["python3", "b.py"], stdin=b"in", cwd="a", env={"X": "1"})
    assert (result.exit, result.stdout) == (3, b"in")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("sleep 60", ExitReason.TIME_LIMIT),
        ("yes", ExitReason.OUTPUT_LIMIT),
        ("kill -9 $$", ExitReason.SIGNALLED),
        ("exit 137", ExitReason.EXITED),
    ],
)
def test_ends_are_told_apart(box: Sandbox, program: str, reason: ExitReason) -> None:
    limits = Limits(time_s=0.5 if "sleep" in program else 20, output_bytes=1000)
    assert box.exec(["sh", "-c", program], limits=limits).reason is reason


def test_what_a_program_left_running_in_its_group_is_killed(
    box: Sandbox, processes_with: Callable[[str], list[int]]
) -> None:
    mark = uuid.uuid4().hex
    result = box.exec(["sh", "-c", f"sh -c 'sleep 60; : {mark}' & exit 0"])
    assert result.exit == 0
    until(lambda: not processes_with(mark), "the child lives")


def test_memory_of_a_process_is_limited(box: Sandbox) -> None:
    result = box.exec(["python3", "-c", "bytearray(1 << 30)"])
    assert result.exit == 1
    assert b"MemoryError" in result.stderr


def test_files_are_read_back_and_gone_after_closing(box: Sandbox) -> None:
    with pytest.raises(FileNotFoundError):
        box.read("out", 10)
    result = box.exec(["sh", "-c", "echo left > out; ln -s /etc/passwd link; pwd"])
    assert box.read("out", 10) == b"left\n"
    with pytest.raises(FileNotFoundError):
        box.read("link", 10_000)
    folder = Path(result.stdout.decode().strip())
    assert folder.is_dir()
    box.close()
    assert not folder.exists()


def test_a_second_program_starts_afresh(box: Sandbox) -> None:
    box.write({"kept": b"kept"})
    box.exec(["sh", "-c", "echo > left; echo changed > kept"])
    assert box.exec(["sh", "-c", "ls; cat kept"]).stdout == b"kept\nkept"


def test_input_that_is_not_read_is_no_error(box: Sandbox) -> None:
    assert box.exec(["true"], stdin=bytes(10 << 20)).exit == 0
