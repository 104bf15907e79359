"""Numbers with what they are numbers of: units, nouns, money, degrees, minutes and seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math import lexicon, units
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import Malformed, Unsupported
from verifier_server.checkers.math.grammar import parse_expression
from verifier_server.checkers.math.tokens import Kind, Token
from verifier_server.checkers.math.values import Quantity, Scalar, Value

_MONEY = frozenset("$€£¥¢")
_LENGTHS = (["'"], ["'", "'"])
_WORDY = (Kind.TEXT, Kind.WORD)


def quantity(tokens: list[Token]) -> Value | None:
    """A number and what follows it: a unit, a noun, a degree sign, a word for a power of ten."""
    primes = [t.text for t in tokens[1:]]
    if primes in _LENGTHS and tokens[0].kind is Kind.NUMBER:
        return Quantity(parse_expression(tokens[:1]), units.of_primes(len(primes)))
    whole = _compound(tokens)
    if whole is not None:
        return whole
    at = _unit_start(tokens)
    if at is None:
        return None
    number, rest = parse_expression(tokens[:at]), tokens[at:]
    magnitude = lexicon.MAGNITUDE_WORDS.get(rest[0].text.lower())
    if magnitude is not None:
        return _with_unit(ex.scaled(number, Fraction(magnitude)), rest[1:])
    if rest[0].text == "^":  # ^\circ
        rest = [t for t in rest if t.text not in ("^", "{", "}")]
    if rest[0].text == "deg":
        minutes = _minutes(rest)
        degrees = ex.as_number(number)
        if minutes is not None and degrees is not None:
            return Quantity(ex.Num(degrees + minutes), units.DEGREE)
        if len(rest) == 1:
            return Quantity(number, units.DEGREE)
    return _with_unit(number, rest)


def _compound(tokens: list[Token]) -> Quantity | None:
    """`5 feet 6 inches` in its first unit."""
    starts = [at for at, token in enumerate(tokens) if token.kind is Kind.NUMBER]
    if len(starts) < 2 or starts[0] != 0:
        return None
    if any(t.kind not in (Kind.NUMBER, *_WORDY) and t.text != "'" for t in tokens):
        return None
    chunks = [tokens[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]
    return joined([quantity(chunk) for chunk in chunks])


def joined(parts: Sequence[Value | None]) -> Quantity | None:
    """The sum of `1 hour` and `30 minutes`; None unless each part is less than one of the
    unit before it.
    """
    first = parts[0]
    if not isinstance(first, Quantity) or len(parts) < 2:
        return None
    total, scale = Fraction(0), None
    for part in parts:
        amount = ex.plain_value(part.expr) if isinstance(part, Quantity) else None
        if amount is None or not isinstance(part, Quantity):
            return None
        size = part.unit.scale
        if part.unit.dimension != first.unit.dimension or part.unit.offset or amount < 0:
            return None
        if scale is not None and not (size < scale and amount * size < scale):
            return None
        total, scale = total + amount * size, size
    return Quantity(ex.Num(total / first.unit.scale), first.unit)


def _with_unit(number: Expr, rest: list[Token]) -> Value:
    unit = units.parse_unit(rest) if rest else None
    return Quantity(number, unit) if unit else Scalar(number)


def _minutes(rest: list[Token]) -> Fraction | None:
    r"""The minutes and seconds of `30^\circ 15' 20''`, in degrees."""
    numbers = [t.text for t in rest if t.text.isdigit() and len(t.text) <= 2]
    spelled = " ".join(t.text for t in rest)
    if len(numbers) == 1 and spelled == f"deg {numbers[0]} '":
        return Fraction(int(numbers[0]), 60)
    if len(numbers) == 2 and spelled == f"deg {numbers[0]} ' {numbers[1]} ' '":
        return Fraction(int(numbers[0]), 60) + Fraction(int(numbers[1]), 3600)
    return None


def _unit_start(tokens: list[Token]) -> int | None:
    depth = 0
    has_function = False
    for at, token in enumerate(tokens):
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        has_function = has_function or token.kind is Kind.FUNCTION
        starts_fraction = [t.kind for t in tokens[at + 1 : at + 3]] == [Kind.OPEN, Kind.TEXT]
        if token.kind is Kind.STRUCTURE and at and starts_fraction:
            return at
        if depth or not at:
            continue
        if token.text.lower() in lexicon.CONSTANT_WORDS:
            continue
        if token.kind is Kind.TEXT or (token.kind is Kind.WORD and _is_unit_word(tokens, at)):
            return at
        if token.text == "min" and at == len(tokens) - 1:
            return at
        is_degree = token.kind is Kind.SIGN and token.text in ("deg", "^")
        # The degrees of \\sin 30^\\circ are the argument's.
        if is_degree and not has_function and _ends_in_degree(tokens[at:]):
            return at
    return None


def _is_unit_word(tokens: list[Token], at: int) -> bool:
    if any(t.kind not in (Kind.NUMBER, Kind.SIGN) for t in tokens[:at]):
        return False
    text = tokens[at].text
    if len(text) > 4 or text.lower() in lexicon.MAGNITUDE_WORDS:
        return True
    try:
        units.parse_unit([tokens[at]], known_only=True)
    except Unsupported:
        return False
    return True


def _ends_in_degree(rest: list[Token]) -> bool:
    """Whether only a degree sign, and what may follow one, is left."""
    texts = [t.text for t in rest if t.text not in ("^", "{", "}")]
    return texts[:1] == ["deg"] and all(
        text in ("'", "C", "F", "K") or text.isdigit() for text in texts[1:]
    )


def quantity_reading(tokens: list[Token]) -> Quantity | None:
    """`5 m` as five metres, which is first read as a product; None if it can't be a quantity."""
    at = next((i for i, t in enumerate(tokens) if _may_be_unit(t)), 0)
    if not at:
        return None
    try:
        unit = units.parse_unit(tokens[at:], known_only=True)
        return Quantity(parse_expression(tokens[:at]), unit) if unit else None
    except (Malformed, Unsupported):
        return None


def _may_be_unit(token: Token) -> bool:
    return token.kind in _WORDY or (token.kind is Kind.NAME and token.text not in ("pi", "e", "i"))


def price(tokens: list[Token]) -> Value | None:
    """`USD 7.50`: a code before its number."""
    if len(tokens) < 2 or tokens[0].kind not in _WORDY or tokens[1].kind is not Kind.NUMBER:
        return None
    is_code = len(tokens[0].text) == 3 and tokens[0].text.isupper()
    unit = units.currency(tokens[0].text) if is_code else None
    return Quantity(parse_expression(tokens[1:]), unit) if unit else None


def money(tokens: list[Token], read: Callable[[list[Token]], Value]) -> Value | None:
    """`$5` or `5€`; `read` reads the amount.

    Raises:
        Unsupported: the amount is no number.
    """
    signs = [i for i, t in enumerate(tokens) if t.kind is Kind.SIGN and t.text in _MONEY]
    if len(signs) != 1:
        return None
    at = signs[0]
    if at not in (0, len(tokens) - 1) and not (at == 1 and tokens[0].text in "-+"):
        return None
    rest = tokens[:at] + tokens[at + 1 :]
    inner = read(rest)
    unit = units.currency(tokens[at].text)
    assert unit is not None, "each sign of money has its unit"
    if isinstance(inner, Quantity):
        same = inner.unit == unit
        return inner if same else Quantity(inner.expr, units.times(unit, inner.unit))
    if not isinstance(inner, Scalar):
        raise Unsupported("has money that is no number")
    return Quantity(inner.expr, unit)
