"""One bounded queue of tasks and the slots that judge them."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass

from verifier_server.checkers.base import Resource
from verifier_server.dispatch.job import Job
from verifier_server.dispatch.nursery import Nursery
from verifier_server.dispatch.slot import Slot
from verifier_server.errors import Overloaded
from verifier_server.telemetry.metrics import QueueStats
from verifier_server.verdict import Judgement, Outcome

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LaneConfig:
    """How a lane runs.

    Attributes:
        workers: processes that judge at once.
        window: tasks that one worker holds; more hide the latency of handing over.
        queue_items: tasks waiting before submitters are refused.
        memory_bytes: address space of a worker; None for no cap.
        worker_items: tasks after which a worker is replaced.
    """

    resource: Resource
    workers: int
    window: int
    queue_items: int
    memory_bytes: int | None
    worker_items: int


class Lane:
    """A queue, taken from by as many slots as the lane has workers.

    Args:
        config: how it runs.
        nursery: where workers come from.
        slow: the lane to which tasks go that take long; None if all may take their time here.
    """

    def __init__(self, config: LaneConfig, nursery: Nursery, slow: Lane | None = None) -> None:
        self.config = config
        self.slow = slow
        self._pending: deque[Job] = deque()
        self._unfinished: set[Job] = set()
        self._arrived = asyncio.Event()
        self._slots = [
            Slot(self, nursery, config.memory_bytes, config.worker_items)
            for _ in range(config.workers)
        ]
        self._runs: dict[Slot, asyncio.Task[None]] = {}
        self._is_stopped = False

    async def start(self) -> None:
        """Starts the workers."""
        for slot in self._slots:
            await slot.open()
            self._keep_running(slot, slot.run())

    async def stop(self) -> None:
        """Stops judging; what was not judged, or comes later, is answered as cancelled."""
        self._is_stopped = True
        for run in self._runs.values():
            run.cancel()
        await asyncio.gather(*self._runs.values(), return_exceptions=True)
        for job in list(self._unfinished):
            job.cancel()
        for slot in self._slots:
            await slot.close()

    def admit(self, count: int) -> None:
        """Raises Overloaded if `count` more tasks may not wait now.

        A queue below its bound takes a whole batch, however large: else a batch larger than
        the bound could never be judged.
        """
        waiting = len(self._pending) + (len(self.slow._pending) if self.slow else 0)
        if count and waiting >= self.config.queue_items:
            raise Overloaded(
                f"{waiting} items wait in queue {self.config.resource!r}", retry_after_s=1.0
            )

    def submit(self, job: Job) -> None:
        """Queues a job."""
        if math.isfinite(job.patience_s):
            timer = asyncio.get_running_loop().call_later(job.patience_s, self._expire, job)
            job.future.add_done_callback(lambda _: timer.cancel())
        self.take_over(job)

    def take_over(self, job: Job) -> None:
        """Queues a job that another lane had before."""
        if self._is_stopped:
            job.cancel()
            return
        self._unfinished.add(job)
        job.future.add_done_callback(lambda _: self._unfinished.discard(job))
        job.waits = True
        self._pending.append(job)
        self._arrived.set()

    def give_back(self, jobs: list[Job]) -> None:
        """Puts jobs that a worker did not begin at the head of the queue."""
        for job in reversed(jobs):
            job.waits = True
            self._pending.appendleft(job)
            if job.is_overdue:
                job.give_up()
        self._arrived.set()

    async def take(self) -> list[Job]:
        """The next jobs for one slot, at least one."""
        while not (jobs := self.take_now(self.config.window)):
            self._arrived.clear()
            await self._arrived.wait()
        return jobs

    def take_now(self, room: int) -> list[Job]:
        """A slot's fair share of the waiting jobs, at most `room`; maybe none."""
        share = min(room, -(-len(self._pending) // len(self._slots)))
        jobs: list[Job] = []
        while self._pending and len(jobs) < share:
            job = self._pending.popleft()
            job.waits = False
            if not job.future.done():
                jobs.append(job)
        return jobs

    @property
    def is_ready(self) -> bool:
        """Whether every slot serves."""
        return bool(self._runs) and not any(run.done() for run in self._runs.values())

    def stats(self) -> QueueStats:
        """The lane's state now."""
        return QueueStats(
            queued=len(self._pending),
            running=sum(len(slot.held) for slot in self._slots),
            workers=len(self._slots),
            killed=sum(slot.killed for slot in self._slots),
            crashed=sum(slot.crashed for slot in self._slots),
        )

    def _expire(self, job: Job) -> None:
        """The caller's patience has ended. A job that runs is its slot's to end."""
        if job.waits:
            job.give_up()

    def _keep_running(self, slot: Slot, run: Coroutine[None, None, None]) -> None:
        self._runs[slot] = asyncio.create_task(run)
        self._runs[slot].add_done_callback(lambda run: self._on_end(slot, run))

    def _on_end(self, slot: Slot, run: asyncio.Task[None]) -> None:
        """A slot that met a bug of ours must not leave its callers waiting for ever."""
        if run.cancelled():
            return
        error = run.exception()
        log.error("a slot of queue %r failed", self.config.resource, exc_info=error)
        why = f"the dispatcher failed: {type(error).__name__}: {error}"
        for job in slot.abandon():
            job.finish(Judgement.unscored(Outcome.CHECKER_ERROR, why))
        self._keep_running(slot, slot.run_anew())
