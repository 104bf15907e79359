"""A place in a list of tokens: what comes next, taking it, and counting how deep it is nested."""

from __future__ import annotations

from verifier_server.checkers.math.faults import Malformed, TooLarge, Unsupported
from verifier_server.checkers.math.tokens import MAX_DEPTH, Kind, Token

# Signs with a meaning that the value model has no form for.
_EXOTIC = frozenset({
    "to", "implies", "cap", "equiv", "not", "notin", "perp", "parallel", "sim", "propto", "||",
    "in", "cup", "minus", "empty", "...",
})  # fmt: skip


class Cursor:
    """Reads tokens from the left, from a list of its own."""

    def __init__(self, tokens: list[Token], depth: int = 0) -> None:
        self.tokens = list(tokens)
        self.at = 0
        self.depth = depth
        self.bars = 0  # |…| that are open at this level of brackets

    @property
    def next(self) -> Token | None:
        """The token to be read, or None at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def sees(self, *signs: str) -> bool:
        """Whether one of these signs comes next."""
        if self.at >= len(self.tokens):
            return False
        token = self.tokens[self.at]
        return token.kind is Kind.SIGN and token.text in signs

    def sees_open(self, *brackets: str) -> bool:
        """Whether one of these brackets opens next."""
        token = self.next
        return token is not None and token.kind is Kind.OPEN and token.text in brackets

    def take(self) -> Token:
        """Reads a token. Raises Malformed at the end."""
        token = self.next
        if token is None:
            raise Malformed("stops in the middle")
        self.at += 1
        return token

    def take_sign(self, *signs: str) -> bool:
        """Reads one of these signs, if it comes next."""
        if self.sees(*signs):
            self.at += 1
            return True
        return False

    def close(self, bracket: str) -> None:
        """Reads the bracket that is due. Raises Malformed if another token comes."""
        token = self.take()
        if token.kind is not Kind.CLOSE or token.text != bracket:
            raise Malformed(f"has {token.text!r} where {bracket!r} is due")

    def expect_end(self) -> None:
        """Raises Malformed or Unsupported if a token is left."""
        if self.next is not None:
            raise unexpected(self.next)

    def deeper(self) -> None:
        """Counts a level of nesting. Raises TooLarge at the cap; whoever calls counts down."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooLarge(f"is nested more than {MAX_DEPTH} deep")


def unexpected(token: Token) -> Malformed | Unsupported:
    """The fault of a token that has no place where it stands."""
    if token.kind is Kind.TEXT or (token.kind is Kind.SIGN and token.text in _EXOTIC):
        return Unsupported(f"has {token.text[:20]!r} inside an expression")
    return Malformed(f"has an unexpected {token.text[:20]!r}")
