"""What an answer can be. Built by `parse`, compared by `equality`; all immutable."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.units import Unit


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or an expression."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Percent:
    r"""A number with a percent sign: `50\%` holds 50."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit."""

    expr: Expr
    unit: Unit


@dataclass(frozen=True, slots=True)
class BaseNumeral:
    """Digits with the base they are written in."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Ratio:
    """`2:3:5`; of two parts it may be a time of day as well."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Clock:
    """A time with its half of the day, "" if that is not given."""

    hour: int
    minute: int
    half: str


@dataclass(frozen=True, slots=True)
class Text:
    """Words. `letters` is the run they were typed as, if they could also be a product."""

    words: str
    letters: str = ""


@dataclass(frozen=True, slots=True)
class Labelled:
    r"""A choice with its content: `(D)\ 12`."""

    letter: str
    value: Value


@dataclass(frozen=True, slots=True)
class Dots:
    """The `…` of a sequence."""


class Form(Enum):
    """How several values are held together."""

    LIST = "list"
    BOTH = "joined by and"
    ALTERNATIVES = "alternatives"  # joined by "or"
    BOTH_SIGNS = "both signs"  # what ± stands for
    SET = "set"
    TUPLE = "tuple"  # (a, b): of two, an open interval as well
    BRACKETS = "brackets"  # [a, b]: of two, a closed interval as well
    MIXED = "mixed"  # (a, b] or [a, b): an interval


@dataclass(frozen=True, slots=True)
class Several:
    """Values held together. `closed` tells which ends are square brackets."""

    form: Form
    items: tuple[Value, ...]
    closed: tuple[bool, bool] = (False, False)

    @property
    def is_list(self) -> bool:
        """Whether nothing but commas or words joins them."""
        return self.form in (Form.LIST, Form.BOTH, Form.ALTERNATIVES, Form.BOTH_SIGNS)


@dataclass(frozen=True, slots=True)
class Union_:
    r"""Sets joined by `\cup`, or minus another (`minus`)."""

    parts: tuple[Value, ...]
    minus: Value | None = None


@dataclass(frozen=True, slots=True)
class Reals:
    """All real numbers."""


@dataclass(frozen=True, slots=True)
class Relation:
    """`a < b <= c`: sides and the signs between them. Sides of an equation are any values."""

    sides: tuple[Value, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    r"""A value with the unknown or label it belongs to: `x=3`, `f(t)=t^2`, `\text{Area}=48`.

    `of` is the variable of a function. The value of `x = a = b` is the relation `a = b`.
    """

    name: str
    value: Value
    of: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of values. `kind` is empty, or what makes it no matrix (`det`)."""

    rows: tuple[tuple[Value, ...], ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Cases:
    """A function by cases: (value, condition) each; the condition of "otherwise" is None."""

    rows: tuple[tuple[Value, Value | None], ...]


@dataclass(frozen=True, slots=True)
class Opaque:
    """Well-formed notation that has no form here: equal only when written alike."""

    tokens: tuple[str, ...]


Value: TypeAlias = (
    Scalar | Percent | Quantity | BaseNumeral | Ratio | Clock | Text | Labelled | Dots
    | Several | Union_ | Reals | Relation | Named | Matrix | Cases | Opaque
)  # fmt: skip

EMPTY = Several(Form.SET, ())
