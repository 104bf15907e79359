"""The `control` checker: rewards that say nothing about the answer, or the opposite.

Arms of an experiment: a trainer that "learns" from them shows that something else than the
verifier moves the metric (Shao et al., "Spurious Rewards", arXiv:2506.10947).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from verifier_server.checkers.base import CheckContext, Checker, Example, Params, Resource
from verifier_server.checkers.nested import Nested, check_size, strongest_resource
from verifier_server.verdict import Judgement, Outcome

Share = Annotated[float, Field(ge=0, le=1)]

_FIELDS = {"random": {"p", "seed"}, "constant": {"value"}, "inverted": {"of"}}
_OF = {"checker": "exact", "params": {"answer": "4"}}


class ControlParams(Params):
    """What to score by instead of the answer. Each kind has its own fields.

    Attributes:
        kind: `random`, `constant` or `inverted`.
        p: of `random`: the share of completions that get 1.
        seed: of `random`: another seed draws anew.
        value: of `constant`: the score.
        of: of `inverted`: the check whose score s becomes 1 - s.
    """

    kind: Literal["random", "constant", "inverted"]
    p: Share = 0.5
    seed: int = 0
    value: Share = 1.0
    of: Nested | None = None

    @model_validator(mode="after")
    def _has_its_own_fields(self) -> Self:
        foreign = self.model_fields_set - _FIELDS[self.kind] - {"kind"}
        if foreign:
            raise ValueError(f"kind {self.kind!r} takes no {', '.join(sorted(foreign))}")
        if self.kind == "inverted" and self.of is None:
            raise ValueError("kind 'inverted' needs `of`: a checker and its params")
        return self


class ControlChecker(Checker[ControlParams]):
    """Scores at random, by a constant, or by the opposite of another checker.

    Random scores are a function of the item (its request hash) and the seed, so that the
    same item gets the same score in every run and on every host.
    """

    name = "control"
    version = "1.0.0"
    Params = ControlParams
    examples = (
        Example("anything", {"kind": "constant", "value": 1}, 1.0),
        Example("5", {"kind": "inverted", "of": _OF}, 1.0, Outcome.ACCEPTED),
        Example("anything", {"kind": "random", "p": 1}, 1.0),
        Example("anything", {"kind": "random", "p": 0}, 0.0, Outcome.WRONG_ANSWER),
        Example("anything", {"kind": "constant", "value": 0}, 0.0),
        Example("4", {"kind": "inverted", "of": _OF}, 0.0, Outcome.WRONG_ANSWER),
        Example(
            "4",
            {"kind": "inverted", "of": {"checker": "exact", "params": {"answer": ""}}},
            None,
            Outcome.BAD_REFERENCE,
            note="no score has no opposite",
        ),
    )

    def resource_for(self, params: Mapping[str, Any]) -> Resource:
        """What the inverted check needs."""
        return strongest_resource(params)

    def time_budget_s(self, params: ControlParams) -> float:
        """The inverted check's time besides our own."""
        return self.time_limit_s + (params.of.time_budget_s() if params.of else 0.0)

    def prepare(self, params: ControlParams) -> None:
        """Raises BadReference for the inverted check's own reason."""
        if params.of:
            check_size(params.model_dump())
            params.of.prepare("of")

    def check(self, completion: str, params: ControlParams, ctx: CheckContext) -> Judgement:
        """Scores; see `ControlParams`."""
        if params.of:
            return _inverted(ctx.judge(params.of.checker, completion, params.of.params), params.of)
        if params.kind == "constant":
            return Judgement.graded(params.value, "a constant, whatever the answer")
        drawn = _uniform(params.seed, ctx.request_hash) < params.p
        return Judgement.graded(
            float(drawn), f"drawn at random with p = {params.p:g}, whatever the answer"
        )


def _inverted(judgement: Judgement, of: Nested) -> Judgement:
    if judgement.score is None:
        return replace(judgement, explanation=f"inverted {of.checker}: {judgement.explanation}")
    opposite = Judgement.graded(
        1 - judgement.score,
        f"inverted: {of.checker} gave {judgement.score:.3g} ({judgement.explanation})",
    )
    return replace(
        judgement,
        outcome=opposite.outcome,
        score=opposite.score,
        explanation=opposite.explanation,
    )


def _uniform(seed: int, request_hash: str) -> float:
    """A number in [0, 1) that depends on nothing else."""
    digest = hashlib.sha256(f"{seed}:{request_hash}".encode()).digest()
    # 53 bits: all that a float in [0, 1) holds, so that 1 is never reached by rounding.
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53
