"""Lean names as tuples of their components.

A component may hold dots, blanks or line breaks, so that two names can look the same in print
and be different. Only tuples are compared.
"""

from __future__ import annotations

import json
import re

Name = tuple[str | int, ...]

_COMPONENT = re.compile(r"«(?P<quoted>[^«»\n]*)»|(?P<number>\d+)(?=\.|$)|(?P<plain>[^.«»\s]+)")
_PLAIN = re.compile(r"[^\W\d][\w'!?]*")


def parse_name(text: str) -> Name:
    """The name that a text stands for, as Lean reads it.

    Raises:
        ValueError: for none.
    """
    parts: list[str | int] = []
    at = 0
    while match := _COMPONENT.match(text, at):
        number = match["number"]
        parts.append(int(number) if number else match["quoted"] or match["plain"] or "")
        at = match.end()
        if at == len(text):
            return tuple(parts)
        if text[at] != ".":
            break
        at += 1
    raise ValueError(f"{text!r} is no name")


def show_name(name: Name) -> str:
    """A name for people: what isn't a plain identifier is quoted and escaped."""
    return ".".join(map(_show, name)) or "[anonymous]"


def _show(part: str | int) -> str:
    if isinstance(part, int) or _PLAIN.fullmatch(part):
        return str(part)
    return f"«{json.dumps(part, ensure_ascii=False)[1:-1]}»"


__all__ = ["Name", "parse_name", "show_name"]
