"""What a worker is doing, in memory that both sides see.

The supervisor must know which of the tasks it sent a worker is being judged, and since
when, at the moment it decides whom to blame; a message from a worker that hangs would come
too late. Each field has one writer.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from dataclasses import dataclass
from typing import Self

_NUMBER, _SECONDS = struct.Struct("<Q"), struct.Struct("<d")
_TASK_AT, _STARTED_AT, _BUDGET_AT, _CPU_AT, _SKIP_AT, _PID_AT, _SIZE = 0, 8, 16, 24, 32, 40, 48

# Of another process, as the kernel numbers clocks: clock_getcpuclockid(3).
_PROCESS_CLOCK = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """The running task's number (0: none yet), when it began (monotonic), and its budget.

    `cpu_s` is what the worker's processor clock said when it began.
    """

    task: int
    started_s: float
    budget_s: float
    cpu_s: float

    @property
    def end_s(self) -> float:
        """When its budget is spent (monotonic)."""
        return self.started_s + self.budget_s


class Board:
    """A page shared by file descriptor.

    The worker writes what it runs; the supervisor writes up to which number the worker
    shall skip tasks that it has not begun, because they were given to others.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._page = mmap.mmap(fd, _SIZE)

    @classmethod
    def new(cls) -> Self:
        """A fresh board of zeros."""
        fd = os.memfd_create("verifier-board")
        os.truncate(fd, _SIZE)
        return cls(fd)

    def begin(self, task: int, budget_s: float) -> bool:
        """Worker: takes up a task, unless it was withdrawn (then False)."""
        if task <= _NUMBER.unpack_from(self._page, _SKIP_AT)[0]:
            return False
        _SECONDS.pack_into(self._page, _STARTED_AT, time.monotonic())
        _SECONDS.pack_into(self._page, _BUDGET_AT, budget_s)
        _SECONDS.pack_into(self._page, _CPU_AT, time.process_time())
        _NUMBER.pack_into(self._page, _PID_AT, os.getpid())
        _NUMBER.pack_into(self._page, _TASK_AT, task)
        return True

    def extend(self, budget_s: float) -> None:
        """Worker: the running task may take so long."""
        _SECONDS.pack_into(self._page, _BUDGET_AT, budget_s)

    def skip_to(self, task: int) -> None:
        """Supervisor: tasks up to this number that have not begun are withdrawn."""
        _NUMBER.pack_into(self._page, _SKIP_AT, task)

    def read(self) -> Reading:
        """Supervisor: what the worker is at."""
        return Reading(
            _NUMBER.unpack_from(self._page, _TASK_AT)[0],
            _SECONDS.unpack_from(self._page, _STARTED_AT)[0],
            _SECONDS.unpack_from(self._page, _BUDGET_AT)[0],
            _SECONDS.unpack_from(self._page, _CPU_AT)[0],
        )

    def busy_s(self) -> float:
        """Supervisor: processor time that the running task has taken; 0 if its worker is gone."""
        pid = _NUMBER.unpack_from(self._page, _PID_AT)[0]
        try:
            clock_s = time.clock_gettime(~pid << 3 | _PROCESS_CLOCK)
        except OSError:
            return 0.0
        return clock_s - float(_SECONDS.unpack_from(self._page, _CPU_AT)[0])

    def close(self) -> None:
        """Frees the page and its descriptor. Idempotent."""
        if not self._page.closed:
            self._page.close()
            os.close(self.fd)
