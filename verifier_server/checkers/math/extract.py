r"""From a completion to the text of its answer: one documented order.

1. Only what follows the last `</think>` counts; an unfinished `<think>` holds no answer.
2. The last `\boxed` or `\fbox`. One that never closes is no answer, and nothing else is then.
3. The last `<answer>…</answer>`.
4. The last "the (final) answer is …" or "Answer: …".
5. What follows the last `####` on its line.
6. The whole completion, if it is no more than one expression (not prose that ends in one,
   if lenient).
7. Only if lenient: the last number.

Every search is one pass over the text.
"""

from __future__ import annotations

import re
from typing import Literal

from verifier_server.checkers.alternatives import joins_alternatives
from verifier_server.checkers.completion import after_think
from verifier_server.checkers.math.boxes import last_box
from verifier_server.checkers.math.extracted import Extracted, Missing
from verifier_server.checkers.math.faults import MathFault, TooLarge
from verifier_server.checkers.math.markup import clean
from verifier_server.checkers.math.phrases import last_phrase
from verifier_server.checkers.math.prose import is_prose

Mode = Literal["standard", "boxed", "lenient"]

MAX_WHOLE = 4096  # a longer completion is not just an expression
_MAX_WORDS = 40  # nor is one with more words

_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE | re.ASCII)
_HASHES = re.compile(r"(?:^|(?<=[ \t]))####[ \t]*([^\n]*)$", re.MULTILINE)
_NUMBER = re.compile(
    r"-?\\[dt]?frac(?:\{-?\d{1,99}\}\{\d{1,99}\}|\d\d)"
    r"|(?<![\w.])[-\u2212]?(?:(?:\d[\d,]*\d|\d)(?:\.\d+)?(?:/\d+)?%?|\.\d+)"
)
_STRUCK_OUT = "~~"  # Markdown's
_PROSE = re.compile(r"[A-Za-z]{2,}[ \t]+[A-Za-z]{2,}[ \t]")


def extract(completion: str, mode: Mode = "standard") -> Extracted | Missing:
    """Finds the answer of a completion."""
    rest = after_think(completion)
    if rest is None:
        return Missing("the thinking is unfinished")
    offset = len(completion) - len(rest)
    boxed = last_box(rest)
    if boxed is not None:
        return _moved(boxed, offset)
    if mode == "boxed":
        return Missing("there is no \\boxed answer")
    for rule in (_tagged, last_phrase, _hashes, _whole):
        found = rule(rest)
        if found is not None and not (mode == "lenient" and _is_sentence(found)):
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


def _tagged(text: str) -> Extracted | None:
    opening: re.Match[str] | None = None
    pairs: list[tuple[re.Match[str], re.Match[str]]] = []
    for tag in _TAG.finditer(text):
        if not tag.group(1):
            opening = tag
        elif opening is not None:
            pairs = [*pairs[-1:], (opening, tag)]
            opening = None
    if not pairs:
        return None
    start, end = pairs[-1][0].end(), pairs[-1][1].start()
    found = last_phrase(text[start:end])
    if found is not None:
        span = (start + found.span[0], start + found.span[1])
        return Extracted(found.text, "tag", span)
    answer = clean(text[start:end])
    other = _offered_before(text, pairs)
    return Extracted(answer, "tag", (start, end), (other, answer) if other and answer else ())


def _offered_before(text: str, pairs: list[tuple[re.Match[str], re.Match[str]]]) -> str:
    """The answer in the pair of tags before the last, if the last is an alternative to it."""
    if len(pairs) < 2:
        return ""
    before, last = pairs
    if not joins_alternatives(text[before[1].end() : last[0].start()]):
        return ""
    return clean(text[before[0].end() : before[1].start()])


def _hashes(text: str) -> Extracted | None:
    last = None
    for last in _HASHES.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    if last is None or not last.group(1).strip():
        return None
    return Extracted(clean(last.group(1)), "hashes", last.span(1))


def _whole(text: str) -> Extracted | None:
    if len(text) > MAX_WHOLE or not text.strip() or _STRUCK_OUT in text:
        return None
    answer = clean(text)
    is_displayed = text.lstrip().startswith(("$", "\\(", "\\["))
    if not answer or len(answer.split()) > _MAX_WORDS:
        return None
    if not is_displayed and not _is_expression(answer):
        return None
    return Extracted(answer, "whole", (0, len(text)))


def _is_sentence(found: Extracted) -> bool:
    """Whether a whole completion starts with prose that is no caption: `We have 3 + 2 = 5`."""
    return found.how == "whole" and ":" not in found.text and bool(_PROSE.match(found.text))


def _is_expression(text: str) -> bool:
    """Whether it reads as a value; what is too large to be read counts, to be refused as such."""
    try:
        return not is_prose(text)
    except TooLarge:
        return True
    except MathFault:
        return False
