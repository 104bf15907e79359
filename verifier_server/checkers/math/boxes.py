r"""Boxed answers: the last `\boxed` or `\fbox`, and what is offered beside it."""

from __future__ import annotations

import re
from typing import NamedTuple

from verifier_server.checkers.alternatives import (
    after_joint,
    before_joint,
    joins_alternatives,
    without_marks,
)
from verifier_server.checkers.math.extracted import Extracted, Missing

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BARE_BOX = re.compile(r"[-+]?\d[\d.,/]*|[-+]?\.\d+")
_NEARBY = 200  # characters beside a box in which an alternative may start
_VALUE = re.compile(
    r"(?:[\s(){}\[\],]|\\[ ,;(\[])*(?:\$([^$\n]{1,100})\$|([-+]?[\d.][^\s,;$)}]*"
    r"|-?\\(?:[dt]?frac|sqrt|pi)(?![A-Za-z])[^$\n.,;]{0,100}))"
)
_LAST_VALUE = re.compile(r"(?:\$([^$\n]{1,100})\$|(?<![\w.])([-+]?\d[\d./]*)),?[\s{]+\Z")
_MAX_BOXES = 1000


class _Box(NamedTuple):
    start: int
    content: slice
    end: int


def last_box(text: str) -> Extracted | Missing | None:
    """The answer in the last box, why there is none in it, or None if there is no box."""
    boxes: list[_Box] = []
    for count, start in enumerate(_BOX.finditer(text)):
        if count == _MAX_BOXES:
            return Missing(f"there are more than {_MAX_BOXES} boxes")
        if boxes and start.start() < boxes[-1].end:
            continue  # inside the box before
        at = start.end()
        if text.startswith("{", at):
            end = _closing_brace(text, at)
            if end < 0:
                return Missing("the \\boxed answer never closes")
            boxes.append(_Box(start.start(), slice(at + 1, end), end + 1))
        else:
            bare = _BARE_BOX.match(text, at)
            if bare:
                boxes.append(_Box(start.start(), slice(at, bare.end()), bare.end()))
    if not boxes:
        return None
    contents = tuple(_unboxed(text[box.content]) for box in boxes)
    span = (boxes[-1].content.start, boxes[-1].content.stop)
    return Extracted(contents[-1], "box", span, _offered(text, boxes, contents), contents)


def _closing_brace(text: str, opening: int) -> int:
    """Where the brace closes that opens here, or -1. Escaped braces don't count."""
    depth = 0
    for brace in _BRACE.finditer(text, opening):
        sign = brace.group()
        depth += (sign == "{") - (sign == "}")
        if depth == 0 and sign == "}":
            return brace.start()
    return -1


def _unboxed(content: str) -> str:
    """The content; a box that holds nothing but a box is one box."""
    content = content.strip().rstrip("\\ ")  # `7\ ` and `7\\`: blanks of TeX
    if content.endswith((".", ",", ";")) and not content.endswith(("..", "\\,", "\\;")):
        content = content[:-1]
    return content.strip()


def _offered(text: str, boxes: list[_Box], contents: tuple[str, ...]) -> tuple[str, ...]:
    """The last box and what stands beside it as an alternative; empty if nothing does."""
    first = len(boxes) - 1
    has_or = False
    while first > 0:
        between = text[boxes[first - 1].end : boxes[first].start]
        is_joint = joins_alternatives(between)
        if not is_joint and without_marks(between):
            break
        has_or = has_or or is_joint
        first -= 1
    offered = list(contents[first:]) if has_or else [contents[-1]]
    joined = after_joint(text[boxes[-1].end : boxes[-1].end + _NEARBY])
    if joined is not None:
        offered.append(_first_value(joined))
    start = boxes[first].start if has_or else boxes[-1].start
    led_in = before_joint(text[max(0, start - _NEARBY) : start])
    if led_in is not None:
        offered.append(_last_value(led_in))
    found = tuple(value for value in offered if value)
    return found if len(found) > 1 else ()


def _first_value(text: str) -> str:
    """The mathematics that a text starts with, or "" if it starts with prose."""
    found = _VALUE.match(text)
    return (found.group(1) or found.group(2)).rstrip(".\\") if found else ""


def _last_value(text: str) -> str:
    """The mathematics that a text ends with, or "" if it ends with prose."""
    found = _LAST_VALUE.search(text)
    return found.group(1) or found.group(2) if found else ""
