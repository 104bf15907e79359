"""What a dispatcher is: it takes tasks and sees to it that each comes to a judgement."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from verifier_server.checkers.base import Resource
from verifier_server.checkers.runtime import Task
from verifier_server.telemetry.metrics import QueueStats
from verifier_server.verdict import Judgement


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement and the seconds it waited and ran."""

    judgement: Judgement
    queue_s: float = 0.0
    run_s: float = 0.0


class Dispatcher(Protocol):
    """Runs tasks somewhere that can be killed."""

    @property
    def resources(self) -> frozenset[Resource]:
        """The queues that there are."""

    async def start(self) -> None:
        """Returns when tasks can be judged."""

    async def stop(self) -> None:
        """Ends the workers; queued tasks are cancelled."""

    def admit(self, counts: Mapping[Resource, int]) -> None:
        """Checks that so many tasks may be submitted now. Raises Overloaded."""

    def submit(
        self, resource: Resource, task: Task, deadline_s: float | None
    ) -> asyncio.Future[Judged]:
        """Queues a task; the future never fails, it may be cancelled.

        Args:
            resource: the queue.
            task: what to judge.
            deadline_s: the caller's patience from now on.
        """

    def stats(self) -> Mapping[str, QueueStats]:
        """By queue."""

    def is_ready(self) -> bool:
        """Whether tasks submitted now would be judged."""
