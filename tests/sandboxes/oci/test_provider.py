"""Containers made by a runtime itself: each used once, limited, removed whole."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

import pytest

from sandboxes.base import MIB, ExitReason, SandboxSpec, SandboxUnavailable
from sandboxes.oci.provider import OciProvider
from sandboxes.oci.roots import Kind
from tests.sandboxes.conftest import SMALL, until
from tests.sandboxes.oci.conftest import Open, left_by, processes_of

SPEC = SandboxSpec(SMALL)
HOG = ["python3", "-c", "x = []\nwhile True: x.append(bytes(1 << 20))"]
HOG_CHILD = [
    "python3",
    "-c",
    "import os\nif os.fork() == 0:\n  x = []\n  while True: x.append(bytes(1 << 20))\nos.wait()",
]
FORK_ALL = """
import os, time
children = 0
try:
    while children < 100:
        if os.fork() == 0:
            time.sleep(60)
        children += 1
except OSError:
    print(children, flush=True)
"""
FILL = """
import os
written = 0
try:
    with open("big", "wb", buffering=0) as file:
        while True:
            written += file.write(bytes(1 << 18))
except OSError as error:
    print(written >> 20, error.errno)
"""


def waiting(provider: OciProvider) -> int:
    return sum(map(len, provider._open().stock._waiting.values()))


def test_a_box_runs_programs_over_its_files(runtime: str, open_provider: Open) -> None:
    with open_provider(runtime).create(SPEC) as box:
        assert box.isolation == f"oci+{runtime}"
        box.write({"in": b"x", "sub/tool": b"#!/bin/sh\ncat ../in > ../out; echo $HOME\n"})
        result = box.exec(["./tool"], cwd="sub", stdin=b"unread")
        assert (result.exit, result.stdout, result.stderr) == (0, b"/tmp/box\n", b"")
        assert result.usage.cpu_s is not None
        assert result.usage.memory_bytes is not None
        assert box.read("out", 10) == b"x"
        assert box.exec(["cat", "out"]).exit == 1  # nothing is left for the next
        box.close()
        box.close()


def test_each_program_has_a_container_of_its_own(runtime: str, open_provider: Open) -> None:
    provider = open_provider(runtime)
    names = set()
    with provider.create(SPEC) as box:
        for _ in range(5):
            # Even what no other box of ours has below it, and what does not end by itself.
            result = box.exec(["sh", "-c", "ls /dev/shm; touch /dev/shm/kept; sleep 60 &"])
            assert (result.exit, result.stdout) == (0, b"")
            ((_, container),) = provider._open().stock._leased.values()
            names.add(container.name)
    assert len(names) == 5


def test_one_is_made_ahead_for_the_next_program(runtime: str, open_provider: Open) -> None:
    provider = open_provider(runtime)
    with provider.create(SPEC) as box:
        for _ in range(3):
            box.exec(["true"])
            until(lambda: waiting(provider) > 0, "no container was made ahead")


def test_one_that_died_while_it_waited_is_not_leased(open_provider: Open) -> None:
    provider = open_provider()
    with provider.create(SPEC) as box:
        box.exec(["true"])
        until(lambda: waiting(provider) == 1, "no container was made ahead")
        (waits,) = provider._open().stock._waiting[Kind("python")]
        for pid in processes_of(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        until(lambda: not waits[1].is_alive, "it survives")
        assert box.exec(["true"]).exit == 0


def test_stock_follows_demand_up_to_its_bound(open_provider: Open) -> None:
    provider = open_provider(bound=3)
    stock = provider._open().stock

    with ExitStack() as boxes:
        several = [boxes.enter_context(provider.create(SPEC)) for _ in range(4)]
        for box in several:  # each keeps its container
            box.exec(["true"])
        until(lambda: waiting(provider) == 3, "too few wait")
    for _ in range(40):  # one at a time from here on
        with provider.create(SPEC) as box:
            box.exec(["true"])
        if waiting(provider) + stock._making.total() <= 1:
            break
    assert waiting(provider) + stock._making.total() <= 1


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["sleep", "60"], ExitReason.TIME_LIMIT),
        (["sh", "-c", "trap '' TERM; while :; do :; done"], ExitReason.TIME_LIMIT),
        (HOG, ExitReason.MEMORY_LIMIT),
        (HOG_CHILD, ExitReason.MEMORY_LIMIT),
        (["sh", "-c", "yes & yes >&2"], ExitReason.OUTPUT_LIMIT),
        (["sh", "-c", "kill -9 $$"], ExitReason.SIGNALLED),
    ],
    ids=["sleep", "busy", "memory", "memory of a child", "output", "its own kill"],
)
def test_why_a_program_ended(
    argv: list[str], reason: ExitReason, runtime: str, open_provider: Open
) -> None:
    quick = reason is ExitReason.TIME_LIMIT
    limits = replace(SMALL, time_s=1.0 if quick else 60.0, memory_bytes=64 * MIB)
    with open_provider(runtime).create(SandboxSpec(limits)) as box:
        assert box.exec(argv).reason is reason
        assert box.exec(["true"]).exit == 0


def test_a_crash_starts_no_handler_of_the_hosts(runtime: str, open_provider: Open) -> None:
    """A core_pattern's pipe is run as root, outside; only a limit of exactly 1 prevents it."""
    look = ["python3", "-c", "import resource; print(*resource.getrlimit(resource.RLIMIT_CORE))"]
    with open_provider(runtime).create(SPEC) as box:
        assert box.exec(look).stdout == b"1 1\n"


def test_processor_time_is_limited(open_provider: Open) -> None:
    limits = replace(SMALL, time_s=60.0, cpu_s=0.5)
    with open_provider().create(SandboxSpec(limits)) as box:
        result = box.exec(["sh", "-c", "while :; do :; done"])
    assert result.reason is ExitReason.TIME_LIMIT
    assert result.usage.wall_s < 60.0


def test_limits_of_a_run_replace_those_of_the_box(open_provider: Open) -> None:
    grab = ["python3", "-c", "x = b'x' * (200 << 20)"]
    with open_provider().create(SandboxSpec(replace(SMALL, memory_bytes=64 * MIB))) as box:
        assert box.exec(grab).reason is ExitReason.MEMORY_LIMIT
        more = replace(SMALL, memory_bytes=400 * MIB)
        assert box.exec(grab, limits=more).reason is ExitReason.EXITED
        assert box.exec(grab).reason is ExitReason.MEMORY_LIMIT


def test_processes_are_counted_for_each_container(runtime: str, open_provider: Open) -> None:
    provider = open_provider(runtime)

    def fork(_: int) -> int:
        with provider.create(SPEC) as box:
            return int(box.exec(["python3", "-c", FORK_ALL]).stdout)

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(fork, range(2))) == [SMALL.pids - 1] * 2


def test_files_written_into_a_box_come_on_top_of_its_disk(open_provider: Open) -> None:
    limits = replace(SMALL, disk_bytes=4 * MIB, file_bytes=64 * MIB)
    with open_provider().create(SandboxSpec(limits)) as box:
        box.write({"large": bytes(20 * MIB)})
        result = box.exec(["python3", "-c", FILL])
    written, error = map(int, result.stdout.split())
    assert 4 <= written <= 6
    assert error == 28  # ENOSPC


def test_eight_at_once(runtime: str, open_provider: Open) -> None:
    provider = open_provider(runtime)

    def work(number: int) -> list[bytes]:
        with provider.create(SPEC) as box:
            box.write({"number": str(number).encode()})
            return [box.exec(["cat", "number"]).stdout for _ in range(3)]

    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(work, range(8)))
    assert told == [[str(number).encode()] * 3 for number in range(8)]


def test_use_leaves_no_thread_or_descriptor(open_provider: Open) -> None:
    def files() -> int:
        return len(os.listdir("/proc/self/fd"))

    with OciProvider() as first:
        assert first.probe().available
    before = files()
    for _ in range(2):
        provider = open_provider()
        with provider.create(SPEC) as box:
            for _ in range(3):
                box.exec(["true"])
        provider.close()
        provider.close()
        assert left_by(os.getpid()) == []
    assert files() == before


def test_a_closed_provider_opens_anew(open_provider: Open) -> None:
    provider = open_provider()
    assert provider.probe().available
    provider.close()
    with provider.create(SPEC) as box:
        assert box.exec(["true"]).exit == 0


def test_a_box_outlives_its_provider_only_as_a_refusal(open_provider: Open) -> None:
    provider = open_provider()
    box = provider.create(SPEC)
    provider.close()
    with pytest.raises(SandboxUnavailable, match="closed"):
        box.exec(["true"])
    box.close()
