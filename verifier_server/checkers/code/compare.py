"""Does a program's output say what is expected? Four ways to compare, all on bytes.

Nothing here parses output as anything but text and decimal numbers. Each comparison is
linear in the output, stops at the first difference, and holds no more of a hostile output
than it needs for that.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

# Blanks are the ASCII ones, as in `bytes.split`.
_TOKEN = re.compile(rb"[^ \t\n\r\x0b\f]+")
_LINE = re.compile(rb"[^ \t\n\r\x0b\f][^\n]*")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SHOWN_BYTES = 60

Difference = str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """What an output is worth: `score` from 0 to 1, and below 1 why, as a clause."""

    score: float
    message: str


def difference(mode: str, got: bytes, want: bytes, abs_tol: float, rel_tol: float) -> Difference:
    """None if `got` counts as `want`, else where they first differ, as a clause.

    Args:
        mode: "tokens" (whitespace-separated, textual), "exact" (byte for byte), "float"
            (tokens, numbers within the tolerance) or "unordered_lines" (a multiset of
            lines; blank lines and the width of blanks don't count).
        got: the program's output.
        want: the expected output, in UTF-8.
        abs_tol: for "float".
        rel_tol: for "float"; relative to the expected number.
    """
    if mode == "exact":
        found = _exact(got, want)
    elif mode == "unordered_lines":
        found = _unordered_lines(got, want)
    elif mode == "float":
        found = _tokens(got, want, lambda a, b: _close(a, b, abs_tol, rel_tol))
    else:
        found = _tokens(got, want, bytes.__eq__)
    return None if found is None else _encoding_error(got) or found


def _tokens(got: bytes, want: bytes, same: Callable[[bytes, bytes], bool]) -> Difference:
    pairs = zip_longest(_split(got), _split(want))
    for number, (mine, theirs) in enumerate(pairs, 1):
        if mine is None:
            return f"token {number}, {show(theirs or b'')}, is missing"
        if theirs is None:
            return f"token {number}, {show(mine)}, is too much"
        if not same(mine, theirs):
            return f"token {number} is {show(mine)}, not {show(theirs)}"
    return None


def _exact(got: bytes, want: bytes) -> Difference:
    if got == want:
        return None
    if _tokens(got, want, bytes.__eq__) is None:
        return "the texts differ in blanks or line ends only"
    return "the texts differ"


def _unordered_lines(got: bytes, want: bytes) -> Difference:
    missing = Counter(_lines(want))
    for line in _lines(got):
        if not missing[line]:
            return f"the line {show(line)} is too much"
        missing[line] -= 1
    left = next(missing.elements(), None)
    return None if left is None else f"the line {show(left)} is missing"


def _close(got: bytes, want: bytes, abs_tol: float, rel_tol: float) -> bool:
    if got == want:
        return True
    if not (_NUMBER.fullmatch(got) and _NUMBER.fullmatch(want)):
        return False
    mine, theirs = float(got), float(want)
    # A number that overflows is known by its text alone.
    if not (math.isfinite(mine) and math.isfinite(theirs)):
        return False
    return abs(mine - theirs) <= max(abs_tol, rel_tol * abs(theirs))


def _split(text: bytes) -> Iterator[bytes]:
    return (match[0] for match in _TOKEN.finditer(text))


def _lines(text: bytes) -> Iterator[bytes]:
    """The lines that hold something, their blanks made equal."""
    return (b" ".join(match[0].split()) for match in _LINE.finditer(text))


def _encoding_error(got: bytes) -> Difference:
    try:
        got.decode()
    except UnicodeDecodeError as error:
        return f"the output is no UTF-8 (byte 0x{got[error.start]:02x} at {error.start})"
    return None


def show(text: bytes) -> str:
    """A piece of output, quoted and cut to a readable size."""
    cut = text[:_SHOWN_BYTES].decode(errors="replace")
    return repr(cut) + ("…" if len(text) > _SHOWN_BYTES else "")
