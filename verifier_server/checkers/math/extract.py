r"""From a completion to the text of its answer: one documented order.

1. Only what follows the last `</think>` counts; an unfinished `<think>` holds no answer.
2. The last `\boxed` or `\fbox`. One that never closes is no answer, and nothing else is then.
3. The last `<answer>…</answer>`.
4. The last "the (final) answer is …" or "Answer: …".
5. The last line that starts with `####`.
6. The whole completion, if it is no more than one expression.
7. Only if lenient: the last number.

Every search is one pass over the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from verifier_server.checkers.completion import after_think
from verifier_server.checkers.math.faults import MathFault, TooLarge
from verifier_server.checkers.math.parse import is_prose

Mode = Literal["standard", "boxed", "lenient"]
How = Literal["box", "tag", "phrase", "hashes", "whole", "number"]

MAX_WHOLE = 4096  # a longer completion is not just an expression
_MAX_BOXES = 1000
_MAX_WORDS = 40  # nor is one with more words

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BARE_BOX = re.compile(r"[-+]?\d[\d.,/]*|[-+]?\.\d+")
_OPENING_TAG, _CLOSING_TAG = "<answer>", "</answer>"
_CLAUSE = re.compile(r"[A-Za-z][^\n]*\b(?:is|are|equals)[ \t]+")
_HEDGE = re.compile(r"\b(?:or|not|either|if|maybe|perhaps|possibly)\b", re.IGNORECASE)
_HASHES = re.compile(r"^[ \t]*####[ \t]*([^\n]*)$", re.MULTILINE)
_PHRASE = re.compile(
    r"\banswer(?:[ \t]*\*\*)?(?:[ \t]+is|[ \t]*[:=\uff1a]|[ \t]+would[ \t]+be)"
    r"|\u7b54\u6848(?:\u662f|\u4e3a|\u70ba|[:\uff1a])"
    r"|\brespuesta(?:[ \t]+final)?(?:[ \t]+es|[ \t]*:)"
    r"|\br\u00e9ponse(?:[ \t]+finale)?(?:[ \t]+est|[ \t]*:)"
    r"|\bAntwort(?:[ \t]+ist|[ \t]+lautet|[ \t]*:)|\b\u043e\u0442\u0432\u0435\u0442[ \t]*:",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^[#*_ \t]*final[ \t]+answer[#*_: \t]*$", re.IGNORECASE | re.MULTILINE)
_SENTENCE_END = re.compile(
    r"[.!?\u3002](?=[\s*_]|$)(?<![ap]\.m\.)|\n"
    r"|,?[ \t](?:because|since|which|so[ \t]that|as[ \t]we)\b"
)
_DISPLAY = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
_OR = re.compile(r"(?:or|oder|ou|\u0438\u043b\u0438|\u6216\u8005?|and/or)(?![a-z])", re.IGNORECASE)
_AROUND = " \t\r\n$.,:;*_\\()[]{}"
_NEARBY = 200  # characters beside a box in which an alternative may start
_VALUE = re.compile(r"[\s({\[\\]*(?:\$([^$\n]{1,100})\$|([-+]?[\d.][^\s,;$)}]*))")
_OR_WORDS = ("or", "oder", "ou")
_BEFORE_OR = re.compile(
    r"(?:\$([^$\n]{1,100})\$|(?<![\w.])([-+]?\d[\d./]*)),?[ \n]+(?:or|oder|ou)$", re.IGNORECASE
)
_NUMBER = re.compile(r"-?(?:\d[\d,]*\d|\d)(?:\.\d+)?(?:/\d+)?%?|-?\.\d+")
_FENCE = re.compile(r"^```[A-Za-z]*\n(.*?)\n?```$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Extracted:
    """An answer's text and where it stood.

    Attributes:
        text: the answer, without the markup around it.
        how: the rule that found it.
        span: its place in the completion, in characters.
        alternatives: the texts that the completion offers with it, joined by "or".
        boxes: all boxes, if there are several and the last is the answer.
    """

    text: str
    how: How
    span: tuple[int, int]
    alternatives: tuple[str, ...] = ()
    boxes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """No answer was found, because."""

    why: str


def extract(completion: str, mode: Mode = "standard") -> Extracted | Missing:
    """Finds the answer of a completion."""
    rest = after_think(completion)
    if rest is None:
        return Missing("the thinking is unfinished")
    offset = len(completion) - len(rest)
    boxed = _boxed(rest)
    if boxed is not None:
        return _moved(boxed, offset)
    if mode == "boxed":
        return Missing("there is no \\boxed answer")
    for rule in (_tagged, _phrase, _hashes, _whole):
        found = rule(rest)
        if found is not None:
            return _moved(found, offset)
    if mode == "lenient":
        last = None
        for last in _NUMBER.finditer(rest):  # noqa: B007 - the last one is wanted
            pass
        if last is not None:
            return _moved(Extracted(last.group(), "number", last.span()), offset)
    return Missing("there is no answer in a form that counts")


def _moved(found: Extracted | Missing, offset: int) -> Extracted | Missing:
    if isinstance(found, Missing) or not offset:
        return found
    span = (found.span[0] + offset, found.span[1] + offset)
    return Extracted(found.text, found.how, span, found.alternatives, found.boxes)


# -- boxes ---------------------------------------------------------------------------------


class _Box(NamedTuple):
    start: int
    content: slice
    end: int


def _boxed(text: str) -> Extracted | Missing | None:
    if text.count("\\boxed") > _MAX_BOXES:
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


# -- tags, phrases, hashes -----------------------------------------------------------------


def _tagged(text: str) -> Extracted | None:
    lowered = text.lower()
    end = lowered.rfind(_CLOSING_TAG)
    start = lowered.rfind(_OPENING_TAG, 0, max(end, 0))
    if start < 0:
        return None
    start += len(_OPENING_TAG)
    inner = text[start:end]
    found = _phrase(inner)
    if found is not None:
        span = (start + found.span[0], start + found.span[1])
        return Extracted(found.text, "tag", span)
    return Extracted(clean(inner), "tag", (start, end))


def _phrase(text: str) -> Extracted | None:
    last = None
    for last in _PHRASE.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    heading = None
    for heading in _HEADING.finditer(text):  # noqa: B007
        pass
    if heading is not None and (last is None or heading.end() > last.end()):
        last = heading
    if last is None:
        return None
    start = last.end()
    while start < len(text) and text[start] in " \t\r\n:*_=":
        start += 1
    end = _end_of_statement(text, start)
    # "Final answer: the largest n is 34."
    prose = _CLAUSE.match(text, start, end)
    if prose and not _HEDGE.search(prose.group()):
        start = prose.end()
    return Extracted(clean(text[start:end]), "phrase", (start, end))


def _end_of_statement(text: str, start: int) -> int:
    """Where the sentence ends; displayed mathematics at its beginning belongs to it whole."""
    at = start
    for opening, closing in _DISPLAY.items():
        if text.startswith(opening, start):
            end = text.find(closing, start + len(opening))
            if end > 0:
                at = end + len(closing)
            break
    stop = _SENTENCE_END.search(text, at)
    return stop.start() if stop else len(text)


def _hashes(text: str) -> Extracted | None:
    last = None
    for last in _HASHES.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    if last is None or not last.group(1).strip():
        return None
    return Extracted(clean(last.group(1)), "hashes", last.span(1))


def _whole(text: str) -> Extracted | None:
    if len(text) > MAX_WHOLE or not text.strip():
        return None
    answer = clean(text)
    is_displayed = text.lstrip().startswith(("$", "\\(", "\\["))
    if not answer or len(answer.split()) > _MAX_WORDS:
        return None
    if not is_displayed and not _is_expression(answer):
        return None
    return Extracted(answer, "whole", (0, len(text)))


def _is_expression(text: str) -> bool:
    """Whether it reads as a value; what is too large to be read counts, to be refused as such."""
    try:
        return not is_prose(text)
    except TooLarge:
        return True
    except MathFault:
        return False


def clean(text: str) -> str:
    """The text without Markdown, fences and math delimiters around it."""
    text = text.strip()
    fence = _FENCE.match(text)
    if fence:
        text = fence.group(1).strip()
    for _ in range(8):
        before = text
        for opening, closing in (
            ("**", "**"), ("__", "__"), ("`", "`"), ("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"),
            ("$", "$"), ("*", "*"), ("\\displaystyle", ""),
        ):  # fmt: skip
            if _encloses(text, opening, closing):
                text = text[len(opening) : len(text) - len(closing)].strip()
        if text.endswith((".", ",", ";")) and not text.endswith(("...", "\\,", "\\;", "m.")):
            text = text[:-1].rstrip()
        if text == before:
            break
    return text.replace("**", " ").strip()


def _encloses(text: str, opening: str, closing: str) -> bool:
    inner = len(text) - len(opening) - len(closing)
    if inner <= 0 or not text.startswith(opening) or not text.endswith(closing):
        return False
    return not closing or text.find(closing, len(opening)) == len(text) - len(closing)
