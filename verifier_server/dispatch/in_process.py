"""The dispatcher that needs nothing installed: worker processes of this very service.

One lane a resource, so that a queue of slow code items never holds up math, and one more for
pure checks that turn out to take long.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping

from verifier_server.checkers.base import Resource
from verifier_server.checkers.registry import Registry
from verifier_server.checkers.runtime import Task
from verifier_server.dispatch.base import Judged
from verifier_server.dispatch.job import Job
from verifier_server.dispatch.lane import Lane, LaneConfig
from verifier_server.dispatch.nursery import Nursery
from verifier_server.settings import Settings
from verifier_server.telemetry.metrics import QueueStats

# Pure checks take microseconds: a worker holds several, so that it need not wait for the
# next one. Others take milliseconds: handing one over costs nothing beside it.
_CPU_WINDOW = 16


class InProcessDispatcher:
    """Judges in forked workers on this machine."""

    def __init__(self, settings: Settings, registry: Registry) -> None:
        self._settings = settings
        self._registry = registry
        self._nursery = Nursery(settings.sandbox_address, settings.log_level)
        self._lanes: dict[Resource, Lane] = {}
        self._all: dict[str, Lane] = {}
        self._canaries: dict[str, Task] = {}

    @property
    def resources(self) -> frozenset[Resource]:
        """The queues that there are."""
        return frozenset(self._lanes)

    async def start(self) -> None:
        """Returns when tasks can be judged. Raises ConfigError if they never can."""
        await self._nursery.start()
        slow = Lane(self._config("cpu", max(1, self._settings.cpu_workers // 2)), self._nursery)
        lanes = (
            Lane(self._config("cpu", self._settings.cpu_workers, _CPU_WINDOW), self._nursery, slow),
            Lane(self._config("sandbox", self._settings.sandbox_workers), self._nursery),
            Lane(self._config("lean", self._settings.lean_workers), self._nursery),
        )
        self._lanes = {lane.config.resource: lane for lane in lanes}
        self._all = {lane.config.resource: lane for lane in lanes} | {"cpu, slow": slow}
        for lane in self._all.values():
            await lane.start()

    def _config(self, resource: Resource, workers: int, window: int = 1) -> LaneConfig:
        settings = self._settings
        return LaneConfig(
            resource,
            workers=workers,
            window=window,
            queue_items=settings.queue_items,
            # Programs in a sandbox would inherit the cap.
            memory_bytes=settings.worker_memory_bytes if resource == "cpu" else None,
            worker_items=settings.worker_items,
        )

    async def stop(self) -> None:
        """Ends the workers; tasks that were not judged come out as cancelled."""
        for lane in self._all.values():
            await lane.stop()
        await self._nursery.stop()

    def admit(self, counts: Mapping[Resource, int]) -> None:
        """Checks that so many tasks may be submitted now. Raises Overloaded."""
        for resource, count in counts.items():
            self._lanes[resource].admit(count)

    def submit(
        self, resource: Resource, task: Task, deadline_s: float | None
    ) -> asyncio.Future[Judged]:
        """Queues a task; see `Dispatcher.submit`."""
        job = Job(
            task=task,
            canary=self._canary(task.checker),
            future=asyncio.get_running_loop().create_future(),
            patience_s=math.inf if deadline_s is None else deadline_s,
        )
        self._lanes[resource].submit(job)
        return job.future

    def stats(self) -> Mapping[str, QueueStats]:
        """By queue."""
        return {resource: lane.stats() for resource, lane in self._all.items()}

    def is_ready(self) -> bool:
        """Whether tasks submitted now would be judged."""
        return self._nursery.is_alive and all(lane.is_ready for lane in self._all.values())

    def _canary(self, name: str) -> Task:
        if name not in self._canaries:
            example = next(e for e in self._registry.get(name).examples if e.score == 1)
            self._canaries[name] = Task(name, example.completion, example.params, example.prompt)
        return self._canaries[name]
