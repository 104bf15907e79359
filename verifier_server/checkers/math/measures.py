"""Numbers with something after them: percent signs, units, bases."""

from __future__ import annotations

from fractions import Fraction

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math import units
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.policy import YES, Match, Policy, no
from verifier_server.checkers.math.scalars import match_scalars
from verifier_server.checkers.math.values import BaseNumeral, Percent, Quantity, Scalar

_LONGEST_NUMERAL = 10**200

Measure = Scalar | Percent | Quantity | BaseNumeral


def match_measures(gold: Measure, answer: Measure, policy: Policy) -> Match:
    """Judges numbers, whatever follows them on either side.

    Raises:
        TooLarge: the answer can't be evaluated within bounds.
    """
    match gold, answer:
        case (BaseNumeral(), _) | (_, BaseNumeral()):
            return _match_bases(gold, answer)
        case Scalar(a), Scalar(b):
            return match_scalars(a, b, policy)
        case (Percent(), _) | (_, Percent()):
            return _match_percent(gold, answer, policy)
        case Quantity(), Quantity():
            return _match_quantities(gold, answer, policy)
        case Quantity(a, unit), Scalar(b):
            if policy.needs_units:
                return no(f"the unit is missing ({unit.name})")
            return _match_bare(a, unit, b, policy)
        case Scalar(a), Quantity(b, unit):
            if unit.is_angle and _has_pi(a):
                b = units.converted(b, unit, units.RADIAN)
            return match_scalars(a, b, policy)
    return no("it is of another kind than the reference")


def _has_pi(expr: Expr) -> bool:
    return ex.Const("pi") in ex.walk(expr)


def _match_bare(gold: Expr, unit: units.Unit, answer: Expr, policy: Policy) -> Match:
    """A quantity by a number without its unit, which for an angle may be in radians."""
    found = match_scalars(gold, answer, policy)
    if not found.ok and unit == units.DEGREE and _has_pi(answer):
        return match_scalars(units.converted(gold, unit, units.RADIAN), answer, policy)
    return found


def _match_quantities(gold: Quantity, answer: Quantity, policy: Policy) -> Match:
    if gold.unit.dimension != answer.unit.dimension:
        return no(f"units differ: {answer.unit.name} is no measure in {gold.unit.name}")
    same_unit = units.converted(answer.expr, answer.unit, gold.unit)
    found = match_scalars(gold.expr, same_unit, policy)
    if (
        not found.ok
        and answer.unit != gold.unit
        and match_scalars(gold.expr, answer.expr, policy).ok
    ):
        return no(f"units differ: the reference is in {gold.unit.name}")
    return found


def _match_percent(gold: Measure, answer: Measure, policy: Policy) -> Match:
    """As values; leniently also as the numbers before the sign."""
    match gold, answer:
        case Percent(a), Percent(b):
            return match_scalars(a, b, policy)
        case Percent(a), Scalar(b):
            # In per cent, so that 33.3% keeps its digits when 1/3 is to round to it.
            found = match_scalars(a, ex.scaled(b, Fraction(100)), policy)
        case Scalar(a), Percent(b):
            found = match_scalars(a, ex.scaled(b, Fraction(1, 100)), policy)
        case _:
            return no("a percentage has no unit")
    if not found.ok and policy.percent_is_lenient:
        return match_scalars(a, b, policy)
    return found


def _match_bases(gold: Measure, answer: Measure) -> Match:
    expected, found = _numeral(gold), _numeral(answer)
    if expected is None or found is None:
        return no("it is no numeral like the reference")
    (digits, base), (others, other) = expected, found
    if base is not None and other is not None and base != other:
        return no(f"bases differ: {other} is not {base}")
    return YES if digits == others else no("it has other digits")


def _numeral(side: Measure) -> tuple[str, int | None] | None:
    """Digits and base (None if not given)."""
    match side:
        case BaseNumeral(digits, base):
            return digits, base
        case Scalar(ex.Num(value, None)) if value.denominator == 1 and value < _LONGEST_NUMERAL:
            return str(value.numerator), None
    return None
