"""Threads that do what nobody should have to wait for: making and removing containers."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

from sandboxes.base import SandboxError

log = logging.getLogger(__name__)

Job = Callable[[], None]


class Crew:
    """Takes jobs, first come, first served. A job that fails is logged, no more.

    Args:
        size: how many jobs are done at once.
        chore: done by one of the crew, time and again.
        every_s: seconds between two chores.
    """

    def __init__(self, size: int, chore: Job, every_s: float) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._chore, self._every_s = chore, every_s
        # Daemons: a process that ends without closing its provider must not hang on them.
        targets = [self._work] * size + [self._keep]
        self._threads = [threading.Thread(target=t, daemon=True) for t in targets]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> None:
        """Has a job done, soon."""
        self._jobs.put(job)

    def close(self, patience_s: float) -> None:
        """Waits until all jobs are done, but no longer than that, and stops."""
        self._stopped.set()
        for _ in self._threads:
            self._jobs.put(None)
        deadline = time.monotonic() + patience_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            _do(job)

    def _keep(self) -> None:
        while not self._stopped.wait(self._every_s):
            _do(self._chore)


def _do(job: Job) -> None:
    try:
        job()
    except SandboxError as error:
        log.warning("containers: %s", error)


__all__ = ["Crew"]
