"""The one path to a verdict; HTTP, the CLI and every later transport are skins over it.

    items -> look the checker up -> look in the cache -> dispatch by its resource -> verdicts

What is asked again while it is judged, in this call or another, is judged once.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from verifier_server.cache.base import JudgementCache, may_keep
from verifier_server.cache.flights import Flights
from verifier_server.checkers.base import Resource
from verifier_server.checkers.registry import Registry
from verifier_server.checkers.runtime import Task
from verifier_server.dispatch.base import Dispatcher, Judged
from verifier_server.errors import BrokenChecker, Overloaded, UnknownChecker
from verifier_server.ledger.base import Recorder
from verifier_server.ledger.entry import Entry
from verifier_server.schemas import Item, request_hash
from verifier_server.telemetry.metrics import Metrics
from verifier_server.verdict import Judgement, Outcome, Usage, Verdict


@dataclass(frozen=True, slots=True)
class Malformed:
    """An item of a batch that is no item: it gets a verdict in its place like any other."""

    why: str
    id: str | None = None
    checker: str = ""


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where an item goes, or the judgement that needs no check."""

    id: str | None
    checker: str
    item: Item | None = None
    version: str | None = None
    hash: str = ""
    task: Task | None = None
    resource: Resource = "cpu"
    deadline_s: float | None = None
    cache_key: str | None = None
    settled: Judgement | None = None
    cached: bool = False


_Pending = tuple[_Plan, asyncio.Future[Judged]]


class ScoringService:
    """Judges items. Keeps order, ids and count, whatever mix of bad items a batch holds."""

    def __init__(
        self,
        registry: Registry,
        dispatcher: Dispatcher,
        metrics: Metrics,
        cache: JudgementCache,
        ledger: Recorder,
        sandbox: str,
    ) -> None:
        """Puts it together; `sandbox` says what boxes isolate with, of which verdicts tell."""
        self._registry = registry
        self._dispatcher = dispatcher
        self._metrics = metrics
        self._cache = cache
        self._ledger = ledger
        self._sandbox = sandbox
        self._flights: Flights[Judged] = Flights()

    async def score(self, items: Sequence[Item | Malformed]) -> list[Verdict]:
        """The verdict of each item, in order.

        Raises:
            Overloaded: a queue is full; nothing was judged.
        """
        pending = await self._submit(items)
        judged = await asyncio.gather(*(future for _, future in pending))
        return [
            self._conclude(index, plan, one)
            for index, ((plan, _), one) in enumerate(zip(pending, judged, strict=True))
        ]

    async def stream(self, items: Sequence[Item | Malformed]) -> AsyncIterator[list[Verdict]]:
        """The verdicts as they fall due, those together that are due together.

        `index` tells whose each is. Raises as `score`, at once.
        """
        return self._as_due(await self._submit(items))

    async def _as_due(self, pending: list[_Pending]) -> AsyncIterator[list[Verdict]]:
        ready: asyncio.Queue[int] = asyncio.Queue()
        for index, (_, future) in enumerate(pending):
            future.add_done_callback(partial(_note, ready, index))
        left = len(pending)
        try:
            while left:
                due = [await ready.get()]
                while not ready.empty():
                    due.append(ready.get_nowait())
                left -= len(due)
                yield [
                    self._conclude(index, plan, future.result())
                    for index, (plan, future) in ((index, pending[index]) for index in due)
                ]
        finally:
            for _, future in pending:  # nobody reads on: what is not judged yet need not be
                future.cancel()

    async def _submit(self, items: Sequence[Item | Malformed]) -> list[_Pending]:
        """Each item's plan and the future of its judgement; who cancels that frees the work."""
        plans = await self._look_up([self._plan(item) for item in items])
        try:
            self._dispatcher.admit(Counter(plan.resource for plan in plans if plan.task))
        except Overloaded:
            self._metrics.count_refusal()
            raise
        call = object()
        return [(plan, self._judged(plan, call)) for plan in plans]

    async def _look_up(self, plans: list[_Plan]) -> list[_Plan]:
        """The plans, those settled whose judgements are in the cache."""
        keys = {plan.cache_key for plan in plans if plan.cache_key}
        known = await self._cache.get(list(keys)) if keys else {}
        if not known:
            return plans
        found = [known.get(plan.cache_key or "") for plan in plans]
        return [
            replace(plan, task=None, settled=judgement, cached=True) if judgement else plan
            for plan, judgement in zip(plans, found, strict=True)
        ]

    def _judged(self, plan: _Plan, call: object) -> asyncio.Future[Judged]:
        """The future of a plan's judgement."""
        task, key = plan.task, plan.cache_key
        if task is None:
            assert plan.settled is not None
            if plan.cached:
                self._metrics.count_lookup("hit")
            settled: asyncio.Future[Judged] = asyncio.get_running_loop().create_future()
            settled.set_result(Judged(plan.settled))
            return settled
        if key is None:
            return self._dispatcher.submit(plan.resource, task, plan.deadline_s)
        # Others' deadlines began earlier: only those of one call can be shared.
        mine = None if plan.deadline_s is None else (call, plan.deadline_s)
        judged, shared = self._flights.join((key, mine), lambda: self._start(plan, task, key))
        self._metrics.count_lookup("shared" if shared else "miss")
        return judged

    def _start(self, plan: _Plan, task: Task, key: str) -> asyncio.Future[Judged]:
        work = self._dispatcher.submit(plan.resource, task, plan.deadline_s)

        def keep(done: asyncio.Future[Judged]) -> None:
            if done.cancelled():
                return
            judgement = done.result().judgement
            if may_keep(judgement, plan.deadline_s):
                self._cache.put(key, judgement)

        work.add_done_callback(keep)
        return work

    def _plan(self, item: Item | Malformed) -> _Plan:
        if isinstance(item, Malformed):
            why = Judgement.unscored(Outcome.BAD_REFERENCE, item.why)
            return _Plan(item.id, item.checker, settled=why)
        plan = _Plan(item.id, item.checker, item, deadline_s=item.deadline_s)
        try:
            checker = self._registry.get(item.checker)
        except UnknownChecker as error:
            return replace(plan, settled=Judgement.unscored(Outcome.BAD_REFERENCE, str(error)))
        except BrokenChecker as error:
            return replace(plan, settled=Judgement.unscored(Outcome.CHECKER_ERROR, str(error)))
        completion, prompt = item.completion_text, item.prompt_text
        try:
            judge = f"{checker.version} {checker.identity()}".rstrip()
            hash_ = request_hash(item.checker, judge, completion, item.params, prompt)
        except RecursionError:
            nested = "the params are nested too deeply"
            return replace(plan, settled=Judgement.unscored(Outcome.BAD_REFERENCE, nested))
        resource = checker.resource_for(item.params)
        task, settled = None, None
        if resource in self._dispatcher.resources:
            task = Task(item.checker, completion, item.params, prompt, hash_)
        else:
            nobody = f"this service has no workers for {resource!r} checks"
            settled = Judgement.unscored(Outcome.CHECKER_ERROR, nobody)
        return _Plan(
            item.id,
            item.checker,
            item,
            version=checker.version,
            hash=hash_,
            task=task,
            resource=resource,
            deadline_s=item.deadline_s,
            cache_key=None if item.no_cache or task is None else self._key(hash_, resource),
            settled=settled,
        )

    def _key(self, hash_: str, resource: Resource) -> str:
        """Of what a judgement depends on, the level of isolation that it tells of included."""
        return hash_ if resource == "cpu" else f"{hash_} {self._sandbox}"

    def _conclude(self, index: int, plan: _Plan, judged: Judged) -> Verdict:
        judgement = judged.judgement
        verdict = Verdict(
            id=plan.id,
            index=index,
            checker=plan.checker,
            version=plan.version,
            outcome=judgement.outcome,
            fault=judgement.outcome.fault,
            score=judgement.score,
            answer=judgement.answer,
            explanation=judgement.explanation,
            components=dict(judgement.components),
            cases=list(judgement.cases),
            evidence=dict(judgement.evidence),
            usage=Usage(
                queue_s=judged.queue_s,
                run_s=judged.run_s,
                cpu_s=judgement.cpu_s,
                memory_bytes=judgement.memory_bytes,
            ),
            isolation=judgement.isolation,
            cached=plan.cached,
            request_hash=plan.hash,
        )
        self._metrics.count(verdict, () if plan.cached else judgement.tampering)
        self._ledger.record(Entry(plan.item, verdict))
        return verdict


def _note(ready: asyncio.Queue[int], index: int, _: asyncio.Future[Judged]) -> None:
    ready.put_nowait(index)
