"""What a check concludes. Pure data, no I/O.

`Judgement` is what a checker returns; `Verdict` is the same on the wire, with the item's
identity and the service's measurements around it. Both keep the product's central rule:
`score` is None if and only if the fault is the task's or the service's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from functools import cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator


class Outcome(StrEnum):
    """The closed set of results; each belongs to exactly one `Fault`."""

    ACCEPTED = "accepted"
    PARTIAL = "partial"
    WRONG_ANSWER = "wrong_answer"
    NO_ANSWER = "no_answer"
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    POLICY_VIOLATION = "policy_violation"
    BAD_REFERENCE = "bad_reference"
    CHECKER_ERROR = "checker_error"
    SANDBOX_ERROR = "sandbox_error"
    OVERLOADED = "overloaded"
    CANCELLED = "cancelled"

    @property
    def fault(self) -> Fault:
        """Who is responsible for this outcome."""
        return _FAULTS.get(self, Fault.CANDIDATE)

    def fits(self, score: float | None) -> bool:
        """Whether a verdict with this outcome may have that score."""
        if self is Outcome.ACCEPTED:
            return score == 1
        if not self.fault.is_scored or score is None or not math.isfinite(score):
            return score is None and not self.fault.is_scored
        if self is Outcome.PARTIAL:
            return 0 < score < 1
        return score == 0


class Fault(StrEnum):
    """Who is responsible for a score that is not 1."""

    NONE = "none"
    CANDIDATE = "candidate"
    TASK = "task"
    SERVICE = "service"

    @property
    def is_scored(self) -> bool:
        """Whether a verdict with this fault carries a number."""
        return self in (Fault.NONE, Fault.CANDIDATE)


class Tampering(StrEnum):
    """What a candidate was seen to try on its verdict."""

    ALWAYS_EQUAL = "always_equal"
    FORGED_FRAME = "forged_frame"
    FORGED_REPORT = "forged_report"
    MUTANT_PASSED = "mutant_passed"
    REFUSED_SYSCALL = "refused_syscall"


_FAULTS = {
    Outcome.ACCEPTED: Fault.NONE,
    Outcome.PARTIAL: Fault.NONE,
    Outcome.BAD_REFERENCE: Fault.TASK,
    Outcome.CHECKER_ERROR: Fault.SERVICE,
    Outcome.SANDBOX_ERROR: Fault.SERVICE,
    Outcome.OVERLOADED: Fault.SERVICE,
    Outcome.CANCELLED: Fault.SERVICE,
}


class Case(BaseModel):
    """One test of a check with several. Texts are cut to a readable size by the checker."""

    model_config = ConfigDict(frozen=True)

    name: str
    outcome: Outcome
    score: float | None = Field(None, allow_inf_nan=False)
    input: str | None = None
    expected: str | None = None
    got: str | None = None
    message: str | None = None


class Usage(BaseModel):
    """What a verdict cost. `cpu_s` and `memory_bytes` are None where nothing measures them."""

    queue_s: float = 0.0
    run_s: float = 0.0
    cpu_s: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A checker's conclusion about one completion.

    Raises:
        ValueError: the score does not fit the outcome, or a part of it has no place on the
            wire (a bug in a checker).
    """

    outcome: Outcome
    score: float | None
    explanation: str = ""
    answer: str | None = None
    components: Mapping[str, float | None] = field(default_factory=dict)
    cases: Sequence[Case] = ()
    isolation: str = "none"
    cpu_s: float | None = None
    memory_bytes: int | None = None
    tampering: Sequence[Tampering] = ()
    evidence: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.outcome.fits(self.score):
            raise ValueError(f"score {self.score!r} does not fit outcome {self.outcome.value!r}")
        if not (isinstance(self.explanation, str) and isinstance(self.answer, str | None)):
            raise ValueError("the explanation and the answer must be text")
        if not all(part is None or math.isfinite(part) for part in self.components.values()):
            raise ValueError(f"components must be finite or None, not {dict(self.components)!r}")

    @classmethod
    def accept(cls, explanation: str = "", **fields: Any) -> Judgement:
        """Score 1."""
        return cls(Outcome.ACCEPTED, 1.0, explanation, **fields)

    @classmethod
    def reject(cls, outcome: Outcome, explanation: str, **fields: Any) -> Judgement:
        """Score 0, by the candidate's fault; `explanation` makes it understandable."""
        return cls(outcome, 0.0, explanation, **fields)

    @classmethod
    def graded(cls, score: float, explanation: str = "", **fields: Any) -> Judgement:
        """A score in [0, 1]: accepted at 1, wrong_answer at 0, partial between."""
        if score == 1:
            return cls.accept(explanation, **fields)
        outcome = Outcome.PARTIAL if score else Outcome.WRONG_ANSWER
        return cls(outcome, float(score), explanation, **fields)

    @classmethod
    def unscored(cls, outcome: Outcome, explanation: str, **fields: Any) -> Judgement:
        """No score: the task's or the service's fault."""
        return cls(outcome, None, explanation, **fields)

    def to_wire(self) -> dict[str, Any]:
        """As plain data, for other processes of the service."""
        wire: dict[str, Any] = {"outcome": self.outcome, "score": self.score}
        for name, default in _optional().items():
            value = getattr(self, name)
            if value != default and (value or isinstance(value, str | int | float)):
                wire[name] = value
        if self.components:
            wire["components"] = dict(self.components)
        if self.cases:
            wire["cases"] = [case.model_dump() for case in self.cases]
        if self.evidence:
            wire["evidence"] = dict(self.evidence)
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Judgement:
        """What `to_wire` wrote. Raises ValueError or TypeError if it is none."""
        rest = dict(wire)
        outcome, score = Outcome(rest.pop("outcome")), rest.pop("score")
        if "cases" in rest:
            rest["cases"] = [Case.model_validate(case) for case in rest["cases"]]
        if "tampering" in rest:
            rest["tampering"] = [Tampering(kind) for kind in rest["tampering"]]
        return cls(outcome, score, **rest)


@cache
def _optional() -> dict[str, Any]:
    """A judgement's fields that don't travel where they are as they are by default."""
    return {
        field.name: field.default if field.default is not MISSING else None
        for field in fields(Judgement)
        if field.name not in ("outcome", "score")
    }


class Verdict(BaseModel):
    """A `Judgement` on the wire. `score` is null iff `fault` is `task` or `service`."""

    id: str | None = None
    index: int = 0
    checker: str
    version: str | None = Field(None, description="null where the checker is unknown")
    outcome: Outcome
    fault: Fault
    score: float | None = Field(ge=0, le=1, allow_inf_nan=False)
    answer: str | None = Field(None, description="what was extracted, in canonical form")
    explanation: str = ""
    components: dict[str, float | None] = {}
    cases: list[Case] = []
    evidence: dict[str, JsonValue] = Field(
        {}, description="what a checker found on its way, by its own names (`lean`, `math`)"
    )
    usage: Usage = Usage()
    isolation: str = "none"
    cached: bool = False
    request_hash: str = ""

    @model_validator(mode="after")
    def _agree_with_itself(self) -> Self:
        if self.fault is not self.outcome.fault or not self.outcome.fits(self.score):
            raise ValueError(
                f"outcome {self.outcome.value!r}, fault {self.fault.value!r} and score "
                f"{self.score!r} contradict each other"
            )
        return self
