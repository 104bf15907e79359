"""What counts as equal beyond equality itself: every number and option in one place."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

GOLD_DIGITS = 3  # a gold decimal of so many significant digits is met by what rounds to it
ANSWER_DIGITS = 6  # an answer of so many stands for the closed form that rounds to it
LINK_DIGITS = 3  # in `\frac{100}{3} \approx 33.3` the exact form stays the answer
MAX_ITEMS = 32  # of a list whose elements are no plain numbers
CONSTANT_LETTERS = frozenset("CKck")


@dataclass(frozen=True, slots=True)
class Policy:
    r"""The options of one task.

    Attributes:
        absolute, relative: tolerances; either suffices, None for none.
        percent_is_lenient: `50\%` equals 50 as well as 0.5.
        needs_units: a gold's unit may not be missing.
        keeps_order: of bare lists.
    """

    absolute: Fraction | None = None
    relative: Fraction | None = None
    percent_is_lenient: bool = True
    needs_units: bool = False
    keeps_order: bool = False


class Match(NamedTuple):
    """Whether an answer is right; if not, `why` completes "wrong: …"."""

    ok: bool
    why: str = ""


YES = Match(True)


def no(why: str) -> Match:
    """The answer is wrong, because."""
    return Match(False, why)
