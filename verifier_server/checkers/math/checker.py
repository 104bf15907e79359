"""The `math` checker: extracts an answer, reads it and the gold, compares by a stated policy.

Everything is exact where it can be and bounded where it can't; but in mode `math-verify`,
nothing from a completion is handed to `eval`, `sympify` or a parser that we don't own.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from verifier_server.checkers.base import CheckContext, Checker, Example, Params
from verifier_server.checkers.math import judge
from verifier_server.checkers.math.extract import extract
from verifier_server.checkers.math.extracted import Missing
from verifier_server.checkers.math.modes import get_mode
from verifier_server.checkers.math.policy import Policy
from verifier_server.verdict import Judgement, Outcome

_CACHED_GOLDS = 4096
_ANSWER_ALONE = frozenset({"answer"})
_DEFAULT_POLICY = Policy()


class Tolerance(BaseModel):
    """How far a number may be off; either suffices."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    abs: Annotated[float, Field(ge=0)] | None = None
    rel: Annotated[float, Field(ge=0)] | None = None


class MathParams(Params):
    """The reference and how to compare with it."""

    answer: str | Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        description="the gold in LaTeX or plain text, or several of which any counts"
    )
    tolerance: Tolerance | None = None
    percent: Literal["lenient", "strict"] = "lenient"
    units: Literal["optional", "required"] = "optional"
    list_order: Literal["free", "kept"] = "free"
    extraction: Literal["standard", "boxed", "lenient"] = "standard"
    mode: Literal["standard", "dapo", "hendrycks", "math-verify"] = Field(
        "standard", description="another grader's rules, which take no other options"
    )

    @model_validator(mode="after")
    def _takes_no_options(self) -> Self:
        """Other rules than ours have no options of ours, so one that is set is a mistake."""
        if self.mode != "standard":
            without_effect = self.model_fields_set - {"answer", "mode"}
            for name in sorted(without_effect):
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise ValueError(f"mode {self.mode!r} has no option {name!r}")
        return self

    @property
    def golds(self) -> tuple[str, ...]:
        """The reference as a sequence."""
        return (self.answer,) if isinstance(self.answer, str) else self.answer

    @property
    def policy(self) -> Policy:
        """The options that equality depends on."""
        tolerance = self.tolerance
        if self.model_fields_set <= _ANSWER_ALONE:
            return _DEFAULT_POLICY
        return Policy(
            absolute=_decimal(tolerance.abs) if tolerance else None,
            relative=_decimal(tolerance.rel) if tolerance else None,
            percent_is_lenient=self.percent == "lenient",
            needs_units=self.units == "required",
            keeps_order=self.list_order == "kept",
        )


def _decimal(number: float | None) -> Fraction | None:
    """The decimal that was written, not the binary fraction nearest to it."""
    return None if number is None else Fraction(repr(number))


@lru_cache(maxsize=_CACHED_GOLDS)
def _prepared(params: MathParams) -> judge.Task:
    return judge.read_task(params.golds, params.policy)


class MathChecker(Checker[MathParams]):
    """Compares a mathematical answer with a gold."""

    name: ClassVar[str] = "math"
    version: ClassVar[str] = "3"
    Params: ClassVar[type[Params]] = MathParams
    examples: ClassVar[tuple[Example, ...]] = (
        Example(r"So it is $\boxed{0.5}$.", {"answer": r"\frac12"}, 1.0),
        Example("**Final answer:** $x = 3$", {"answer": "3"}, 1.0),
        Example(r"\boxed{(x+1)^2}", {"answer": "x^2+2x+1"}, 1.0),
        Example(r"\boxed{2 \text{ or } 3}", {"answer": "2"}, 0.0, Outcome.WRONG_ANSWER),
        Example(r"\boxed{10 \text{ m}}", {"answer": r"10 \text{ cm}"}, 0.0, Outcome.WRONG_ANSWER),
        Example(r"\boxed{9^{9^{9^{9}}}}", {"answer": "1"}, 0.0, note="refused by its size"),
        Example("It might be 7.", {"answer": "7"}, 0.0, Outcome.NO_ANSWER),
        Example(r"\boxed{1}", {"answer": r"\frac{1}{"}, None, Outcome.BAD_REFERENCE),
    )

    def prepare(self, params: MathParams) -> None:
        """Reads the gold.

        Raises:
            BadReference: it doesn't parse, or doesn't equal itself.
        """
        if params.mode == "standard":
            _prepared(params)
        else:
            get_mode(params.mode).check_golds(params.golds)

    def check(self, completion: str, params: MathParams, ctx: CheckContext) -> Judgement:
        """Judges. See the base class."""
        if params.mode != "standard":
            return get_mode(params.mode).judge(completion, params.golds)
        task = _prepared(params)
        found = extract(completion, params.extraction)
        if isinstance(found, Missing):
            return Judgement.reject(Outcome.NO_ANSWER, found.why)
        return judge.judge(found, task, ctx.prompt)

    def warm(self) -> None:
        """Imports and starts what the slower paths need."""
        from verifier_server.checkers.math import numeric, units
        from verifier_server.checkers.math.modes import math_verify

        numeric.warm()
        units.warm()
        math_verify.warm()
