"""What is left for sympy: equations that agree only once their denominators are cleared.

Trees are built node by node from our own model; no text ever reaches sympy's parsers.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr

_MAX_NODES = 80
_MAX_EXPONENT = 6
_MAX_TERMS = 400

Sympy = Any


class _NotPolynomial(Exception):
    """The expression is no rational function of its unknowns with small exponents."""


def same_solutions(left: Expr, right: Expr) -> bool:
    """Whether `left = 0` and `right = 0` have proportional numerators.

    Only for rational functions of a modest size; False where that is not given.
    """
    if sum(1 for tree in (left, right) for _ in ex.walk(tree)) > _MAX_NODES:
        return False
    import sympy

    try:
        numerators = [sympy.fraction(sympy.together(_build(tree)))[0] for tree in (left, right)]
    except _NotPolynomial:
        return False
    first, second = (sympy.Poly(n) if n.free_symbols else None for n in numerators)
    if first is None or second is None or first.gens != second.gens:
        return False
    if max(len(first.terms()), len(second.terms())) > _MAX_TERMS:
        return False
    return bool(first.monic() == second.monic())


def _build(tree: Expr) -> Sympy:
    import sympy

    match tree:
        case ex.Num(value):
            return sympy.Rational(value.numerator, value.denominator)
        case ex.Sym(name):
            return sympy.Symbol(name)
        case ex.Add(terms):
            return sympy.Add(*(_build(term) for term in terms))
        case ex.Mul(factors):
            return sympy.Mul(*(_build(factor) for factor in factors))
        case ex.Neg(arg):
            return -_build(arg)
        case ex.Div(num, den):
            return _build(num) / _build(den)
        case ex.Pow(base, ex.Num(n)) if n.denominator == 1 and 0 <= n <= _MAX_EXPONENT:
            return reduce(lambda a, b: a * b, [_build(base)] * int(n), sympy.Integer(1))
    raise _NotPolynomial
