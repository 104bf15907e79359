r"""Mathematical expressions as immutable trees, and what can be read off them.

A tree says how an expression is written (`3+4`, `\frac{2}{6}`); what it is worth is the
business of `exact` and `numeric`. Depth is bounded by the tokenizer, so walks may recurse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Num:
    """A literal. `places` and `significant` count digits of a decimal; None for integers."""

    value: Fraction
    places: int | None = None
    significant: int = 0


@dataclass(frozen=True, slots=True)
class Sym:
    """An unknown."""

    name: str


@dataclass(frozen=True, slots=True)
class Const:
    """One of `pi`, `e`, `i` and `infty`."""

    name: str


@dataclass(frozen=True, slots=True)
class Add:
    """A sum of at least two terms."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Mul:
    """A product of at least two factors."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Neg:
    """A minus sign."""

    arg: Expr


@dataclass(frozen=True, slots=True)
class Div:
    """A fraction, however written."""

    num: Expr
    den: Expr


@dataclass(frozen=True, slots=True)
class Pow:
    """A power."""

    base: Expr
    exp: Expr


@dataclass(frozen=True, slots=True)
class Func:
    """A function of `args`: `sqrt`, `root` (radicand, index), `log` (argument, base), `sin`."""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Sign:
    r"""A `\pm` (or `\mp`, if `flipped`) before an operand; see `branches`."""

    arg: Expr
    flipped: bool = False


@dataclass(frozen=True, slots=True)
class Limiting:
    """An integral, sum, product, limit or derivative over `var`; absent bounds are None."""

    kind: str
    body: Expr
    var: str
    low: Expr | None = None
    high: Expr | None = None


Expr: TypeAlias = Num | Sym | Const | Add | Mul | Neg | Div | Pow | Func | Sign | Limiting

I = Const("i")  # noqa: E741 - the name that everyone gives it
INFINITY = Const("infty")


def integer(n: int) -> Num:
    """The literal of an integer."""
    return Num(Fraction(n))


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands."""
    match expr:
        case Add(parts) | Mul(parts) | Func(_, parts):
            return parts
        case Neg(arg) | Sign(arg, _):
            return (arg,)
        case Div(a, b) | Pow(a, b):
            return (a, b)
        case Limiting():
            return tuple(e for e in (expr.body, expr.low, expr.high) if e is not None)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all below it."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack += children(node)


def with_children(expr: Expr, parts: tuple[Expr, ...]) -> Expr:
    """The same node over other operands, in the order of `children`."""
    match expr:
        case Add():
            return Add(parts)
        case Mul():
            return Mul(parts)
        case Func(name, _):
            return Func(name, parts)
        case Neg():
            return Neg(*parts)
        case Sign(_, flipped):
            return Sign(parts[0], flipped)
        case Div():
            return Div(*parts)
        case Pow():
            return Pow(*parts)
        case Limiting():
            body, *bounds = parts
            low = bounds.pop(0) if expr.low is not None else None
            high = bounds.pop(0) if expr.high is not None else None
            return replace(expr, body=body, low=low, high=high)
        case _:
            return expr


def symbols(expr: Expr) -> frozenset[str]:
    """The names of its unknowns; those bound by an integral or a sum don't count."""
    match expr:
        case Sym(name):
            return frozenset((name,))
        case Func(name, args) if name.endswith("()"):
            return frozenset((name,)).union(*(symbols(arg) for arg in args))
        case Limiting():
            bounds = (e for e in (expr.low, expr.high) if e is not None)
            inner = symbols(expr.body)
            if expr.kind not in ("derivative", "primitive"):
                inner -= {expr.var}
            return inner.union(*(symbols(e) for e in bounds))
        case _:
            return frozenset().union(*(symbols(e) for e in children(expr)))


def rename(expr: Expr, old: str, new: str) -> Expr:
    """The expression with one unknown called otherwise."""
    if isinstance(expr, Sym):
        return Sym(new) if expr.name == old else expr
    if isinstance(expr, Limiting) and expr.var == old:
        expr = replace(expr, var=new)
    return with_children(expr, tuple(rename(e, old, new) for e in children(expr)))


def branches(expr: Expr) -> tuple[Expr, ...]:
    r"""What `\pm` stands for: both values, all signs of one expression moving together."""
    if not any(isinstance(node, Sign) for node in walk(expr)):
        return (expr,)
    return (_branch(expr, up=True), _branch(expr, up=False))


def _branch(expr: Expr, *, up: bool) -> Expr:
    if isinstance(expr, Sign):
        arg = _branch(expr.arg, up=up)
        return arg if up != expr.flipped else Neg(arg)
    return with_children(expr, tuple(_branch(e, up=up) for e in children(expr)))


def spelled(expr: Expr) -> str:
    """A text that two expressions share iff they are written alike. Numbers in hexadecimal:
    Python refuses to spell long ones in decimal.
    """
    match expr:
        case Num(value, places, _):
            return f"{value.numerator:x}/{value.denominator:x}" + ("" if places is None else ".")
        case Sym(name) | Const(name):
            return f"{type(expr).__name__} {name}"
        case Func(name, _):
            head = name
        case Limiting():
            head = f"{expr.kind} {expr.var} {expr.low is None}"
        case Sign(_, flipped):
            head = f"Sign {flipped}"
        case _:
            head = type(expr).__name__
    return f"{head}({','.join(spelled(part) for part in children(expr))})"


def scaled(expr: Expr, factor: Fraction) -> Expr:
    """The expression times a number. A literal stays one; times a power of ten it keeps digits."""
    match expr:
        case Num(value, places, significant):
            shift = None if places is None else _power_of_ten(factor)
            if places is None or shift is None:
                return Num(value * factor)
            return Num(value * factor, places - shift, significant)
        case Neg(arg):
            return Neg(scaled(arg, factor))
    return Div(expr, Num(1 / factor))


def as_number(expr: Expr) -> Fraction | None:
    """The value of a literal, with its sign; None for anything else."""
    if isinstance(expr, Num):
        return expr.value
    inner = as_number(expr.arg) if isinstance(expr, Neg) else None
    return None if inner is None else -inner


def plain_value(expr: Expr) -> Fraction | None:
    """The value of a literal or a fraction of two, with signs; None for anything else."""
    if isinstance(expr, Neg):
        inner = plain_value(expr.arg)
        return None if inner is None else -inner
    if not isinstance(expr, Div):
        return expr.value if isinstance(expr, Num) else None
    num, den = as_number(expr.num), as_number(expr.den)
    return num / den if num is not None and den else None


def _power_of_ten(factor: Fraction) -> int | None:
    return next((n for n in range(-12, 13) if factor == Fraction(10) ** n), None)


def has_limiting(expr: Expr) -> bool:
    """Whether it holds an integral, sum, product, limit or derivative sign."""
    return any(isinstance(node, Limiting) for node in walk(expr))
