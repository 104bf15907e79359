"""Reads a candidate's JSON text, within bounds."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from verifier_server.checkers.texts import excerpt

MAX_DEPTH = 64

_FENCE = re.compile(r"^[ \t>]*(```+|~~~+)[ \t]*(\w*)[^\n`]*$", re.MULTILINE)


class NotJson(ValueError):
    """The text is no JSON document; the message says why."""


def read_document(text: str, *, whole: bool) -> Any:
    """The JSON value of a text, or of its last fenced block that is JSON.

    Stricter than `json.loads`: a name may stand only once in an object, numbers are finite,
    and nesting ends at `MAX_DEPTH`.

    Args:
        text: what follows the reasoning.
        whole: whether nothing but white space may stand around the block.

    Raises:
        NotJson: there is no document, or it breaks a bound.
    """
    text = text.strip()
    block = _last_block(text)
    if block is None or text.startswith(("{", "[", '"')):
        return _parse(text)
    content, surroundings = block
    if whole and surroundings.strip():
        raise NotJson("there is text around the fenced block")
    return _parse(content)


def _last_block(text: str) -> tuple[str, str] | None:
    """The content of the last fence tagged `json`, or else untagged; and all text around it."""
    chosen: tuple[str, str] | None = None
    is_tagged = False
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif fence[1].startswith(opening[1]) and not fence[2]:
            tag = opening[2].lower()
            if tag == "json" or (not tag and not is_tagged):
                is_tagged = tag == "json"
                around = text[: opening.start()] + text[fence.end() :]
                chosen = text[opening.end() : fence.start()], around
            opening = None
    return chosen


def _parse(text: str) -> Any:
    try:
        value = json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique
        )
    except RecursionError:
        raise NotJson(f"it is nested deeper than {MAX_DEPTH}") from None
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson(f"{excerpt(text)!r} is not JSON: {error}") from error
    if _is_deeper(value, MAX_DEPTH):
        raise NotJson(f"it is nested deeper than {MAX_DEPTH}")
    return value


def _refuse(name: str) -> NoReturn:
    raise NotJson(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise NotJson(f"{excerpt(digits)} is too large a number")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise NotJson("an object has one name twice")
    return value


def _is_deeper(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return False
    return any(isinstance(node, dict | list) for node in level)
