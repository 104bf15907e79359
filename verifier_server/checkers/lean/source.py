"""Lean text as far as a judge needs it: what is comment, what is code.

Nothing here decides that a proof is right. Comments and strings are blanked, so that a word in
one flags nothing, but only where it is beyond doubt what they are: a string may hold code
(interpolation), and libraries have marks with quotes and dashes in them. In a text where a
reader could be led astray everything counts as code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_CHARACTER = re.compile(r"'(?:[^'\\\n]|\\(?:[^\nxu]|x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]{1,6}\}))'")
_QUOTED_NAME = re.compile("«[^»\n]*»")
_INTEREST = re.compile(r"--|/-|-/|[\"'«]")
_COMMENT_MARK = re.compile(r"/-|-/")
_NAME_CHARACTER = re.compile(r"[\w'!?₀-₉]")
_RAW = re.compile(r"(?<![A-Za-z0-9_])r#*$")
# What may stand right before a comment. After another symbol its dashes may be a mark's.
_SEPARATOR = re.compile(r"[\s\w)\]}⟩,;.'!?»\"]")


@dataclass(frozen=True, slots=True)
class Source:
    """A Lean text.

    Attributes:
        text: as it was written.
        code: of the same length, comments and strings blanked but for quotation marks; the
            text itself where it is in doubt what they are.
        doubtful: whether it is.
    """

    text: str
    code: str
    doubtful: bool


def read_source(text: str) -> Source:
    """The text with its comments and strings told apart, in one pass."""
    pieces: list[str] = []
    at = 0
    while match := _INTEREST.search(text, at):
        pieces.append(text[at : match.start()])
        found = _skip(text, match)
        if found is None:
            return Source(text, text, doubtful=True)
        at, shown = found
        piece = text[match.start() : at]
        pieces.append(piece if shown else re.sub(r'[^\n"]', " ", piece))
    pieces.append(text[at:])
    return Source(text, "".join(pieces), doubtful=False)


def _skip(text: str, match: re.Match[str]) -> tuple[int, bool] | None:
    """Where what starts here ends, and whether it is code; None where that is in doubt."""
    at, mark = match.start(), match[0]
    before = text[at - 1] if at else " "
    if mark in ("--", "/-"):
        if not _SEPARATOR.match(before):
            return None
        end = _line_end(text, at) if mark == "--" else _comment_end(text, at)
        return None if end is None else (end, False)
    if mark == "«":
        name = _QUOTED_NAME.match(text, at)
        return (name.end(), True) if name else None
    if mark == '"':
        string = _STRING.match(text, at)
        if string is None or "{" in string[0] or _RAW.search(text[max(0, at - 64) : at]):
            return None
        return string.end(), False
    if mark == "'":
        if text[at + 1 : at + 2] == '"':
            return None
        character = _CHARACTER.match(text, at)
        if character and not _NAME_CHARACTER.match(before):
            return None if '"' in character[0] else (character.end(), True)
    return match.end(), True


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _comment_end(text: str, start: int) -> int | None:
    """Where a block comment ends; they nest. None: it never does."""
    depth = 0
    for match in _COMMENT_MARK.finditer(text, start):
        depth += 1 if match[0] == "/-" else -1
        if not depth:
            return match.end()
    return None


__all__ = ["Source", "read_source"]
