r"""Equality by evaluation at many digits: refutes at once, and decides where exactness ends.

Real points for the unknowns, mpmath for the functions. A first evaluation at low precision
tells most unequal pairs apart. To be held equal, a pair has to agree to a number of digits
that grows with the size of everything in it, so that an answer cannot be off by less than what
is looked at (`\sqrt2 + 10^{-60}` is looked at with several hundred digits).
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math import multiprecision
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import Undefined
from verifier_server.checkers.math.multiprecision import Evaluator, Number, is_complex

_LOW_BITS = 160
_HIGH_BITS = 320
_MAX_BITS = 6000
_POINTS = 8
_ENOUGH = 3


def equal(gold: Expr, answer: Expr) -> bool | None:
    """Whether both have the same value at every point that was tried; None if none could be.

    Points where the gold is not real are outside what it is about, unless it holds `i`.

    Raises:
        TooLarge: a value on the way is out of bounds.
    """
    names = sorted(ex.symbols(gold) | ex.symbols(answer))
    whole = _counted(gold) | _counted(answer)
    is_complex = any(node == ex.I for node in ex.walk(gold))
    agreed = 0
    for attempt in range(_POINTS if names else 1):
        point = {
            name: _whole_number(name, attempt) if name in whole else _real(name, attempt, negative)
            for name, negative in zip(names, _negatives(attempt, len(names)), strict=True)
        }
        same = _same_at(gold, answer, point, real=bool(names) and not is_complex)
        if same is False:
            return False
        agreed += same is True
        if agreed >= max(_ENOUGH, min(len(names) + 2, 5)):
            return True
    return True if agreed else None


def value(expr: Expr, bits: int = _HIGH_BITS) -> Number:
    """The value of a closed expression.

    Raises:
        Undefined: it has none.
        TooLarge: as above.
    """
    context = multiprecision.context()
    context.prec = bits
    return Evaluator(context, {}).value(expr)


def real_value(expr: Expr) -> Fraction | None:
    """The value as a fraction correct to about 300 bits, or None if it is not real.

    Raises:
        Undefined, TooLarge: as above.
    """
    number = value(expr)
    if is_complex(number):
        return None
    if not number.real:
        return Fraction(0)
    mantissa, exponent = number.real.man_exp  # of the absolute value
    size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -size if number.real < 0 else size


def _raw(name: str, attempt: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{attempt} {name}".encode(), digest_size=6).digest())


def _whole_number(name: str, attempt: int) -> Fraction:
    return Fraction(1 + _raw(name, attempt) % 9)


def _real(name: str, attempt: int, negative: bool) -> Fraction:
    scale = 1 if attempt % 4 < 2 else 6
    magnitude = Fraction(_raw(name, attempt), 1 << 48) * scale + Fraction(1, 64)
    return -magnitude if negative else magnitude


def _negatives(attempt: int, names: int) -> list[bool]:
    """Which unknowns are negative there: `|a|` must not pass for `a`, nor `|ab|c` for `abc`.

    The last attempts are for what only positive numbers have a value for.
    """
    match attempt:
        case 1:
            return [True] * names
        case 2:
            return [i % 2 == 0 for i in range(names)]
        case 3:
            return [i == 0 for i in range(names)]
        case 4:
            return [i == names - 1 for i in range(names)]
    return [False] * names


def _counted(expr: Expr) -> set[str]:
    """Unknowns that are whole numbers by their use: under `!`, as a sum's bound, in (-1)^n."""
    names: set[str] = set()
    for node in ex.walk(expr):
        match node:
            case ex.Func("factorial" | "binomial", args):
                names.update(*(ex.symbols(arg) for arg in args))
            case ex.Pow(ex.Neg(ex.Num()), exponent):
                names |= ex.symbols(exponent)
            case ex.Limiting("sum" | "prod", _, _, low, high):
                names.update(*(ex.symbols(e) for e in (low, high) if e is not None))
    return names


def _same_at(gold: Expr, answer: Expr, point: dict[str, Fraction], *, real: bool) -> bool | None:
    context = multiprecision.context()
    bits = _LOW_BITS
    while True:
        context.prec = bits
        evaluator = Evaluator(context, point)
        try:
            a = evaluator.value(gold)
            if real and evaluator.left_reals:
                return None
            b = evaluator.value(answer)
        except Undefined:
            return None
        needed = min(_HIGH_BITS + 4 * evaluator.weight, _MAX_BITS)
        if evaluator.is_approximate:
            return bool(abs(a - b) <= context.ldexp(max(abs(a), abs(b), 1), -50))
        if not _close(context, a, b, evaluator.largest, bits):
            return False
        if bits >= needed:
            return True
        bits = needed


def _close(context: Any, a: Number, b: Number, largest: Number, bits: int) -> bool:
    difference = abs(a - b)
    scale = max(abs(a), abs(b))
    if difference <= context.ldexp(scale, -bits // 2):
        return True
    # Both may be zero but for rounding, when larger terms cancelled.
    return bool(difference <= context.ldexp(largest, 40 - bits))


def warm() -> None:
    """Imports mpmath and evaluates once."""
    equal(ex.Func("sqrt", (ex.integer(8),)), ex.Func("sin", (ex.integer(2),)))
