r"""Binomial coefficients written with the letter C: `C(12,5)`, `{}_{12}C_5`, `C_{12}^5`.

They are put as `\binom{12}{5}` before anything is parsed. Where C may be another thing (a
constant with an index, a function of one argument) the tokens stay as they are.
"""

from __future__ import annotations

from typing import NamedTuple

from verifier_server.checkers.math.tokens import Kind, Token

_SCRIPTS = frozenset({"_", "^"})
_BINOMIAL = Token(Kind.STRUCTURE, "binom", spaced=False)


class _Group(NamedTuple):
    """The tokens of an operand, without brackets, and where it ends."""

    tokens: list[Token]
    end: int


def put_as_binomials(tokens: list[Token]) -> list[Token]:
    """The tokens with such coefficients in TeX's own notation."""
    if not any(token.text == "C" for token in tokens):
        return tokens
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        found = _chosen(tokens, at)
        if found is None:
            out.append(tokens[at])
            at += 1
        else:
            top, bottom, at = found
            out += [_BINOMIAL, *_braced(top), *_braced(bottom)]
    return out


def _chosen(tokens: list[Token], at: int) -> tuple[list[Token], list[Token], int] | None:
    """Both numbers of the coefficient that starts here, and where it ends."""
    if tokens[at].text == "C":
        return _scripted(tokens, at + 1) or _called(tokens, at + 1)
    start = at + 2 if [t.text for t in tokens[at : at + 2]] == ["{", "}"] else at
    top = _script(tokens, start)
    if top is None or top.end >= len(tokens) or tokens[top.end].text != "C":
        return None
    bottom = _script(tokens, top.end + 1)
    starts_here = at == 0 or tokens[at - 1].kind in (Kind.SIGN, Kind.OPEN)
    return (top.tokens, bottom.tokens, bottom.end) if bottom and starts_here else None


def _scripted(tokens: list[Token], at: int) -> tuple[list[Token], list[Token], int] | None:
    """The `_{12}^5` or `^5_{12}` of `C_{12}^5`."""
    first = _script(tokens, at)
    second = _script(tokens, first.end) if first else None
    if first is None or second is None or tokens[at].text == tokens[first.end].text:
        return None
    top, bottom = (first, second) if tokens[at].text == "_" else (second, first)
    n, k = _integer(top.tokens), _integer(bottom.tokens)
    is_choice = n is not None and k is not None and 0 <= k <= n and n > 1
    return (top.tokens, bottom.tokens, second.end) if is_choice else None


def _called(tokens: list[Token], at: int) -> tuple[list[Token], list[Token], int] | None:
    """The `(12,5)` of `C(12,5)`; `C(1,2)` is a point."""
    whole = _group(tokens, at) if at < len(tokens) and tokens[at].text == "(" else None
    if whole is None:
        return None
    commas = [i for i, token in enumerate(whole.tokens) if token.text == ","]
    if len(commas) != 1 or any(token.kind is Kind.OPEN for token in whole.tokens):
        return None
    top, bottom = whole.tokens[: commas[0]], whole.tokens[commas[0] + 1 :]
    n, k = _integer(top), _integer(bottom)
    is_point = n is not None and k is not None and k > n
    return None if is_point or not top or not bottom else (top, bottom, whole.end)


def _script(tokens: list[Token], at: int) -> _Group | None:
    """The operand of a `_` or `^` that stands here."""
    if at + 1 >= len(tokens) or tokens[at].text not in _SCRIPTS:
        return None
    if tokens[at + 1].text == "{":
        return _group(tokens, at + 1)
    if tokens[at + 1].kind not in (Kind.NUMBER, Kind.NAME):
        return None
    return _Group([tokens[at + 1]], at + 2)


def _group(tokens: list[Token], at: int) -> _Group | None:
    depth = 0
    for end in range(at, len(tokens)):
        depth += (tokens[end].kind is Kind.OPEN) - (tokens[end].kind is Kind.CLOSE)
        if depth == 0:
            return _Group(tokens[at + 1 : end], end + 1)
    return None


def _integer(tokens: list[Token]) -> int | None:
    is_short = len(tokens) == 1 and tokens[0].text.isdecimal() and len(tokens[0].text) < 10
    return int(tokens[0].text) if is_short else None


def _braced(tokens: list[Token]) -> list[Token]:
    opening, closing = Token(Kind.OPEN, "{", spaced=False), Token(Kind.CLOSE, "}", spaced=False)
    return [opening, *tokens, closing]
