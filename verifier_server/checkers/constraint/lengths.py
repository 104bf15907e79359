"""Rules about how much of something a text has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Annotated, Literal

from pydantic import Field

from verifier_server.checkers.constraint.rule import Bounded

_WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
_RUN = re.compile(r"\w+")
_BULLET = re.compile(r"^[ \t]*[-*+•][ \t]+\S", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]+\]")
_HIGHLIGHT = re.compile(r"\*\*([^\n*]+)\*\*|\*([^\n*]+)\*")
_TOKEN_OR_BREAK = re.compile(r"\n[^\S\n]*\n|\S+")
_CLOSERS = ")]}\"'*_\u2019”»"
_WIDE_ENDS = "。！？"  # noqa: RUF001
_INITIAL = re.compile(r"[A-Z]\.|(?:[^\W\d_]\.){2,}")
_ABBREVIATIONS = frozenset(
    f"{word}."
    for word in (
        "al", "approx", "cf", "co", "dr", "etc", "fig", "inc", "jr", "ltd", "mr", "mrs", "ms",
        "prof", "sr", "st", "vol", "vs",
    )
)  # fmt: skip


class Count(Bounded):
    """How many of a unit the text has, for example `{"rule": "words", "max": 100}`.

    Units: `characters` (code points) · `words` (runs of letters and digits, with apostrophes
    and hyphens inside) · `word_runs` (without them: IFEval's words) · `capital_words` (those
    runs that are all capitals) · `sentences` (see `sentences`) · `lines` (that are not blank)
    · `bullets` (lines that start with `-`, `*`, `+` or `•`) · `placeholders` (`[address]`) ·
    `highlights` (`*so*` or `**so**`) · `commas`.
    """

    rule: Literal[
        "characters",
        "words",
        "word_runs",
        "capital_words",
        "sentences",
        "lines",
        "bullets",
        "placeholders",
        "highlights",
        "commas",
    ]

    def fault(self, text: str) -> str | None:
        """Counts and compares."""
        return self.bounds_fault(_COUNTERS[self.rule](text), self.rule.replace("_", " "))


class Paragraphs(Bounded):
    """How many paragraphs the text has.

    Attributes:
        separator: what parts them; by default blank lines. With another one, a paragraph
            between two separators may not be blank.
        distinct: whether no two may be equal.
    """

    rule: Literal["paragraphs"]
    separator: Annotated[str, Field(min_length=1)] | None = None
    distinct: bool = False

    def fault(self, text: str) -> str | None:
        """Splits, counts and compares."""
        found = paragraphs(text, self.separator)
        if "" in found:
            return f"a blank paragraph between two {self.separator!r}"
        if self.distinct and len(set(found)) < len(found):
            return "two paragraphs are equal"
        return self.bounds_fault(len(found), "paragraphs")


def paragraphs(text: str, separator: str | None = None) -> list[str]:
    """The paragraphs, stripped: blank lines part them, or the separator.

    Empty ones are left out at the start and the end only, so that `a *** *** b` has three.
    """
    if separator is None:
        groups = groupby(text.split("\n"), key=lambda line: not line.strip())
        return ["\n".join(lines).strip() for is_blank, lines in groups if not is_blank]
    parts = [part.strip() for part in text.split(separator)]
    first, last = 0 if parts[0] else 1, len(parts) if parts[-1] else len(parts) - 1
    return parts[first:last]


def sentences(text: str) -> Iterator[str]:
    """The last word of each sentence.

    A sentence ends with a word that ends in `.`, `!`, `?` or `…` (closing quotes and brackets
    may follow) and is neither an initial nor a common abbreviation, with a blank line, or
    with the text; `。`, `！` and `？` end one anywhere.
    """  # noqa: RUF002
    pending = ""
    for token in _TOKEN_OR_BREAK.findall(text):
        for mark in _WIDE_ENDS:
            yield from [token] * token.count(mark)
        if any(map(str.isalnum, token)):
            pending = "" if token.rstrip(_CLOSERS).endswith(tuple(_WIDE_ENDS)) else token
        if pending and (token.isspace() or _ends_sentence(token)):
            yield pending
            pending = ""
    if pending:
        yield pending


def _ends_sentence(token: str) -> bool:
    word = token.rstrip(_CLOSERS)
    if not word.endswith((".", "!", "?", "…")):
        return False
    is_initial = bool(_INITIAL.fullmatch(word)) and word != "I."
    return not is_initial and word.lower().lstrip("([\"'") not in _ABBREVIATIONS


def _count(items: Iterator[object]) -> int:
    return sum(1 for _ in items)


_COUNTERS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "words": lambda text: _count(_WORD.finditer(text)),
    "word_runs": lambda text: _count(_RUN.finditer(text)),
    "capital_words": lambda text: sum(run.isupper() for run in _RUN.findall(text)),
    "sentences": lambda text: _count(sentences(text)),
    "lines": lambda text: sum(not line.isspace() and line != "" for line in text.split("\n")),
    "bullets": lambda text: _count(_BULLET.finditer(text)),
    "placeholders": lambda text: _count(_PLACEHOLDER.finditer(text)),
    "highlights": lambda text: sum(
        bool((strong or weak).strip()) for strong, weak in _HIGHLIGHT.findall(text)
    ),
    "commas": lambda text: text.count(","),
}
