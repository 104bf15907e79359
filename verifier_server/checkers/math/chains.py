r"""Chains and equations: `x = 2\cdot 10 = 20` comes to its last link, if every link is true."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from verifier_server.checkers.math import exact, scalars, symbolic
from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import MathFault, Undefined
from verifier_server.checkers.math.policy import LINK_DIGITS
from verifier_server.checkers.math.values import (
    Named,
    Quantity,
    Relation,
    Scalar,
    Several,
    Value,
)

EQUALITIES = frozenset({"=", "~="})


class FalseLink(MathFault):
    """A chain says that two different things are equal."""


def is_equation(value: Value) -> bool:
    """Whether it is `a = b` or longer, without a plain name on its left."""
    return isinstance(value, Relation) and set(value.signs) <= EQUALITIES


def is_condition(value: Value) -> bool:
    """Whether it is an equation of two sides about unknowns, rather than a chain to work out."""
    if not isinstance(value, Relation) or not is_equation(value) or len(value.sides) > 2:
        return False
    return any(_unknowns(side) != frozenset() for side in value.sides)


def settle(value: Value, same: Callable[[Value, Value], bool]) -> Value:
    """What a chain comes to. Other values are as they were.

    Args:
        value: as parsed.
        same: equality of two links.

    Raises:
        FalseLink: a link is false.
        TooLarge: a link can't be evaluated within bounds.
    """
    match value:
        case Named(name, Relation() as chain, of) if is_equation(chain):
            return Named(name, _last(chain, same, is_part=True), of)
        case Several(form, items, closed):
            return Several(form, tuple(settle(item, same) for item in items), closed)
        case Relation() if is_equation(value):
            return _last(value, same)
    return value


def _last(chain: Relation, same: Callable[[Value, Value], bool], *, is_part: bool = False) -> Value:
    """The last link. `is_part`: a name came before, as in `A = 2r = 10`."""
    result = chain.sides[0]
    for before, after in zip(chain.sides, chain.sides[1:], strict=False):
        if _is_rounded(before, after):
            if result is not before:
                result = before
            continue
        if not _is_checkable(before, after):
            if before is chain.sides[0] and not is_part and _has_coefficients(before):
                raise FalseLink("is an equation that is not solved")
        elif not same(before, after):
            raise FalseLink("equates things that differ")
        result = after
    return result


def _is_checkable(before: Value, after: Value) -> bool:
    """Whether the link claims something: `2x = 10` names a condition, `19 = 20` is false."""
    unknowns = [_unknowns(before), _unknowns(after)]
    if None in unknowns:
        return True
    return unknowns[0] == unknowns[1] and not _has_limiting(before)


def _has_coefficients(side: Value) -> bool:
    """Whether it holds numbers: `2x = 6` is to be solved, `a + b = 6` may be the answer."""
    return isinstance(side, Scalar) and any(_counts(side.expr))


def _counts(expr: Expr) -> Iterator[bool]:
    match expr:
        case ex.Num():
            yield True
        case ex.Pow(base, _):
            yield from _counts(base)
        case ex.Func() | ex.Limiting():
            return
        case _:
            for part in ex.children(expr):
                yield from _counts(part)


def _unknowns(value: Value) -> frozenset[str] | None:
    return ex.symbols(value.expr) if isinstance(value, Scalar | Quantity) else None


def _has_limiting(value: Value) -> bool:
    return isinstance(value, Scalar) and ex.has_limiting(value.expr)


def _is_rounded(before: Value, after: Value) -> bool:
    match before, after:
        case (Scalar(a), Scalar(b)) | (Quantity(a, _), Quantity(b, _)):
            if ex.symbols(a) or exact.rational(b) is None or exact.rational(a) == exact.rational(b):
                return False
            try:
                return scalars.rounds_to(a, b, LINK_DIGITS)
            except Undefined:
                return False
    return False


def same_equation(gold: Relation, answer: Relation) -> bool:
    """Whether two equations say the same: their differences are proportional.

    Raises:
        TooLarge: they can't be evaluated within bounds.
    """
    left, right = _difference(gold), _difference(answer)
    if left is None or right is None:
        return False
    return _proportional(left, right) or symbolic.same_solutions(left, right)


def _difference(equation: Relation) -> Expr | None:
    match equation.sides:
        case (Scalar(a), Scalar(b)):
            return ex.Add((a, ex.Neg(b)))
    return None


def _proportional(left: Expr, right: Expr) -> bool:
    """f(p) g(q) = f(q) g(p) at random points, and neither vanishes."""
    seed = f"{ex.spelled(left)}|{ex.spelled(right)}"
    try:
        points = [exact.Environment(f"{n} {seed}") for n in range(3)]
        f = [exact.at_point(left, point) for point in points]
        g = [exact.at_point(right, point) for point in points]
    except Undefined:
        return False
    return all(f) and all(g) and f[0] * g[1] == f[1] * g[0] and f[0] * g[2] == f[2] * g[0]
