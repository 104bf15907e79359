r"""Intervals with their open ends turned outwards: `]1,2[` is `(1,2)`, `[1,2[` is `[1,2)`."""

from __future__ import annotations

import re

_SQUARE = re.compile(r"[\[\]]")
_ROUND = {"]": "(", "[": ")"}  # of an end that is open


def turned_inwards(text: str) -> str:
    r"""The text with such intervals written in the other way; any other text as it is.

    Square brackets are taken two by two. Each pair has to hold two ends, and no round bracket
    may stand outside, so that `(1,2],[3,4)` keeps its meaning.
    """
    at = [found.start() for found in _SQUARE.finditer(text)]
    pairs = list(zip(at[::2], at[1::2], strict=False))
    if len(at) % 2 or all(text[a] == "[" and text[b] == "]" for a, b in pairs):
        return text
    out, end = "", 0
    for first, last in pairs:
        outside, inside = text[end:first], text[first + 1 : last]
        if "(" in outside or ")" in outside or not _holds_two_ends(inside):
            return text
        opening = "[" if text[first] == "[" else _ROUND["]"]
        closing = "]" if text[last] == "]" else _ROUND["["]
        out += outside + opening + inside + closing
        end = last + 1
    rest = text[end:]
    return text if "(" in rest or ")" in rest else out + rest


def _holds_two_ends(inside: str) -> bool:
    ends = inside.split(";" if ";" in inside else ",")
    return len(ends) == 2 and all(end.strip() for end in ends)
