"""What a Docker engine does to the unwary, found by measuring; each must not happen to us."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sandboxes.base import MIB, ExitReason, Limits, SandboxBroken, SandboxSpec
from sandboxes.docker.engine import Engine
from sandboxes.docker.labels import Household
from sandboxes.docker.profile import Resources
from sandboxes.docker.runtimes import runtime_named
from sandboxes.docker.slots import ContainerPlace, Kind
from tests.sandboxes.conftest import SMALL
from tests.sandboxes.docker.conftest import KINDS, Open

Make = Callable[..., str]
HOG = "x = []\nwhile True: x.append(bytearray(1 << 20))"


def place(engine: Engine, name: str, runtime: str = "runc") -> ContainerPlace:
    kind = Kind("docker", runtime, runtime_named(runtime), False, {}, 1, "1")
    return ContainerPlace(engine, Household(engine), kind, name, Resources(MIB, 1))


def test_a_client_that_reads_no_more_does_not_stall_the_engine(
    engine: Engine, make_container: Make
) -> None:
    quick = Engine(request_s=20)
    name = make_container("import os\nwhile True: os.write(1, bytes(1 << 16))")
    channel = engine.attach(name)
    engine.start(name)
    assert len(channel.read_exactly(1 << 20, time.monotonic() + 60)) == 1 << 20
    channel.close()  # not before: the next request would be given up after its time
    quick.remove(name)
    assert quick.death(name, 20).asked_for


@pytest.mark.parametrize("kind", KINDS)
def test_a_flood_of_output_ends_by_its_own_limit(kind: str, open_provider: Open) -> None:
    with open_provider(kind).create(SandboxSpec(SMALL)) as box:
        result = box.exec(["sh", "-c", "yes & yes >&2"])
    assert result.reason is ExitReason.OUTPUT_LIMIT
    assert result.truncated
    assert len(result.stdout) <= SMALL.output_bytes


@pytest.mark.parametrize("slot", [False, True], ids=["box", "slot"])
def test_the_containers_own_filter_refuses_what_dockers_default_lets_through(
    slot: bool, make_container: Make, engine: Engine
) -> None:
    """Sockets to the hypervisor, which no network namespace holds, and io_uring."""
    program = """
import ctypes, os, socket
def refused(attempt):
    try:
        attempt()
    except PermissionError:
        return True
def ring():
    if ctypes.CDLL(None, use_errno=True).syscall(425, 8, ctypes.create_string_buffer(120)) < 0:
        raise OSError(ctypes.get_errno(), "io_uring_setup")
families = socket.AF_VSOCK, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET, 38
held = [refused(lambda: socket.socket(f, socket.SOCK_STREAM)) for f in families]
os._exit(42 if all(held) and refused(ring) else 7)
"""
    name = make_container(program, slot=slot)
    engine.start(name)
    assert engine.death(name, 60).exit == 42


def test_processes_of_programs_in_one_slot_are_not_counted_together(open_provider: Open) -> None:
    """RLIMIT_NPROC is a user's, and given back late, unless he is a namespace's own."""
    forks = """
import os
alive = []
try:
    while len(alive) < 100:
        if (pid := os.fork()) == 0:
            os.read(int(os.environ["HELD"]), 1)
            os._exit(0)
        alive.append(pid)
except OSError:
    print(len(alive))
"""
    hold = "import os; r, w = os.pipe(); os.environ['HELD'] = str(r)\n"
    with open_provider("nested").create(SandboxSpec(SMALL)) as box:
        counts = [box.exec(["python3", "-c", hold + forks]).stdout for _ in range(12)]
    assert counts == [b"%d\n" % (SMALL.pids - 1)] * 12


def test_gvisors_own_threads_leave_programs_their_processes(
    open_provider: Open, no_runtime: Callable[[str], None]
) -> None:
    """With its limit as the container's, any fork would end the container."""
    no_runtime("runsc")
    fork = (
        "import os\nfor _ in range(20):\n  if os.fork() == 0: os._exit(0)\n  os.wait()\nprint('ok')"
    )
    limits = replace(SMALL, time_s=60, pids=4)
    with open_provider(runtime="runsc").create(SandboxSpec(limits)) as box:
        result = box.exec(["python3", "-c", fork])
    assert (result.exit, result.stdout) == (0, b"ok\n"), result


@pytest.mark.parametrize("kind", KINDS)
def test_programs_can_be_run_from_where_programs_are_written(
    kind: str, open_provider: Open
) -> None:
    """Docker mounts a tmpfs without the right to run what lies there."""
    copy = "cp /bin/true tool && ./tool"
    with open_provider(kind).create(SandboxSpec(SMALL)) as box:
        result = box.exec(["sh", "-c", copy])
    assert result.exit == 0, result.stderr


def test_what_is_written_to_a_tmpfs_can_be_copied_out(open_provider: Open) -> None:
    """The engine's archives show nothing of a tmpfs, and can't be put on a read-only root."""
    with open_provider().create(SandboxSpec(SMALL)) as box:
        assert box.exec(["sh", "-c", "mkdir sub; echo hi > sub/out"]).exit == 0
        assert box.read("sub/out", 10) == b"hi\n"


def test_nothing_of_the_callers_environment_is_seen(
    open_provider: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "s3cret")
    look = "cat /proc/*/environ | tr '\\0' '\\n'; env"
    with open_provider().create(SandboxSpec(SMALL)) as box:
        result = box.exec(["sh", "-c", look])
    assert b"PATH=" in result.stdout
    assert b"s3cret" not in result.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_starts_no_handler_of_the_hosts(kind: str, open_provider: Open) -> None:
    """A core_pattern's pipe is run as root, outside; only a limit of exactly 1 prevents it."""
    program = """
import resource
core = resource.RLIMIT_CORE
try:
    resource.setrlimit(core, (0, 0))
except (PermissionError, ValueError):
    print(*resource.getrlimit(core))
"""
    with open_provider(kind).create(SandboxSpec(SMALL)) as box:
        assert box.exec(["python3", "-c", program]).stdout == b"1 1\n"


@pytest.mark.parametrize(("number", "reason"), [(9, "memory_limit"), (15, "signalled")])
def test_a_launcher_that_gvisor_lets_be_killed_is_no_failure_of_ours(
    number: int,
    reason: str,
    engine: Engine,
    make_container: Make,
    no_runtime: Callable[[str], None],
) -> None:
    """A program that could make its item unscored would learn to."""
    no_runtime("runsc")
    program = f"import os\nif os.fork() == 0: os._exit(0)\nos._exit({128 + number})"
    name = make_container(program, memory_bytes=192 * MIB, runtime="runsc")
    engine.start(name)
    assert place(engine, name, "runsc").autopsy() == reason


def test_a_launcher_that_gvisor_lets_be_stopped_is_out_of_time(
    engine: Engine,
    make_container: Make,
    no_runtime: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_runtime("runsc")
    monkeypatch.setattr("sandboxes.docker.slots._DEATH_S", 1.0)
    name = make_container("import time; time.sleep(600)", memory_bytes=192 * MIB, runtime="runsc")
    engine.start(name)
    assert place(engine, name, "runsc").autopsy() is ExitReason.TIME_LIMIT


def test_an_engine_that_hangs_is_given_up(tmp_path: Path) -> None:
    path = str(tmp_path / "docker.sock")
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(path)
        deaf.listen()
        with pytest.raises(SandboxBroken, match="did not answer in time") as caught:
            Engine(f"unix://{path}", request_s=0.2).about()
    assert "docker info" in caught.value.remedy


def test_a_container_ends_with_the_client_that_is_attached(
    engine: Engine, make_container: Make
) -> None:
    name = make_container("import sys; sys.exit(5 if sys.stdin.buffer.read() == b'' else 6)")
    channel = engine.attach(name)
    engine.start(name)
    channel.close()
    assert engine.death(name, 30).exit == 5


@pytest.mark.parametrize("runtime", ["runc", "crun", "runsc"])
def test_a_launcher_killed_for_memory_is_told_from_one_that_died(
    runtime: str, engine: Engine, make_container: Make, no_runtime: Callable[[str], None]
) -> None:
    no_runtime(runtime)
    # Beside it one child that is killed, whose event can't be lost with the container.
    program = f"import os\nif os.fork() == 0:\n exec({HOG!r})\nos.wait()\n{HOG}"
    memory = runtime_named(runtime).own_bytes + 64 * MIB
    hog = make_container(program, memory_bytes=memory, runtime=runtime)
    quitter = make_container("raise SystemExit(3)", memory_bytes=memory, runtime=runtime)
    for name in (hog, quitter):
        engine.start(name)
    assert place(engine, hog, runtime).autopsy() is ExitReason.MEMORY_LIMIT
    ended_itself = ExitReason.SIGNALLED if runtime == "runsc" else None
    assert place(engine, quitter, runtime).autopsy() is ended_itself


def test_a_launcher_that_the_engine_was_asked_to_kill_did_not_run_out_of_memory(
    engine: Engine, make_container: Make
) -> None:
    name = make_container("import time; time.sleep(600)")
    engine.start(name)
    engine.remove(name)
    death = engine.death(name, 30)
    assert (death.exit, death.asked_for, death.out_of_memory) == (137, True, False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_child_killed_for_memory_is_no_crash_of_the_program(
    kind: str, open_provider: Open
) -> None:
    program = f"import os\nif os.fork() == 0:\n exec({HOG!r})\nos.wait()\nprint('survived')"
    with open_provider(kind).create(SandboxSpec(Limits(memory_bytes=64 * MIB))) as box:
        assert box.exec(["python3", "-c", program]).reason is ExitReason.MEMORY_LIMIT


def test_the_init_takes_no_signal_of_the_program(open_provider: Open) -> None:
    kill = """
import os
for number in range(1, 65):
    try:
        os.kill(1, number)
    except PermissionError:  # Landlock's, where the kernel has it
        pass
"""
    with open_provider().create(SandboxSpec(SMALL)) as box:
        result = box.exec(["python3", "-c", kill])
    assert (result.exit, result.stderr) == (0, b"")


def test_a_program_can_neither_limit_nor_starve_the_init(open_provider: Open) -> None:
    program = """
import os, resource
for attempt in (
    lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0)),
    lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
    lambda: os.setpriority(os.PRIO_USER, 0, 19),
    lambda: os.open("/proc/1/fd/1", os.O_WRONLY),
    lambda: os.open("/proc/1/environ", os.O_RDONLY),
):
    try:
        attempt()
    except PermissionError:
        print("refused")
"""
    with open_provider().create(SandboxSpec(SMALL)) as box:
        result = box.exec(["python3", "-c", program])
    assert result.stdout == b"refused\n" * 5


def test_concurrent_use_leaves_no_thread_or_descriptor(open_provider: Open) -> None:
    def census() -> tuple[int, int]:
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    def work() -> None:
        with provider.create(SandboxSpec(SMALL)) as box:
            for _ in range(3):
                box.exec(["true"])

    before = census()
    for _ in range(2):
        provider = open_provider()
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        provider.close()
    threads_now, files_now = census()
    assert threads_now == before[0]
    assert files_now <= before[1]


def test_sigkill_is_not_taken_for_a_limit(open_provider: Open) -> None:
    with open_provider().create(SandboxSpec(SMALL)) as box:
        result = box.exec(["sh", "-c", "kill -9 $$"])
    assert (result.reason, result.signal) == (ExitReason.SIGNALLED, signal.SIGKILL)
