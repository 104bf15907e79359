"""One worker of a lane at a time: hands it jobs, times them, replaces it, and finds the blame.

Who is to blame for a check that hangs or kills its worker decides between a 0 and a null,
and neither may go to the wrong one. So it is followed by an *inquest* on a fresh worker: if
the reference alone can't be prepared, the task is at fault; if the checker fails an example
of its own, the service is; only then it is the completion.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from verifier_server.checkers.runtime import Task
from verifier_server.dispatch.board import Reading
from verifier_server.dispatch.frames import pack_task
from verifier_server.dispatch.job import Job
from verifier_server.dispatch.nursery import Nursery, Worker
from verifier_server.errors import ConfigError
from verifier_server.verdict import Judgement, Outcome

if TYPE_CHECKING:
    from verifier_server.dispatch.lane import Lane

log = logging.getLogger(__name__)

# A worker that has not answered for so long gives back what waits behind its task.
_STALL_S = 0.02
# Beyond a check's own budget, for a machine that is busy with other work.
_GRACE_S = 1.0
# Processor time after which a task goes to the lane for slow ones, where there is one; how
# often that is looked at; and time by the clock, for a task that sleeps.
_QUICK_CPU_S, _LOOK_S, _QUICK_S = 0.1, 0.05, 1.0
# A worker that takes up none of its tasks for so long is lost.
_DEAF_S = 10.0
# A pure check that took less than this part of its time on a processor did not compute.
_BUSY = 0.1
_POLL_S = 0.25
_RETRY_S = 1.0


# What a worker can die of by its own computing; any other signal was sent from outside.
_CRASHES = frozenset(
    {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGSYS}
)


class WorkerLost(Exception):
    """The worker died, or hung and was killed, before it answered. `status` as in Worker."""

    def __init__(self, why: str, status: int | None = None) -> None:
        super().__init__(why)
        self.status = status

    @property
    def is_from_outside(self) -> bool:
        """Whether somebody killed the worker, or the workers' parent."""
        return self.status is None or (self.status < 0 and -self.status not in _CRASHES)


class Slot:
    """Judges what its lane hands out, one worker at a time.

    Attributes:
        held: the jobs that the worker has, by number, in the order sent.
        killed, crashed: workers that we killed, and that died by themselves.
    """

    def __init__(
        self, lane: Lane, nursery: Nursery, memory_bytes: int | None, worker_items: int
    ) -> None:
        self.held: dict[int, Job] = {}
        self.killed = 0
        self.crashed = 0
        self._lane = lane
        self._nursery = nursery
        self._memory_bytes = memory_bytes
        self._worker_items = worker_items
        self._numbers = itertools.count(1)
        self._worker: Worker
        self._heard_s = 0.0
        self._at_issue: Job | None = None

    async def open(self) -> None:
        """Gets a worker, however long it takes."""
        while True:
            try:
                self._worker = await self._nursery.spawn(self._memory_bytes)
            except (ConfigError, OSError) as error:
                log.error("no worker: %s", error)
                await asyncio.sleep(_RETRY_S)
            else:
                self._numbers, self._heard_s = itertools.count(1), time.monotonic()
                return

    async def close(self) -> None:
        """Lets go of the worker."""
        await self._worker.close()

    def abandon(self) -> list[Job]:
        """Lets go of all its jobs: those that the worker has, and the one being settled."""
        jobs = [*self.held.values(), *filter(None, [self._at_issue])]
        self.held.clear()
        self._at_issue = None
        return jobs

    async def run(self) -> None:
        """Judges until cancelled."""
        judged = 0
        while True:
            jobs = await self._lane.take()
            judged += len(jobs)
            self._hand_over(jobs)
            while self.held:
                await self._attend()
            if judged >= self._worker_items:
                await self._nursery.kill(self._worker)
                await self.open()
                judged = 0

    async def run_anew(self) -> None:
        """Judges on, with another worker, after a failure of ours."""
        await self._replace()
        await self.run()

    def _hand_over(self, jobs: list[Job]) -> None:
        if not self.held:
            self._heard_s = time.monotonic()
        frames = []
        for job, number in zip(jobs, self._numbers, strict=False):
            self.held[number] = job
            frames.append(pack_task(number, job.task))
        self._worker.send(b"".join(frames))

    async def _attend(self) -> None:
        """Waits for one thing to happen to the held jobs, and deals with it."""
        self._at_issue = None
        try:
            answer = await self._answer(_STALL_S if len(self.held) > 1 else self._time_left_s())
        except WorkerLost as lost:
            await self._mourn(lost)
            return
        if answer is None:
            await self._see_to_stall()
            return
        number, body = answer
        if job := self._take_out(number):
            await self._conclude(job, body)
        # Several at a time, since each handing over wakes the worker; but never all too late.
        if self.held and 2 * len(self.held) <= self._lane.config.window:
            self._hand_over(self._lane.take_now(self._lane.config.window - len(self.held)))

    def _take_out(self, number: int) -> Job | None:
        """The held job of that number, which is now ours to settle."""
        self._at_issue = self.held.pop(number, None)
        return self._at_issue

    async def _answer(self, timeout_s: float) -> tuple[int, dict[str, Any]] | None:
        """The worker's next answer; None if none comes in time. Raises WorkerLost."""
        answer = self._worker.received()
        try:
            if answer is None:
                async with asyncio.timeout(timeout_s):
                    answer = await self._worker.receive()
        except TimeoutError:
            return None
        except (EOFError, ConnectionError) as error:
            status = await self._worker.died
            raise WorkerLost(_cause_of_death(status), status) from error
        self._heard_s = time.monotonic()
        return answer

    async def _conclude(self, job: Job, body: dict[str, Any]) -> None:
        judgement = Judgement.from_wire(body["judgement"])
        # Memory ran out inside the worker: by this completion, or by a leak of ours?
        if judgement.outcome is Outcome.MEMORY_LIMIT and self._memory_bytes is not None:
            await self._replace()
            if self._try_again(job):
                return
            judgement = await self._inquest(job, judgement)
        job.finish(judgement, body["run_s"])

    def _time_left_s(self) -> float:
        """Until the running job must be ended; a short while if none has begun."""
        reading = self._worker.board.read()
        job = self.held.get(reading.task)
        if job is None:
            return _POLL_S
        left_s = min(reading.end_s + _GRACE_S, job.due_s) - time.monotonic()
        return max(_STALL_S, min(left_s, _LOOK_S) if self._lane.slow else left_s)

    async def _see_to_stall(self) -> None:
        """No answer for a while: frees the neighbours, then ends the job if its time is up."""
        board, now_s = self._worker.board, time.monotonic()
        if board.read().task not in self.held:
            if now_s - self._heard_s > _DEAF_S:
                await self._replace()
            return
        board.skip_to(max(self.held))
        reading = board.read()
        waiting = [number for number in self.held if number > reading.task]
        self._lane.give_back([self.held.pop(number) for number in waiting])
        job = self.held.get(reading.task)
        if job is None:
            return
        if now_s >= reading.end_s + _GRACE_S:
            await self._end(job, reading, f"no verdict within {reading.budget_s:g} s")
        elif now_s >= job.due_s:
            why = f"no verdict within the item's deadline of {job.patience_s:g} s"
            await self._end(job, reading, why)
        elif self._lane.slow and self._is_slow(reading, now_s):
            # From its start again, so that nothing slow stands before what is quick.
            self._take_out(reading.task)
            job.spent_s += now_s - reading.started_s
            await self._replace()
            self._lane.slow.take_over(job)

    def _is_slow(self, reading: Reading, now_s: float) -> bool:
        is_asleep = now_s - reading.started_s > _QUICK_S
        return is_asleep or self._worker.board.busy_s() > _QUICK_CPU_S

    async def _end(self, job: Job, reading: Reading, why: str) -> None:
        """Kills the worker that runs `job`, which is judged by what an inquest finds."""
        run_s = time.monotonic() - reading.started_s
        self._take_out(reading.task)
        worker = self._worker
        await self._replace()
        if job.is_overdue and not job.had_its_time(reading.started_s):
            job.give_up()
            return
        if self._was_idle(worker.cpu_s - reading.cpu_s, run_s):
            if not self._try_again(job):
                idle = f"the worker got no processor time, or waited for something: {why}"
                job.finish(Judgement.unscored(Outcome.CHECKER_ERROR, idle), run_s)
            return
        blame = Judgement.reject(Outcome.TIME_LIMIT, f"judging this completion: {why}")
        job.finish(await self._inquest(job, blame), run_s)

    def _was_idle(self, cpu_s: float, run_s: float) -> bool:
        """Whether a pure check was stopped or starved, which is never a completion's doing.

        A sandboxed one waits for its program, so its idleness says nothing.
        """
        return self._memory_bytes is not None and cpu_s < _BUSY * run_s

    async def _mourn(self, lost: WorkerLost) -> None:
        """The worker died by itself: by a task, or by somebody's hand."""
        job = self._take_out(self._worker.board.read().task)
        await self._revive()
        if job is None or self._try_again(job):
            return
        if lost.is_from_outside:
            why = f"two workers were killed from outside while they judged this ({lost})"
            job.finish(Judgement.unscored(Outcome.CHECKER_ERROR, why))
            return
        why = f"judging this completion crashes the checker ({lost})"
        blame = Judgement.reject(Outcome.POLICY_VIOLATION, why)
        job.finish(await self._inquest(job, blame))

    def _try_again(self, job: Job) -> bool:
        """Whether the job gets a second chance, as the first on the fresh worker at hand."""
        job.crashes += 1
        if job.crashes > 1:
            return False
        self._hand_over([job])
        return True

    async def _replace(self) -> None:
        """Kills the worker and gets another; what it had not begun goes back."""
        self.killed += 1
        await self._nursery.kill(self._worker)
        await self._reopen()

    async def _revive(self) -> None:
        self.crashed += 1
        await self._worker.close()
        await self._reopen()

    async def _reopen(self) -> None:
        self._lane.give_back(list(self.held.values()))
        self.held.clear()
        await self.open()

    async def _inquest(self, job: Job, blame: Judgement) -> Judgement:
        """`blame`, unless the reference or the checker turns out to be at fault."""
        try:
            # Without the completion, which must not have a part in what the reference does.
            reference = await self._ask(replace(job.task, completion=""), lint=True)
        except WorkerLost as lost:
            why = f"the reference can't be prepared: {lost}"
            return Judgement.unscored(Outcome.BAD_REFERENCE, why)
        if reference.score is None:
            return reference
        try:
            canary = await self._ask(job.canary)
        except WorkerLost as lost:
            canary = Judgement.unscored(Outcome.CHECKER_ERROR, str(lost))
        if canary.score == 1:
            return blame
        why = f"the checker fails an example of its own: {canary.explanation}"
        return Judgement.unscored(Outcome.CHECKER_ERROR, why)

    async def _ask(self, task: Task, *, lint: bool = False) -> Judgement:
        """One judgement from the worker at hand, which holds nothing else."""
        number = next(self._numbers)
        self._worker.send(pack_task(number, task, lint=lint))
        asked_s = time.monotonic()
        while True:
            try:
                answer = await self._answer(_POLL_S)
            except WorkerLost:
                await self._revive()
                raise
            if answer and answer[0] == number:
                return Judgement.from_wire(answer[1]["judgement"])
            reading = self._worker.board.read()
            end_s = reading.end_s if reading.task == number else asked_s + _DEAF_S
            if time.monotonic() > end_s + _GRACE_S:
                await self._replace()
                raise WorkerLost(f"it takes longer than {end_s - asked_s:.0f} s")


def _cause_of_death(status: int | None) -> str:
    if status is None:
        return "the workers' parent died"
    if status < 0:
        return f"a worker died of {signal.Signals(-status).name}"
    return f"a worker exited with status {status}"
