"""What is left for sympy: equations that agree only once their denominators are cleared.

Trees are built node by node from our own model; no text ever reaches sympy's parsers.
"""

from __future__ import annotations

import math
from typing import Any

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr

_MAX_DEGREE = 16  # once all is multiplied out
_MAX_TERMS = 1000

Sympy = Any


class _NotPolynomial(Exception):
    """The expression is no rational function of its unknowns."""


def same_solutions(left: Expr, right: Expr) -> bool:
    """Whether `left = 0` and `right = 0` have proportional numerators.

    Only for rational functions of a modest size; False where that is not given.
    """
    names = sorted(ex.symbols(left) | ex.symbols(right))
    try:
        degree = max(_degree_bound(left), _degree_bound(right))
        if degree > _MAX_DEGREE or math.comb(degree + len(names), degree) > _MAX_TERMS:
            return False
        import sympy

        unknowns = [sympy.Symbol(name) for name in names]
        first, second = (
            sympy.Poly(sympy.fraction(sympy.together(_build(tree)))[0], *unknowns)
            for tree in (left, right)
        )
    except (_NotPolynomial, ZeroDivisionError):
        return False
    if first.is_ground or second.is_ground:
        return False
    return bool(first.monic() == second.monic())


def _degree_bound(tree: Expr) -> int:
    """At least the degree of the numerator over a common denominator."""
    match tree:
        case ex.Num():
            return 0
        case ex.Sym():
            return 1
        case ex.Pow(base, ex.Num(n)) if n.denominator == 1 and 0 <= n <= _MAX_DEGREE:
            return _degree_bound(base) * int(n)
        case ex.Add() | ex.Mul() | ex.Neg() | ex.Div():
            return sum(_degree_bound(part) for part in ex.children(tree))
    raise _NotPolynomial


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
        case ex.Pow(base, ex.Num(n)):
            return _build(base) ** int(n)
    raise _NotPolynomial
