"""A task on its way to a judgement."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass, field

from verifier_server.checkers.runtime import Task
from verifier_server.dispatch.base import Judged
from verifier_server.verdict import Judgement, Outcome

# A run that the caller's deadline cut had its fair share if it waited less than this part
# of the deadline in the queue.
_FAIR_WAIT = 0.1


@dataclass(slots=True, eq=False)
class Job:
    """A task, who waits for it, and what befell it.

    Attributes:
        canary: a task that the same checker must accept.
        patience_s: how long the caller waits in all.
        crashes: workers that died over it.
        spent_s: how long it ran before it had to begin again.
        waits: whether it is in the queue, in no worker's hands.
    """

    task: Task
    canary: Task
    future: asyncio.Future[Judged]
    patience_s: float = math.inf
    crashes: int = 0
    spent_s: float = 0.0
    waits: bool = False
    submitted_s: float = field(default_factory=time.monotonic)

    @property
    def due_s(self) -> float:
        """When the caller's patience ends (monotonic)."""
        return self.submitted_s + self.patience_s

    @property
    def is_overdue(self) -> bool:
        """Whether the caller's patience has ended."""
        return time.monotonic() >= self.due_s

    def finish(self, judgement: Judgement, run_s: float = 0.0) -> None:
        """Answers, unless the caller has gone."""
        if not self.future.done():
            queue_s = max(0.0, time.monotonic() - self.submitted_s - run_s)
            self.future.set_result(Judged(judgement, queue_s, run_s))

    def cancel(self) -> None:
        """Answers that nobody will judge it any more."""
        self.finish(Judgement.unscored(Outcome.CANCELLED, "the service is stopping"))

    def had_its_time(self, started_s: float) -> bool:
        """Whether the run that the caller's deadline ended was given nearly all of it."""
        waited_s = started_s - self.submitted_s - self.spent_s
        return waited_s <= _FAIR_WAIT * self.patience_s

    def give_up(self) -> None:
        """Answers that the caller's deadline passed before the check could have ended."""
        why = f"no verdict within the item's deadline of {self.patience_s:g} s: the queue is long"
        self.finish(Judgement.unscored(Outcome.OVERLOADED, why))
