"""Whether a text is words rather than mathematics."""

from __future__ import annotations

from itertools import pairwise

from verifier_server.checkers.math.parse import parse_tokens
from verifier_server.checkers.math.tokens import Kind, tokenize
from verifier_server.checkers.math.values import Opaque, Scalar, Several, Text

_SHORT_TEXT = 4  # words that may be an answer by themselves


def is_prose(text: str) -> bool:
    """Whether a text on its own is words rather than an expression with words in it.

    Raises:
        Malformed, TooLarge: as `parse`.
    """
    tokens = tokenize(text)
    value = parse_tokens(tokens)
    if isinstance(value, Opaque):
        return True
    if isinstance(value, Text):
        return len(tokens) > _SHORT_TEXT
    if isinstance(value, Several) and value.is_list:
        kinds = {isinstance(item, Text) for item in value.items}
        return len(kinds) > 1  # "63 apples, she said"
    # `is 5` would be the product of two letters and a number.
    operands = (Kind.WORD, Kind.NAME, Kind.NUMBER)
    return isinstance(value, Scalar) and any(
        Kind.WORD in (a.kind, b.kind) and b.spaced and a.kind in operands and b.kind in operands
        for a, b in pairwise(tokens)
    )
