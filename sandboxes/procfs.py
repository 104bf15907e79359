"""Memory and CPU time of a box's processes, read from the box's own /proc.

What stands in for a cgroup where none is writable: a watchdog looks here every few
milliseconds and kills the box at its limit. It sees memory that processes have mapped; pages
that live in a shared mapping nobody maps now, and kernel buffers, escape it (documented in
the provider).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_INODE_BYTES = 1024  # of kernel memory for a file on tmpfs, about


class ProcessStat(NamedTuple):
    """What `/proc/PID/stat` tells of a process.

    Attributes:
        state: a letter.
        wait_status: of a zombie.
        cpu_s: CPU seconds, with its dead children's that were waited for.
        own_cpu_s: without.
        started: in clock ticks since boot; with its pid, this names it for good.
    """

    state: str
    wait_status: int
    cpu_s: float
    own_cpu_s: float
    started: int


def read_stat(process: int) -> ProcessStat:
    """Of the process whose /proc directory is open as `process`.

    Raises:
        OSError: the process is gone.
    """
    fields = _read(process, "stat").rpartition(b")")[2].split()
    # utime, stime and its dead children's
    own, with_children = (sum(map(int, fields[11:end])) / _TICKS_PER_S for end in (13, 15))
    return ProcessStat(fields[0].decode(), int(fields[49]), with_children, own, int(fields[19]))


class ProcessMeter:
    """Sums over the processes of a box.

    Args:
        proc: its /proc, a descriptor.
        disks: its writable tmpfs.
        reaped_cpu_s: CPU seconds of processes that were taken away when they had died.
    """

    def __init__(
        self,
        proc: int,
        disks: Sequence[int],
        reaped_cpu_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._proc = proc
        self._disks = disks
        self._reaped_cpu_s = reaped_cpu_s
        self._seen_cpu_s: dict[tuple[str, int], float] = {}
        self.peak_memory_bytes: int | None = None

    def cpu_s(self) -> float:
        """CPU seconds of all processes: of the living and of those that were waited for.

        Where nobody waits for them (SIGCHLD ignored) the dead take their times with them; so
        it is at least what was seen of each process while it lived.
        """
        total = self._reaped_cpu_s()
        for name, process in self._processes():
            with contextlib.suppress(OSError):
                stat = read_stat(process)
                total += stat.cpu_s
                self._seen_cpu_s[name, stat.started] = stat.own_cpu_s
        return max(total, sum(self._seen_cpu_s.values()))

    def memory_bytes(self, limit: int) -> int:
        """Memory in use: exact where it is near or above `limit`, else an upper bound.

        Resident pages count for each process that shares them, which is cheap to read and
        too much after a fork; only if that sum passes the limit are the shares worked out.
        """
        files = self._inode_bytes()
        processes = sum(_resident_bytes(process) for _, process in self._processes())
        if files + processes > limit:
            processes = sum(_proportional_bytes(process) for _, process in self._processes())
        if processes:  # else all are dead, and what they used was not seen
            self.peak_memory_bytes = max(self.peak_memory_bytes or 0, files + processes)
        return files + processes

    def _inode_bytes(self) -> int:
        rooms = [os.fstatvfs(disk) for disk in self._disks]
        return _INODE_BYTES * sum(room.f_files - room.f_ffree for room in rooms)

    def _processes(self) -> Iterator[tuple[str, int]]:
        for name in os.listdir(self._proc):
            if not name.isdigit() or name == "1":  # 1 is the box's init, ours
                continue
            try:
                process = os.open(name, os.O_PATH | os.O_CLOEXEC, dir_fd=self._proc)
            except OSError:  # it died just now
                continue
            try:
                yield name, process
            finally:
                os.close(process)


def _resident_bytes(process: int) -> int:
    return _sum_kib(process, "status", (b"RssAnon:", b"RssShmem:", b"VmPTE:"))


def _proportional_bytes(process: int) -> int:
    exact = _sum_kib(process, "smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:"))
    if exact:
        return exact + _sum_kib(process, "status", (b"VmPTE:",))  # tables of pages are memory, too
    return _resident_bytes(process)  # a program can close its smaps to us


def _sum_kib(process: int, file: str, keys: tuple[bytes, ...]) -> int:
    total = 0
    with contextlib.suppress(OSError):
        for line in _read(process, file).splitlines():
            if line.startswith(keys):
                total += int(line.split()[1]) * 1024
    return total


def _read(process: int, file: str) -> bytes:
    fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC, dir_fd=process)
    with open(fd, "rb", buffering=0) as source:
        return source.read()


__all__ = ["ProcessMeter", "ProcessStat", "read_stat"]
