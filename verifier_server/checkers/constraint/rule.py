"""What a rule is: params that can tell what is wrong with a text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Self

from pydantic import Field, model_validator

from verifier_server.checkers.base import Params

Whole = Annotated[int, Field(ge=0)]


class Rule(Params, ABC):
    """One rule of a task. Subclass, give `rule` its literal names, write `fault`."""

    rule: str

    @property
    def label(self) -> str:
        """What the rule's component and case are called."""
        return self.rule

    def prepare(self) -> None:
        """Looks at the rule alone. Raises BadReference if it can't be judged by."""

    @abstractmethod
    def fault(self, text: str) -> str | None:
        """How the text breaks the rule, or None. Time is linear in the text."""


class Bounded(Rule):
    """A rule about a number: `min` and `max` are inclusive, and one of them is given."""

    min: Whole | None = None
    max: Whole | None = None

    @model_validator(mode="after")
    def _has_bounds(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("give `min`, `max` or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"`min` {self.min} is greater than `max` {self.max}")
        return self

    def bounds_fault(self, found: int, what: str) -> str | None:
        """How `found` of `what` lie outside the bounds, or None."""
        return outside(found, self.min, self.max, what)


def outside(found: int, low: int | None, high: int | None, what: str) -> str | None:
    """One clause about a number outside its bounds, or None."""
    if low is not None and found < low:
        return f"{found} {what}, at least {low} expected"
    if high is not None and found > high:
        return f"{found} {what}, at most {high} expected"
    return None
