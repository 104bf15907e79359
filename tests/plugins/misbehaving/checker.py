"""Misbehaves as the completion (or the reference, or a file) says."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from verifier_server.checkers.base import CheckContext, Checker, Example, Params, Resource
from verifier_server.verdict import Case, Judgement, Outcome

# What no checker may return.
ODD: dict[str, Any] = {
    "none": lambda: None,
    "number as answer": lambda: Judgement.accept(answer=cast(Any, 5)),
    "NaN as component": lambda: Judgement.accept(components={"part": math.nan}),
    "infinite case": lambda: Judgement.accept(
        cases=[Case(name="1", outcome=Outcome.ACCEPTED, score=math.inf)]
    ),
}


class MisbehavingParams(Params):
    """`prepare` misbehaves while the reference is looked at; `broken` names a file: while
    it exists the checker hangs whatever the completion is."""

    prepare: str = "behave"
    queue: Resource = "cpu"
    budget_s: float = 0.5
    broken: str | None = None


class MisbehavingChecker(Checker[MisbehavingParams]):
    """Accepts "behave"; anything else is done to its own process."""

    name = "misbehaving"
    version = "1"
    Params = MisbehavingParams
    time_limit_s = 0.5
    examples = (
        Example("behave", {}, 1),
        Example("wrong", {}, 0, Outcome.WRONG_ANSWER),
    )

    def resource_for(self, params: Mapping[str, Any]) -> Resource:
        resource: Resource = params.get("queue", "cpu")
        return resource

    def time_budget_s(self, params: MisbehavingParams) -> float:
        return params.budget_s

    def prepare(self, params: MisbehavingParams) -> None:
        misbehave(params.prepare)

    def check(self, completion: str, params: MisbehavingParams, ctx: CheckContext) -> Judgement:
        if params.broken and Path(params.broken).exists():
            misbehave("hang")
        if completion == "wrong":
            return Judgement.reject(Outcome.WRONG_ANSWER, "wrong")
        if completion == "pid":
            return Judgement.accept(answer=str(os.getpid()))
        if completion in ODD:
            return cast(Judgement, ODD[completion]())
        misbehave(completion)
        return Judgement.accept()


def misbehave(how: str) -> None:
    verb, _, argument = how.partition(" ")
    started_s = time.process_time()
    match verb:
        case "hang" | "busy":
            while time.process_time() - started_s < float(argument or "inf"):
                pass
        case "sleep":
            time.sleep(float(argument))
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "signal":
            os.kill(os.getpid(), signal.Signals[argument])
        case "killed-once":
            if not Path(argument).exists():
                Path(argument).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        case "hog":
            bytearray(1 << 40)
        case "recurse":
            misbehave("recurse")
        case "raise":
            raise RuntimeError(argument)
