"""One line of an export as plain data, and the shapes that data must have."""

from __future__ import annotations

import json
from typing import Any

# Above all that a real export holds; below what the tools that read it after us take.
_MOST_NUMBER = 2**32 - 1
_DIGITS = frozenset("0123456789")


class ExportError(Exception):
    """An export is not what the format says. The message says where and why."""


def parse_line(line: bytes) -> dict[str, Any]:
    """The JSON object of a line.

    Raises:
        ExportError: it is none, or one that two readers could read differently.
    """
    try:
        raw = _DECODER.decode(line.decode())
    except RecursionError:
        raise ExportError("nested too deeply") from None
    except ValueError as error:
        raise ExportError(f"no JSON: {error}") from None
    if not isinstance(raw, dict):
        raise ExportError("no object")
    return raw


def fields(raw: Any, *names: str) -> list[Any]:
    """The values of an object that has these fields and no others."""
    try:
        if type(raw) is dict and len(raw) == len(names):
            return [raw[name] for name in names]
    except KeyError:
        pass
    raise ExportError(f"there must be the fields {', '.join(names)} and no others")


def number(raw: Any, most: int = _MOST_NUMBER) -> int:
    """A natural number."""
    if type(raw) is not int or not 0 <= raw <= most:
        raise ExportError(f"{_shown(raw)} is no number from 0 to {most}")
    return raw


def text(raw: Any) -> str:
    """A string of whole characters."""
    if type(raw) is not str or not _is_unicode(raw):
        raise ExportError(f"{_shown(raw)} is no string")
    return raw


def digits(raw: Any) -> str:
    """A natural number of any size, as its decimal digits."""
    found = text(raw)
    if not found or not _DIGITS.issuperset(found) or (found[0] == "0" and found != "0"):
        raise ExportError(f"{_shown(raw)} is no natural number")
    return found


def flag(raw: Any) -> bool:
    """A truth value."""
    if type(raw) is not bool:
        raise ExportError(f"{_shown(raw)} is neither true nor false")
    return raw


def word(raw: Any, *words: str) -> str:
    """One of these strings."""
    if type(raw) is not str or raw not in words:
        raise ExportError(f"{_shown(raw)} is none of {', '.join(words)}")
    return raw


def items(raw: Any) -> list[Any]:
    """A list."""
    if type(raw) is not list:
        raise ExportError(f"{_shown(raw)} is no list")
    return raw


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field is there twice")
    return found


def _refuse(literal: str) -> None:
    raise ValueError(f"{literal[:40]} is no number of the format")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse, parse_float=_refuse)


def _is_unicode(value: str) -> bool:
    # JSON can write halves of characters, which Lean's strings can't hold.
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _shown(raw: Any) -> str:
    return ascii(raw)[:60]


__all__ = [
    "ExportError",
    "digits",
    "fields",
    "flag",
    "items",
    "number",
    "parse_line",
    "text",
    "word",
]
