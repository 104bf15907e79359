r"""Square roots of unknowns that are taken for positive: `\sqrt{8a^2b}` is `a\sqrt b\sqrt8`."""

from __future__ import annotations

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr


def of_positives(tree: Expr) -> Expr:
    """The expression with unknowns taken out of the square roots of products."""
    parts = tuple(of_positives(part) for part in ex.children(tree))
    tree = ex.with_children(tree, parts)
    match tree:
        case ex.Func("sqrt", (ex.Div(num, den),)):
            return ex.Div(*(of_positives(ex.Func("sqrt", (side,))) for side in (num, den)))
        case ex.Func("sqrt", (radicand,)):
            return _taken_out(radicand)
    return tree


def _taken_out(radicand: Expr) -> Expr:
    factors = radicand.factors if isinstance(radicand, ex.Mul) else (radicand,)
    outside: list[Expr] = []
    inside: list[Expr] = []
    for factor in factors:
        match factor:
            case ex.Pow(ex.Sym() as unknown, ex.Num(n)) if n.denominator == 1 and n % 2 == 0:
                outside.append(ex.Pow(unknown, ex.Num(n / 2)))
            case ex.Sym() if len(factors) > 1:
                outside.append(ex.Func("sqrt", (factor,)))
            case _:
                inside.append(factor)
    if not outside:
        return ex.Func("sqrt", (radicand,))
    if inside:
        rest = inside[0] if len(inside) == 1 else ex.Mul(tuple(inside))
        outside.append(ex.Func("sqrt", (rest,)))
    return outside[0] if len(outside) == 1 else ex.Mul(tuple(outside))
