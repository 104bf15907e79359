"""Written numbers: decimals with their digits, mixed numbers, powers of ten, periods."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr, Num
from verifier_server.checkers.math.faults import Malformed, TooLarge, Unsupported
from verifier_server.checkers.math.tokens import Kind

if TYPE_CHECKING:
    from verifier_server.checkers.math.grammar import Parser

MAX_DIGITS = 4000
MAX_EXPONENT = 9999
_PERIOD_COMMANDS = frozenset({"overline", "bar", "dot"})
_PLAIN = re.compile(
    r"""(?P<sign>-?)(?:
      (?P<number>\d{1,300}(?:\.\d{1,300})?|\.\d{1,300}|[1-9]\d{0,2}(?:,\d{3}){1,99})
    | (?P<a>\d{1,300})/(?P<b>\d{1,300})
    | \\[dt]?frac\{(?P<minus>-?)(?P<num>\d{1,300})\}\{(?P<den>\d{1,300})\}
    )""",
    re.VERBOSE | re.ASCII,
)
_REPEATS = 3  # 0.333… shows its period; 0.33… might go on as it likes


def plain(text: str) -> Expr | None:
    r"""The tree of `-5`, `1,024`, `0.25`, `3/8` or `-\frac{3}{8}`, which most answers are.

    Just what the grammar makes of them, without tokens. None for everything else.
    """
    found = _PLAIN.fullmatch(text)
    if found is None:
        return None
    sign, number, a, b, minus, num, den = found.groups()
    if number is not None:
        tree: Expr = literal(number.replace(",", ""))
        return ex.Neg(tree) if sign else tree
    if a is not None:
        return ex.Div(_signed(sign, a), literal(b))
    tree = ex.Div(_signed(minus, num), literal(den))
    return ex.Neg(tree) if sign else tree


def plain_value(text: str) -> Fraction | None:
    """The value of what `plain` reads; None for everything else, and for a division by zero."""
    found = _PLAIN.fullmatch(text)
    if found is None:
        return None
    sign, number, a, b, minus, num, den = found.groups()
    if number is not None:
        whole, _, decimals = number.replace(",", "").partition(".")
        above, below = int(whole + decimals), 10 ** len(decimals)
    else:
        above, below = int(a or num), int(b or den)
    if not below:
        return None
    return Fraction(-above if bool(sign) != bool(minus) else above, below)


def _signed(sign: str, digits: str) -> Expr:
    return ex.Neg(literal(digits)) if sign else literal(digits)


def literal(text: str) -> Num:
    """The number that `123`, `.045` or `4.7e-5` spells.

    Raises:
        TooLarge: it has too many digits or too large an exponent.
    """
    if text.isdecimal() and len(text) <= MAX_DIGITS:
        return Num(Fraction(int(text)))
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or len(exponent.lstrip("+-0")) > len(str(MAX_EXPONENT)):
        raise TooLarge("has a number with too many digits")
    whole, point, decimals = mantissa.partition(".")
    digits = (whole + decimals).lstrip("0")
    shift = int(exponent or "0")
    value = _scaled(int(digits or "0"), shift - len(decimals))
    if not point and not exponent:
        return Num(value)
    return Num(value, places=len(decimals) - shift, significant=len(digits) if point else 0)


def _scaled(n: int, power_of_ten: int) -> Fraction:
    if power_of_ten >= 0:
        return Fraction(n * 10**power_of_ten)
    return Fraction(n, 10**-power_of_ten)


def number(parser: Parser, text: str) -> Num:
    r"""The literal just read, with the period that may follow: `0.\overline{27}`, `0.333…`."""
    whole, _, decimals = text.partition(".")
    token = parser.next
    if token is None or "e" in text.lower():
        return literal(text)
    after = parser.tokens[parser.at + 1] if parser.at + 1 < len(parser.tokens) else None
    if parser.sees(".") and after is not None and after.text in _PERIOD_COMMANDS:
        parser.take()
        return _with_period(whole, "", _period(parser))
    if decimals and token.kind is Kind.STRUCTURE and token.text in _PERIOD_COMMANDS:
        return _with_period(whole, decimals, _period(parser))
    if decimals and parser.take_sign("..."):
        if decimals[-_REPEATS:] != decimals[-1] * _REPEATS:
            raise Unsupported("ends in dots that show no period")
        return _with_period(whole, decimals.rstrip(decimals[-1]), decimals[-1])
    return literal(text)


def _period(parser: Parser) -> str:
    digits = ""
    while (token := parser.next) is not None and token.text in _PERIOD_COMMANDS:
        parser.take()
        braced = parser.sees_open("{")
        if braced:
            parser.take()
        inner = parser.take()
        if inner.kind is not Kind.NUMBER or not inner.text.isdigit():
            raise Malformed("has a period without digits")
        digits += inner.text
        if braced:
            parser.close("}")
    if len(digits) > MAX_DIGITS:
        raise TooLarge("has a period with too many digits")
    return digits


def _with_period(whole: str, decimals: str, period: str) -> Num:
    fixed = literal(f"{whole}.{decimals}" if decimals else whole).value
    scale = 10 ** len(decimals) * (10 ** len(period) - 1)
    return Num(fixed + Fraction(int(period), scale))


def mixed(whole: Expr, part: Expr) -> Expr | None:
    r"""`3\frac12` as 7/2, if it is a whole number before a proper fraction of literals."""
    match whole, part:
        case ex.Neg(arg), _:
            positive = mixed(arg, part)
            return None if positive is None else ex.Neg(positive)
        case Num(n, None), ex.Div(Num(a, None), Num(b, None)) if 0 < a < b:
            if n.denominator == a.denominator == b.denominator == 1:
                return Num(n + a / b)
    return None


def product(factors: Sequence[Expr]) -> Expr:
    r"""The product; a number times a power of ten is one literal (`4.7\times10^5`)."""
    if len(factors) == 1:
        return factors[0]
    if len(factors) == 2 and ex.as_number(factors[0]) is not None:
        match factors[1]:
            case ex.Pow(Num(base), exponent) if base == 10:
                shift = _small_integer(exponent)
                if shift is not None:
                    return _shifted(factors[0], shift)
    return ex.Mul(tuple(factors))


def _small_integer(exponent: Expr) -> int | None:
    sign = 1
    if isinstance(exponent, ex.Neg):
        sign, exponent = -1, exponent.arg
    if not isinstance(exponent, Num) or exponent.value.denominator != 1:
        return None
    return sign * int(exponent.value) if exponent.value <= MAX_EXPONENT else None


def _shifted(mantissa: Expr, shift: int) -> Expr:
    if isinstance(mantissa, ex.Neg):
        return ex.Neg(_shifted(mantissa.arg, shift))
    assert isinstance(mantissa, Num)
    places = (mantissa.places or 0) - shift
    return Num(mantissa.value * _scaled(1, shift), places, mantissa.significant)
