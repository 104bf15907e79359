"""The `composite` checker: one score from several checks of the same completion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field

from verifier_server.checkers.base import CheckContext, Checker, Example, Params, Resource
from verifier_server.checkers.nested import Nested, check_size, strongest_resource
from verifier_server.checkers.texts import excerpt, numbered
from verifier_server.errors import BadReference
from verifier_server.verdict import Fault, Judgement, Outcome

Combine = Literal["weighted", "all", "gate"]

_MATH = {"checker": "exact", "params": {"answer": "4"}, "weight": 3}
_FORMAT = {"checker": "format", "params": {"template": "think"}, "weight": 1}


class Part(Nested):
    """One check and its weight.

    Attributes:
        weight: relative to the other parts'; only `weighted` and `gate` look at it.
        name: its component's; by default the checker's.
    """

    weight: Annotated[float, Field(ge=0, le=1e6)] = 1.0
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class CompositeParams(Params):
    """The parts and how they make one score.

    Attributes:
        parts: judged in this order.
        combine: `weighted` is Σ w·s / Σ w · `all` is 1 if every part is 1, else 0 · `gate`
            is 0 unless the first part is 1, and then the weighted mean of the others (1 if
            there are none); behind a closed gate they are not judged.
    """

    parts: Annotated[list[Part], Field(min_length=1)]
    combine: Combine = "weighted"

    @property
    def names(self) -> list[str]:
        """The components' names, made unique."""
        return numbered(part.name or part.checker for part in self.parts)

    @property
    def weighed(self) -> list[Part]:
        """The parts whose weights count."""
        return self.parts[1:] if self.combine == "gate" else self.parts


class CompositeChecker(Checker[CompositeParams]):
    """Combines other checkers: weighted mean, all of them, or a gate before the rest.

    A part without a score leaves the whole without one: a fault of the task or of the
    service must not look like a worse answer. Components are the parts' scores; null is a
    part that was not judged.
    """

    name = "composite"
    version = "1.0.0"
    Params = CompositeParams
    examples = (
        Example("<think>2+2</think>4", {"parts": [_MATH, _FORMAT]}, 1.0, Outcome.ACCEPTED),
        Example("<think>2+2</think>4", {"parts": [_MATH, _FORMAT], "combine": "all"}, 1.0),
        Example("4", {"parts": [_MATH, _FORMAT]}, 0.75, Outcome.PARTIAL),
        Example("4", {"parts": [_MATH, _FORMAT], "combine": "all"}, 0.0, Outcome.WRONG_ANSWER),
        Example("4", {"parts": [_FORMAT, _MATH], "combine": "gate"}, 0.0, note="a closed gate"),
        Example("<think>4", {"parts": [_MATH, _FORMAT]}, 0.0, Outcome.NO_ANSWER),
        Example(
            "4",
            {"parts": [_MATH, {"checker": "exact", "params": {"answer": ""}}]},
            None,
            Outcome.BAD_REFERENCE,
            note="one part has no reference",
        ),
    )

    def resource_for(self, params: Mapping[str, Any]) -> Resource:
        """The strongest that a part needs."""
        return strongest_resource(params)

    def time_budget_s(self, params: CompositeParams) -> float:
        """The sum of the parts', since they are judged one after another."""
        return self.time_limit_s + sum(part.time_budget_s() for part in params.parts)

    def prepare(self, params: CompositeParams) -> None:
        """Raises BadReference for weights without a sum, or any part's own reason."""
        check_size(params.model_dump())
        if params.weighed and not any(part.weight for part in params.weighed):
            raise BadReference("the weights are all 0", remedy="give a part a weight above 0")
        for name, part in zip(params.names, params.parts, strict=True):
            part.prepare(f"part {name!r}")

    def check(self, completion: str, params: CompositeParams, ctx: CheckContext) -> Judgement:
        """Judges the parts and combines their scores; see `CompositeParams`."""
        names = params.names
        judged: list[Judgement] = []
        for name, part in zip(names, params.parts, strict=True):
            judgement = ctx.judge(part.checker, completion, part.params)
            judged.append(judgement)
            if judgement.score is None:
                why = f"part {name!r} has no score: {judgement.explanation}"
                return Judgement.unscored(judgement.outcome, why, **_merged(names, judged))
            if params.combine == "gate" and judged[0].score != 1:
                break
        score = _combined(params, [judgement.score or 0.0 for judgement in judged])
        explanation = excerpt(f"{params.combine}: {_summary(names, judged)}", 1000)
        fields = _merged(names, judged)
        if score:
            return Judgement.graded(score, explanation, **fields)
        return Judgement.reject(_first_failure(judged), explanation, **fields)


def _combined(params: CompositeParams, scores: Sequence[float]) -> float:
    """The score of the whole. `scores` is shorter than the parts behind a closed gate."""
    if params.combine == "all":
        return float(all(score == 1 for score in scores))
    if params.combine == "gate":
        if scores[0] < 1:
            return 0.0
        scores = scores[1:]
    if not params.weighed:
        return 1.0
    # As fractions, for a tiny weight times a score may round to nothing.
    weights = [Fraction(part.weight) for part in params.weighed]
    weighted = (w * Fraction(s) for w, s in zip(weights, scores, strict=True))
    return float(sum(weighted) / sum(weights))


def _first_failure(judged: Sequence[Judgement]) -> Outcome:
    """The outcome of the first part below 1, where the whole is 0."""
    failed = next((j for j in judged if j.score != 1), None)
    if failed is None or failed.outcome.fault is not Fault.CANDIDATE:
        return Outcome.WRONG_ANSWER
    return failed.outcome


def _summary(names: Sequence[str], judged: Sequence[Judgement]) -> str:
    lines = []
    for name, judgement in zip(names, judged, strict=False):
        reason = "" if judgement.score == 1 else f" ({judgement.explanation})"
        lines.append(f"{name} {judgement.score:.3g}{reason}")
    lines += [f"{name} not judged" for name in names[len(judged) :]]
    return "; ".join(lines)


def _merged(names: Sequence[str], judged: Sequence[Judgement]) -> dict[str, Any]:
    """The fields of the whole that its parts give."""
    scores = [judgement.score for judgement in judged] + [None] * (len(names) - len(judged))
    levels = dict.fromkeys(j.isolation for j in judged if j.isolation != "none")
    cpu_s = [j.cpu_s for j in judged if j.cpu_s is not None]
    memory_bytes = [j.memory_bytes for j in judged if j.memory_bytes is not None]
    return {
        "answer": next((j.answer for j in judged if j.answer is not None), None),
        "components": dict(zip(names, scores, strict=True)),
        "cases": [
            case.model_copy(update={"name": f"{name}: {case.name}"})
            for name, judgement in zip(names, judged, strict=False)
            for case in judgement.cases
        ],
        "isolation": ", ".join(levels) or "none",
        "cpu_s": sum(cpu_s) if cpu_s else None,
        "memory_bytes": max(memory_bytes, default=None),
        "tampering": tuple(dict.fromkeys(kind for j in judged for kind in j.tampering)),
    }
