r"""Boxed answers: the last `\boxed` or `\fbox`, and what is offered beside it."""

from __future__ import annotations

import re
from typing import NamedTuple

from verifier_server.checkers.math.extracted import Extracted, Missing

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BARE_BOX = re.compile(r"[-+]?\d[\d.,/]*|[-+]?\.\d+")
_OR = re.compile(r"(?:or|oder|ou|\u0438\u043b\u0438|\u6216\u8005?|and/or)(?![a-z])", re.IGNORECASE)
_AROUND = " \t\r\n$.,:;*_\\()[]{}"
_NEARBY = 200  # characters beside a box in which an alternative may start
_VALUE = re.compile(r"[\s({\[\\]*(?:\$([^$\n]{1,100})\$|([-+]?[\d.][^\s,;$)}]*))")
_OR_WORDS = ("or", "oder", "ou")
_BEFORE_OR = re.compile(
    r"(?:\$([^$\n]{1,100})\$|(?<![\w.])([-+]?\d[\d./]*)),?[ \n]+(?:or|oder|ou)$", re.IGNORECASE
)
_MAX_BOXES = 1000


class _Box(NamedTuple):
    start: int
    content: slice
    end: int


def last_box(text: str) -> Extracted | Missing | None:
    """The answer in the last box, why there is none in it, or None if there is no box."""
    if text.count("\\boxed") + text.count("\\fbox") > _MAX_BOXES:
        return Missing(f"there are more than {_MAX_BOXES} boxes")
    starts = list(_BOX.finditer(text))
    if not starts:
        return None
    boxes: list[_Box] = []
    for start in starts:
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
    content = content.strip()
    if content.endswith((".", ",", ";")) and not content.endswith(("..", "\\,", "\\;")):
        content = content[:-1]
    return content.strip()


def _offered(text: str, boxes: list[_Box], contents: tuple[str, ...]) -> tuple[str, ...]:
    """The last box and what stands beside it as an alternative; empty if nothing does."""
    first = len(boxes) - 1
    has_or = False
    while first > 0:
        joint = _bare(text[boxes[first - 1].end : boxes[first].start])
        if joint and not _OR.fullmatch(joint):
            break
        has_or = has_or or bool(joint)
        first -= 1
    offered = list(contents[first:]) if has_or else [contents[-1]]
    after = text[boxes[-1].end : boxes[-1].end + _NEARBY].lstrip(_AROUND)
    joined = _OR.match(after)
    if joined:
        offered.append(_first_value(after[joined.end() :]))
    start = boxes[first].start if has_or else boxes[-1].start
    lead_in = text[max(0, start - _NEARBY) : start].rstrip(" \n$")
    before = _BEFORE_OR.search(lead_in) if lead_in.lower().endswith(_OR_WORDS) else None
    if before:
        offered.append(before.group(1) or before.group(2))
    found = tuple(value for value in offered if value)
    return found if len(found) > 1 else ()


def _bare(joint: str) -> str:
    """What stands between two answers, without the signs around words."""
    return joint.replace("\\text", "").strip(_AROUND)


def _first_value(text: str) -> str:
    """The mathematics that a text starts with, or "" if it starts with prose."""
    found = _VALUE.match(text)
    return (found.group(1) or found.group(2)).rstrip(".") if found else ""
