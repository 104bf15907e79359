"""When two numbers or two expressions are the same answer.

Exact first. What then still counts: a closed form that rounds to a decimal gold, a long
decimal that a closed-form gold rounds to, and a tolerance that the task asks for.
"""

from __future__ import annotations

from fractions import Fraction

from verifier_server.checkers.math import exact, identity, numeric
from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import Undefined
from verifier_server.checkers.math.policy import (
    ANSWER_DIGITS,
    CONSTANT_LETTERS,
    GOLD_DIGITS,
    YES,
    Match,
    Policy,
    no,
)

_LONGEST_DECIMAL = 30  # a value that ends within so many places is written out, not closed


def match_scalars(gold: Expr, answer: Expr, policy: Policy) -> Match:
    """Judges one expression by another.

    Raises:
        TooLarge: the answer can't be evaluated within bounds.
    """
    expected, found = ex.plain_value(gold), ex.plain_value(answer)
    if expected is not None and expected == found:
        return YES  # which most right answers are
    if gold == answer:
        return YES
    if ex.has_limiting(answer) and not ex.has_limiting(gold):
        return no("an integral, sum, limit or derivative is left to do")
    if ex.symbols(gold) or ex.symbols(answer):
        return _match_expressions(gold, answer)
    infinite = infinite_sign(gold), infinite_sign(answer)
    if any(infinite):
        return YES if infinite[0] == infinite[1] else no("it is not the same infinity")
    if is_unevaluated(answer) and not _calculates(gold):
        return no("a sum or product of numbers is left to do")
    try:
        return _match_numbers(gold, answer, policy)
    except Undefined as error:
        return no(f"it {error}")


def is_unevaluated(expr: Expr) -> bool:
    r"""Whether a sum or a product of rational numbers is left to do (`3+4`, `\frac{2\cdot3}5`)."""
    return any(
        isinstance(node, ex.Add | ex.Mul) and all(_is_rational(part) for part in ex.children(node))
        for node in ex.walk(expr)
    )


def _calculates(gold: Expr) -> bool:
    """Whether the gold itself is written as something to be worked out (`2^{10}-1`, `5!`)."""
    return is_unevaluated(gold) or any(
        (isinstance(node, ex.Pow) and _is_rational(node))
        or (isinstance(node, ex.Func) and node.name in ("factorial", "binomial"))
        for node in ex.walk(gold)
    )


def _is_rational(expr: Expr) -> bool:
    try:
        return exact.rational(expr) is not None
    except Undefined:
        return False


def infinite_sign(expr: Expr) -> int:
    """1 or -1 for plus and minus infinity, else 0."""
    match expr:
        case ex.Const("infty"):
            return 1
        case ex.Neg(arg):
            return -infinite_sign(arg)
    return 0


def rounds_to(value: Expr, decimal: Expr, digits: int) -> bool:
    """Whether a decimal of at least `digits` significant digits is the rounded value.

    Raises:
        TooLarge, Undefined: the value can't be had.
    """
    literal = _literal(decimal)
    if literal is None or literal.places is None or literal.significant < digits:
        return False
    target = exact.rational(decimal)
    found = exact.rational(value)
    if found is None:
        found = numeric.real_value(value)
    if found is None or target is None:
        return False
    return abs(found - target) <= _half_unit(literal)


def _half_unit(literal: ex.Num) -> Fraction:
    places = literal.places or 0
    return Fraction(1, 2 * 10**places) if places >= 0 else Fraction(10**-places, 2)


def _literal(expr: Expr) -> ex.Num | None:
    while isinstance(expr, ex.Neg):
        expr = expr.arg
    return expr if isinstance(expr, ex.Num) else None


def _match_numbers(gold: Expr, answer: Expr, policy: Policy) -> Match:
    expected, found = exact.rational(gold), exact.rational(answer)
    if expected is None or found is None:
        if identity.same(gold, answer):
            return YES
    elif expected == found:
        return YES
    if not _terminates(answer, found) and rounds_to(answer, gold, GOLD_DIGITS):
        return YES
    if not _terminates(gold, expected) and rounds_to(gold, answer, ANSWER_DIGITS):
        return YES
    if policy.absolute is not None or policy.relative is not None:
        return _within(gold, answer, policy)
    return no("it has another value")


def _terminates(expr: Expr, value: Fraction | None) -> bool:
    """Whether the value can be written out as a decimal."""
    if value is None:
        value = numeric.real_value(expr)
        if value is None:
            return False
        scaled = value * Fraction(10**_LONGEST_DECIMAL)
        return abs(scaled - round(scaled)) < Fraction(1, 10**20)
    denominator = value.denominator
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    return denominator == 1


def _within(gold: Expr, answer: Expr, policy: Policy) -> Match:
    expected, found = _real(gold), _real(answer)
    if expected is None or found is None:
        return no("it has another value")
    off = abs(expected - found)
    if policy.absolute is not None and off <= policy.absolute:
        return YES
    if policy.relative is not None and off <= policy.relative * abs(expected):
        return YES
    return no("it is outside the tolerance")


def _real(expr: Expr) -> Fraction | None:
    value = exact.rational(expr)
    return numeric.real_value(expr) if value is None else value


# -- expressions with unknowns -------------------------------------------------------------


def _match_expressions(gold: Expr, answer: Expr) -> Match:
    constant = added_constant(gold)
    if constant is None:
        return YES if identity.same(gold, answer) else no("it is another expression")
    others = ex.symbols(gold) - {constant}
    letter = next((name for name in _added_symbols(answer) if name not in others), None)
    if letter is None:
        return no("the constant of integration is missing")
    rest = _without(answer, letter)
    if letter in ex.symbols(rest):
        return no(f"{letter} is no constant of integration there")
    if _differ_by_constant(_without(gold, constant), rest):
        return YES
    return no("it is no primitive of the same function")


def added_constant(gold: Expr) -> str | None:
    """The letter of a constant of integration, if the expression ends in one."""
    for name in _added_symbols(gold):
        others = ex.symbols(_without(gold, name))
        is_constant = name[0] in CONSTANT_LETTERS and (len(name) == 1 or name[1] == "_")
        if is_constant and others and name not in others and (name.isupper() or len(others) == 1):
            return name
    return None


def _added_symbols(expr: Expr) -> list[str]:
    if not isinstance(expr, ex.Add):
        return []
    return [term.name for term in expr.terms if isinstance(term, ex.Sym)]


def _without(expr: Expr, name: str) -> Expr:
    assert isinstance(expr, ex.Add)
    rest = tuple(term for term in expr.terms if term != ex.Sym(name))
    return rest[0] if len(rest) == 1 else ex.Add(rest) if rest else ex.integer(0)


def _differ_by_constant(gold: Expr, answer: Expr) -> bool:
    if identity.same(gold, answer):
        return True
    difference = ex.Add((answer, ex.Neg(gold)))
    return all(
        identity.same(difference, _shifted(difference, name)) for name in ex.symbols(difference)
    )


def _shifted(expr: Expr, name: str) -> Expr:
    """The expression at another value of one unknown."""
    if expr == ex.Sym(name):
        return ex.Add((expr, ex.Num(Fraction(3, 7))))
    return ex.with_children(expr, tuple(_shifted(part, name) for part in ex.children(expr)))
