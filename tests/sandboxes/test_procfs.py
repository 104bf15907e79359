"""The watchdog's readings, checked against processes of our own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandboxes.base import MIB, ExitReason, Limits
from sandboxes.metering import WatchdogMeter
from sandboxes.procfs import ProcessMeter, read_stat

HOLDS_50_MIB = """
import os, sys
kept = bytearray(b"x") * (50 << 20)
children = int(sys.argv[1])
for _ in range(children):
    if os.fork() == 0:
        break
os.write(1, b".")
sys.stdin.read()
"""


@contextmanager
def holding(children: int, folder: Path) -> Iterator[int]:
    """A process with 50 MiB and children that share them; yields a /proc with just these."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS_50_MIB, str(children)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.read(children + 1) == b"." * (children + 1)
    born = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for pid in (str(process.pid), *born):
        (folder / pid).symlink_to(f"/proc/{pid}")
    proc = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield proc
    finally:
        os.close(proc)
        process.communicate()


def test_memory_of_all_processes_is_added_up(tmp_path: Path) -> None:
    with holding(0, tmp_path) as proc:
        used = ProcessMeter(proc, []).memory_bytes(1 << 40)
    assert 50 * MIB < used < 90 * MIB


def test_shared_memory_is_counted_once_where_it_matters(tmp_path: Path) -> None:
    with holding(3, tmp_path) as proc:
        meter = ProcessMeter(proc, [])
        rough = meter.memory_bytes(1 << 40)
        exact = meter.memory_bytes(100 * MIB)
    assert rough > 200 * MIB  # enough to know that a high limit is not reached
    assert 50 * MIB < exact < 100 * MIB


def test_a_watchdog_barks_over_the_limit_only(tmp_path: Path) -> None:
    with holding(0, tmp_path) as proc:
        over = WatchdogMeter(Limits(memory_bytes=40 * MIB), ProcessMeter(proc, [])).read()
        under = WatchdogMeter(Limits(memory_bytes=100 * MIB), ProcessMeter(proc, [])).read()
    assert over.reason is ExitReason.MEMORY_LIMIT
    assert under.reason is None
    assert under.memory_bytes is not None
    assert under.memory_bytes > 50 * MIB


def test_files_on_the_disk_are_memory(tmp_path: Path) -> None:
    disk = os.open("/dev/shm", os.O_RDONLY | os.O_DIRECTORY)
    empty = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        used = ProcessMeter(empty, [disk]).memory_bytes(1 << 40)
        room = os.fstatvfs(disk)
    finally:
        os.close(disk)
        os.close(empty)
    assert used > 0
    assert used == pytest.approx(1024 * (room.f_files - room.f_ffree), abs=64 * 1024)


def test_peak_is_unknown_until_a_process_was_seen(tmp_path: Path) -> None:
    empty = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        meter = ProcessMeter(empty, [])
        meter.memory_bytes(MIB)
        assert meter.peak_memory_bytes is None
    finally:
        os.close(empty)


@pytest.mark.parametrize(("program", "expected"), [("exit 3", 3), ("kill -9 $$", -9)])
def test_a_zombie_tells_how_it_ended(program: str, expected: int) -> None:
    process = subprocess.Popen(["sh", "-c", program])
    folder = os.open(f"/proc/{process.pid}", os.O_PATH)
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        stat = read_stat(folder)
        assert stat.state == "Z"
        assert os.waitstatus_to_exitcode(stat.wait_status) == expected
        process.wait()
        with pytest.raises(OSError, match="No such process"):
            read_stat(folder)
    finally:
        os.close(folder)


def test_cpu_time_includes_children_that_were_waited_for() -> None:
    spin = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    program = (
        f"import subprocess, sys, os, signal\n"
        f"subprocess.run([sys.executable, '-c', {spin!r}])\n"
        f"os.kill(os.getpid(), signal.SIGSTOP)"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    folder = os.open(f"/proc/{process.pid}", os.O_PATH)
    try:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        assert read_stat(folder).cpu_s >= 0.3
    finally:
        os.close(folder)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def test_cpu_time_of_children_that_nobody_waits_for_is_not_forgotten(tmp_path: Path) -> None:
    spin = "import time\nwhile time.process_time() < 0.3: pass"
    child = subprocess.Popen([sys.executable, "-c", spin + "\nimport os; os.kill(os.getpid(), 19)"])
    (tmp_path / str(child.pid)).symlink_to(f"/proc/{child.pid}")
    proc = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
        meter = ProcessMeter(proc, [])
        seen = meter.cpu_s()
        child.kill()
        child.wait()
        assert meter.cpu_s() == seen >= 0.29
    finally:
        os.close(proc)


def test_cpu_time_of_the_reaped_is_added_but_not_twice(tmp_path: Path) -> None:
    proc = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert ProcessMeter(proc, [], lambda: 1.5).cpu_s() == 1.5
    finally:
        os.close(proc)
