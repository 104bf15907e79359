"""One value without separators: percent, numerals with a base, ratios, times, words."""

from __future__ import annotations

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math import lexicon, quantities, words
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import Malformed, Unsupported
from verifier_server.checkers.math.grammar import parse_expression
from verifier_server.checkers.math.tokens import Kind, Token
from verifier_server.checkers.math.values import (
    BaseNumeral,
    Clock,
    Form,
    Labelled,
    Percent,
    Ratio,
    Scalar,
    Several,
    Text,
    Value,
)

_PERCENT_WORDS = (["percent"], ["percentage"], ["pct"])
_PER_CENT = ["per", "cent"]
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
_CHOICE_WORDS = frozenset({"option", "choice", "answer"})
_HALVES = frozenset({"am", "pm"})
_BASE_WORDS = {**lexicon.NUMBER_WORDS, "binary": 2, "octal": 8, "decimal": 10, "hex": 16}
_BRACKETS = frozenset("{}()")
_MAX_BASE = 36
_WORDY = (Kind.TEXT, Kind.WORD)


def parse_leaf(tokens: list[Token]) -> Value:
    """The value of tokens in which nothing separates, relates or encloses the whole.

    Raises:
        Malformed, Unsupported, TooLarge: there is none.
    """
    if not tokens:
        raise Malformed("has a sign without its number")
    for reader in (
        _choice, quantities.price, _words, _numeral, _money, _percent, _ordinal, _ratio,
        quantities.quantity,
    ):  # fmt: skip
        value = reader(tokens)
        if value is not None:
            return value
    return scalar(parse_expression(tokens))


def scalar(tree: Expr) -> Value:
    r"""An expression as a value; with `\pm`, both of its values."""
    both = ex.branches(tree)
    if len(both) == 1:
        return Scalar(tree)
    return Several(Form.BOTH_SIGNS, tuple(Scalar(branch) for branch in both))


def _choice(tokens: list[Token]) -> Value | None:
    r"""`(D)`, `\text{D.}`, `(D)\ 12` and `\text{Option D}`."""
    if tokens[0].kind in _WORDY and tokens[0].text.lower() in _CHOICE_WORDS:
        has_letter = len(tokens) in (2, 4) and _is_letter(tokens[len(tokens) // 2])
        tokens = tokens[1:] if has_letter else tokens
        if has_letter and len(tokens) == 1:
            return Text(tokens[0].text.lower(), letters=tokens[0].text)
    texts = [t.text for t in tokens]
    if len(texts) >= 3 and texts[0] == "(" and texts[2] == ")" and _is_letter(tokens[1]):
        letter, rest = texts[1], tokens[3:]
        if not rest:
            return Text(letter.lower(), letters=letter)
        if tokens[1].kind is Kind.TEXT or rest[0].spaced:
            return Labelled(letter.lower(), parse_leaf(rest))
    elif len(texts) == 1 and tokens[0].kind is Kind.TEXT and len(texts[0]) == 1:
        return Text(texts[0].lower(), letters=texts[0])
    elif len(texts) > 2 and tokens[0].kind is Kind.TEXT and texts[1] in (".", ")", ":"):
        return Labelled(texts[0].lower(), parse_leaf(tokens[2:])) if _is_letter(tokens[0]) else None
    return None


def _is_letter(token: Token) -> bool:
    return token.kind in (Kind.TEXT, Kind.NAME) and len(token.text) == 1 and token.text.isupper()


def _words(tokens: list[Token]) -> Value | None:
    return words.parse_words(tokens) if words.is_wordy(tokens) else None


def _numeral(tokens: list[Token]) -> Value | None:
    r"""`3142_5`, `(10110)_2`, `1A_{16}`, `3142 \text{ base } 5`."""
    base, digits = _base_of(tokens)
    if base is None or not digits:
        return None
    is_negative = digits[0].text == "-"
    digits = digits[is_negative:]
    if [t.text for t in digits[:1]] == ["("] and digits[-1].text == ")":
        digits = digits[1:-1]
    numeral = numeral_reading(digits, base)
    return BaseNumeral(f"-{numeral.digits}", base) if numeral and is_negative else numeral


def numeral_reading(digits: list[Token], base: int) -> BaseNumeral | None:
    """Digits and letters as a numeral of that base; None if there is something else.

    Raises:
        Malformed: the base lacks a digit.
    """
    numeric = (Kind.NUMBER, Kind.NAME, Kind.WORD, Kind.TEXT)
    if not digits or any(t.kind not in numeric for t in digits):
        return None
    spelled = "".join(t.text for t in digits).upper()
    if not spelled.isalnum() or not spelled.isascii():
        return None
    if not 2 <= base <= _MAX_BASE or any(int(c, 36) >= base for c in spelled):
        raise Malformed(f"has digits that base {base} lacks")
    return BaseNumeral(spelled.lstrip("0") or "0", base)


def _base_of(tokens: list[Token]) -> tuple[int | None, list[Token]]:
    texts = [t.text.lower() for t in tokens]
    at = texts.index("_") if texts.count("_") == 1 else 0
    named = [text for text in texts[at + 1 :] if text not in _BRACKETS]
    if at and named[:1] == ["base"]:
        del named[0]
    if at and len(named) == 1:
        starts_right = tokens[0].kind is Kind.NUMBER or texts[0] == "(" or named[0].isdigit()
        if starts_right and (tokens[0].kind is not Kind.NAME or at > 1):
            return _base_number(named[0]), tokens[:at]
    behind = [text for text in texts[-4:] if text not in _BRACKETS]
    if len(texts) > 2 and behind[-2:-1] == ["base"]:
        end = len(texts) - 1 - texts[::-1].index("base") - (texts[-1] == ")")
        return _base_number(behind[-1]), tokens[:end]
    return None, tokens


def _base_number(named: str) -> int | None:
    return int(named) if named.isdigit() and len(named) < 3 else _BASE_WORDS.get(named)


def _money(tokens: list[Token]) -> Value | None:
    return quantities.money(tokens, parse_leaf)


def _percent(tokens: list[Token]) -> Value | None:
    last = tokens[-1]
    is_sign = last.kind is Kind.SIGN and last.text == "%"
    behind = [t.text.lower() for t in tokens[-2:] if t.kind in _WORDY]
    if not is_sign and behind != _PER_CENT and behind[-1:] not in _PERCENT_WORDS:
        return None
    number = tokens[:-2] if behind == _PER_CENT else tokens[:-1]
    if not number:
        raise Malformed("has a percent sign without a number")
    return Percent(parse_expression(number))


def _ordinal(tokens: list[Token]) -> Value | None:
    texts = [t.text for t in tokens]
    ending = next((t for t in texts[1:] if t in _ORDINAL_ENDINGS), None)
    if ending is None or texts[1:] not in ([ending], ["^", "{", ending, "}"], ["^", ending]):
        return None
    return Scalar(parse_expression(tokens[:1])) if tokens[0].kind is Kind.NUMBER else None


def _ratio(tokens: list[Token]) -> Value | None:
    r"""`2:3:5`, `7 \text{ to } 4`, `9:40 \text{ a.m.}`."""
    half = ""
    if tokens[-1].kind in _WORDY and tokens[-1].text.lower() in _HALVES:
        half, tokens = tokens[-1].text.lower(), tokens[:-1]
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        is_colon = token.kind is Kind.SIGN and token.text == ":"
        if depth == 0 and (is_colon or (token.kind in _WORDY and token.text == "to")):
            parts.append([])
        else:
            parts[-1].append(token)
    if half:
        return _clock([[t.text for t in part] for part in parts], half)
    if len(parts) == 1:
        return None
    if any([t.text for t in part] == ["..."] for part in parts):
        raise Unsupported("is a ratio that goes on")
    if len(parts) == 2 and _is_minute(parts[1]):
        return _clock([[t.text for t in part] for part in parts], "")
    return Ratio(tuple(parse_expression(part) for part in parts))


def _is_minute(part: list[Token]) -> bool:
    """Whether it is the `05` of a time, which no ratio writes so."""
    return len(part) == 1 and len(part[0].text) == 2 and part[0].text.startswith("0")


def _clock(parts: list[list[str]], half: str) -> Value | None:
    numbers = [int(p[0]) for p in parts if len(p) == 1 and p[0].isdigit() and len(p[0]) <= 2]
    if len(numbers) != len(parts) or len(numbers) > 2:
        return None
    return Clock(numbers[0], numbers[1] if len(numbers) == 2 else 0, half)
