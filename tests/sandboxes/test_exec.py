"""How a program's end, output and use are told; on a real box."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from sandboxes.base import ExecResult, ExitReason, Sandbox, SandboxProvider, SandboxSpec
from tests.sandboxes.conftest import SMALL


def python(box: Sandbox, program: str, **options: object) -> ExecResult:
    return box.exec(["python3", "-I", "-S", "-c", program], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [0, 1, 125, 128, 129, 137, 255])
def test_an_exit_status_is_told_as_it_is(box: Sandbox, status: int) -> None:
    result = box.exec(["sh", "-c", f"exit {status}"])
    assert (result.reason, result.exit, result.signal) == (ExitReason.EXITED, status, None)


@pytest.mark.parametrize("number", [1, 2, 6, 9, 11, 13, 15])
def test_a_signal_is_told_from_an_exit_status(box: Sandbox, number: int) -> None:
    result = box.exec(["sh", "-c", f"kill -{number} $$"])
    assert (result.reason, result.exit, result.signal) == (ExitReason.SIGNALLED, None, number)


@pytest.mark.parametrize(
    ("program", "status"),
    [("no-such-program", 127), ("/no/such/program", 127), ("/usr", 126)],
)
def test_a_program_that_cannot_be_run_is_its_own_failure(
    box: Sandbox, program: str, status: int
) -> None:
    result = box.exec([program])
    assert (result.reason, result.exit) == (ExitReason.EXITED, status)
    assert program.encode() in result.stderr


def test_streams_pass_every_byte(box: Sandbox) -> None:
    data = bytes(range(256)) * 2000
    result = box.exec(["sh", "-c", "tee /dev/stderr"], stdin=data)
    assert result.stdout == data
    assert result.stderr == data
    assert not result.truncated


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_up_to_the_cap_is_whole_and_beyond_is_a_limit(box: Sandbox, stream: str) -> None:
    limits = replace(SMALL, output_bytes=1000)
    program = f"import sys; sys.{stream}.write('x' * %d)"
    whole = python(box, program % 1000, limits=limits)
    assert (whole.reason, whole.truncated) == (ExitReason.EXITED, False)
    assert len(getattr(whole, stream)) == 1000
    cut = python(box, program % 1001, limits=limits)
    assert (cut.reason, cut.truncated) == (ExitReason.OUTPUT_LIMIT, True)
    assert len(getattr(cut, stream)) == 1000


def test_output_of_a_program_that_was_stopped_for_time_is_kept(box: Sandbox) -> None:
    program = "import time; print('so far', flush=True); time.sleep(60)"
    result = python(box, program, limits=replace(SMALL, time_s=1))
    assert result.reason is ExitReason.TIME_LIMIT
    assert result.stdout == b"so far\n"
    assert (result.exit, result.signal) == (None, None)


def test_cpu_time_of_a_program_and_of_its_children_is_limited(box: Sandbox) -> None:
    limits = replace(SMALL, cpu_s=0.3)
    program = "import os\nif os.fork():\n os.wait()\nwhile True: pass"
    result = python(box, program, limits=limits)
    assert result.reason is ExitReason.TIME_LIMIT
    assert result.usage.cpu_s is not None
    assert result.usage.cpu_s > 0.3


def test_sleeping_uses_no_cpu_time(box: Sandbox) -> None:
    result = python(box, "import time; time.sleep(0.6)", limits=replace(SMALL, cpu_s=0.5))
    assert result.reason is ExitReason.EXITED
    assert result.usage.wall_s > 0.6


def test_memory_limit_is_told_though_the_program_exits_0(box: Sandbox) -> None:
    program = """
import os
if os.fork() == 0:
    kept = [bytearray(b'x') * (1 << 20) for _ in range(400)]
os.wait()
os._exit(0)
"""
    assert python(box, program).reason is ExitReason.MEMORY_LIMIT


def test_what_is_used_is_measured(box: Sandbox) -> None:
    result = python(box, "import time; x = bytearray(b'x') * (50 << 20); time.sleep(0.2)")
    assert result.reason is ExitReason.EXITED
    assert result.usage.memory_bytes is not None
    assert 50 << 20 < result.usage.memory_bytes < 100 << 20
    assert result.usage.cpu_s is not None
    assert result.usage.cpu_s < result.usage.wall_s


def test_a_crash_starts_no_handler_of_the_host(box: Sandbox) -> None:
    """At a limit of 1 the kernel starts none, at 0 it does; and a program can't change it."""
    program = """
import ctypes, os, resource
core = resource.RLIMIT_CORE
print(resource.getrlimit(core))
for limits in ((0, 1), (0, 0), (1, 1)):
    try:
        print(resource.setrlimit(core, limits))
    except (OSError, ValueError):
        print("refused")
call, zeros = {"x86_64": 160}.get(os.uname().machine, 164), (ctypes.c_ulong * 2)()
print(ctypes.CDLL(None).syscall(call, core, zeros), resource.prlimit(0, core))
"""
    told = python(box, program).stdout.decode().split("\n")
    assert told == ["(1, 1)", *["refused"] * 3, "-1 (1, 1)", ""]


def test_environment_is_small_and_what_is_asked_for(box: Sandbox) -> None:
    result = box.exec(["env"], env={"SEED": "7", "EMPTY": "", "PATH": "/usr/bin"})
    variables = dict(line.split("=", 1) for line in result.stdout.decode().splitlines())
    assert variables["SEED"] == "7"
    assert variables["EMPTY"] == ""
    assert variables["PATH"] == "/usr/bin"
    assert variables.keys() <= {
        *("SEED", "EMPTY", "PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "LANG", "PWD"),
        "PYTHONDONTWRITEBYTECODE",
    }


def test_a_program_starts_where_it_was_asked_to(box: Sandbox) -> None:
    box.write({"deep/er/here.txt": b""})
    assert box.exec(["ls"], cwd="deep/er").stdout == b"here.txt\n"
    assert box.exec(["ls"], cwd="made/for/it").exit == 0


@pytest.mark.parametrize(
    ("argv", "options"),
    [
        ([], {}),
        ([""], {}),
        (["a\0b"], {}),
        (["echo", "x" * 200_000], {}),
        (["echo", *["x" * 90_000] * 20], {}),
        (["env"], {"env": {"": "x"}}),
        (["env"], {"env": {"A=B": "x"}}),
        (["env"], {"env": {"A": "x\0"}}),
        (["ls"], {"cwd": ".."}),
        (["ls"], {"cwd": "/usr"}),
    ],
)
def test_what_no_box_can_run_is_the_callers_mistake(
    box: Sandbox, argv: list[str], options: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        box.exec(argv, **options)  # type: ignore[arg-type]


def test_python_in_the_box_is_the_one_that_runs_us(box: Sandbox) -> None:
    import sys

    result = box.exec(["python3", "-c", "import sys; print(sys.version)"])
    assert result.stdout.decode().strip() == sys.version


def test_boxes_run_side_by_side_from_threads(embedded: SandboxProvider) -> None:
    def work(number: int) -> bytes:
        assert threading.current_thread() is not threading.main_thread()
        with embedded.create(SandboxSpec(SMALL)) as box:
            box.write({"me": str(number).encode()})
            return b"".join(box.exec(["cat", "me"]).stdout for _ in range(3))

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(work, range(12)))
    assert told == [str(number).encode() * 3 for number in range(12)]
