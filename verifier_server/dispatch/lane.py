"""One bounded queue of tasks and the slots that judge them."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from dataclasses import dataclass

from verifier_server.checkers.base import Resource
from verifier_server.dispatch.job import Job
from verifier_server.dispatch.nursery import Nursery
from verifier_server.dispatch.slot import Slot
from verifier_server.errors import Overloaded
from verifier_server.telemetry.metrics import QueueStats
from verifier_server.verdict import Judgement, Outcome


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
    """A queue, taken from by as many slots as the lane has workers."""

    def __init__(self, config: LaneConfig, nursery: Nursery) -> None:
        self.config = config
        self._pending: deque[Job] = deque()
        self._arrived = asyncio.Event()
        self._slots = [
            Slot(self, nursery, config.memory_bytes, config.worker_items)
            for _ in range(config.workers)
        ]
        self._runs: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Starts the workers."""
        for slot in self._slots:
            await slot.open()
        self._runs = [asyncio.create_task(slot.run()) for slot in self._slots]

    async def stop(self) -> None:
        """Stops judging; what was not judged is answered as cancelled."""
        for run in self._runs:
            run.cancel()
        await asyncio.gather(*self._runs, return_exceptions=True)
        for job in (*self._pending, *(job for slot in self._slots for job in slot.held.values())):
            job.finish(Judgement.unscored(Outcome.CANCELLED, "the service is stopping"))
        for slot in self._slots:
            await slot.close()

    def admit(self, count: int) -> None:
        """Raises Overloaded if `count` more tasks may not wait now.

        A queue below its bound takes a whole batch, however large: else a batch larger than
        the bound could never be judged.
        """
        if count and len(self._pending) >= self.config.queue_items:
            raise Overloaded(
                f"{len(self._pending)} items wait in queue {self.config.resource!r}",
                retry_after_s=1.0,
            )

    def submit(self, job: Job) -> None:
        """Queues a job."""
        self._pending.append(job)
        if math.isfinite(job.patience_s):
            timer = asyncio.get_running_loop().call_later(job.patience_s, self._expire, job)
            job.future.add_done_callback(lambda _: timer.cancel())
        self._arrived.set()

    def give_back(self, jobs: list[Job]) -> None:
        """Puts jobs that a worker did not begin at the head of the queue."""
        self._pending.extendleft(reversed(jobs))
        self._arrived.set()

    async def take(self) -> list[Job]:
        """The next jobs for one slot, at least one."""
        while not (jobs := self.take_now(self.config.window)):
            self._arrived.clear()
            await self._arrived.wait()
        return jobs

    def take_now(self, room: int) -> list[Job]:
        """A slot's fair share of the waiting jobs, at most `room`; maybe none.

        A job that crashed a worker is taken alone, so that it can't take others along.
        """
        share = min(room, -(-len(self._pending) // len(self._slots)))
        jobs: list[Job] = []
        while self._pending and len(jobs) < share:
            if self._pending[0].crashes and jobs:
                break
            job = self._pending.popleft()
            if not job.future.done():
                jobs.append(job)
                if job.crashes:
                    break
        return jobs

    @property
    def is_ready(self) -> bool:
        """Whether every slot serves."""
        return bool(self._runs) and not any(run.done() for run in self._runs)

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
        if job in self._pending:
            job.give_up()
