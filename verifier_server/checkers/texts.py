"""Text operations that several checkers share, all linear in the candidate's text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

# Zero-width and bidirectional marks, soft hyphens, fillers, tags.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    "\u3164\ufeff\uffa0\U000e0000-\U000e007f]+"
)
# Some scripts and emoji need joiners; beside ASCII or the end of the text nothing does. A run
# is matched whole or not at all.
_JOINERS = re.compile(
    "(?<![\u200c\u200d])(?:(?<![^\x00-\x7f])[\u200c\u200d]++|[\u200c\u200d]++(?![^\x00-\x7f]))"
)


def without_invisible(text: str) -> str:
    """The text without characters that show nothing and part no words."""
    return text if text.isascii() else _JOINERS.sub("", _INVISIBLE.sub("", text))


def excerpt(text: str, limit: int = 80) -> str:
    """`text` on one line and cut to `limit` characters, for explanations.

    Lone surrogates become `?`: they can't be sent, and a candidate may write them.
    """
    head = text[: 4 * limit]
    line = " ".join(head.encode("utf-8", "replace").decode().split())
    is_whole = len(head) == len(text) and len(line) <= limit
    return line if is_whole else line[:limit] + "…"


def is_blank(text: str) -> bool:
    """Whether nothing in the text shows: white space, zero-width and control characters."""
    return not any(character.isprintable() and character != " " for character in text)


def canonical(text: str, *, case_sensitive: bool = False) -> str:
    """The NFC form, case-folded unless `case_sensitive`.

    NFC, not NFKC: two ways to write one character are equal, two characters that only
    look alike (`²` and `2`) are not.
    """
    text = unicodedata.normalize("NFC", text)
    return text if case_sensitive else unicodedata.normalize("NFC", text.casefold())


def index_of_equal(text: str, golds: Sequence[str], *, case_sensitive: bool = False) -> int | None:
    """The index of the first gold that `text` equals in canonical form, if any.

    Texts far longer than every gold are refused before they are normalised: sorting a long
    run of combining marks takes quadratic time.
    """
    # No canonical form is 16 times shorter than what it was made from.
    if len(text) > 16 * max(map(len, golds)):
        return None
    canon = canonical(text, case_sensitive=case_sensitive)
    for index, gold in enumerate(golds):
        if canon == canonical(gold, case_sensitive=case_sensitive):
            return index
    return None


def numbered(names: Iterable[str]) -> list[str]:
    """The names made unique: the second `words` becomes `words#2`."""
    taken: set[str] = set()
    unique = []
    for name in names:
        candidate, count = name, 1
        while candidate in taken:
            count += 1
            candidate = f"{name}#{count}"
        taken.add(candidate)
        unique.append(candidate)
    return unique
