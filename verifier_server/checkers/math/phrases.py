"""Answers that a phrase or a heading announces: "The final answer is …", "Answer: …"."""

from __future__ import annotations

import re

from verifier_server.checkers.math.extracted import Extracted
from verifier_server.checkers.math.markup import clean

_CLAUSE = re.compile(r"[A-Za-z][^\n]*\b(?:is|are|equals)[ \t]+")
_HEDGE = re.compile(r"\b(?:or|not|either|if|maybe|perhaps|possibly)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[A-Z][a-z]*[ \t]+[a-z]+[ \t]")
_RESERVE = re.compile(
    _HEDGE.pattern + r"|\b(?:than|least|most|between|over|under|above|below|almost|nearly|unless"
    r"|except|cannot|unknown|wrong|incorrect|false)\b|n't\b",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"\$([^$\n]+)\$|\\\((.+?)\\\)|(?<![\w.$])(-?\d[\d,]*(?:\.\d+)?(?:/\d+)?%?)(?!\w)"
)
_PHRASE = re.compile(
    r"(?<![A-Za-z])answer(?:[ \t]+to[ \t]+th(?:e|is)[ \t]+(?:question|problem))?"
    r"(?:[ \t]*[*_]{1,3})?"
    r"(?:[ \t]+is|[ \t]*[:=\uff1a]|[ \t]+(?:would|should|must|will)[ \t]+be)"
    r"|\u7b54\u6848(?:\u662f|\u4e3a|\u70ba|[:\uff1a])"  # Chinese
    r"|\brespuesta(?:[ \t]+final)?(?:[ \t]+es|[ \t]*:)"
    r"|\br\u00e9ponse(?:[ \t]+finale)?(?:[ \t]+est|[ \t]*:)"
    r"|\bAntwort(?:[ \t]+ist|[ \t]+lautet|[ \t]*:)"
    r"|\b\u043e\u0442\u0432\u0435\u0442[ \t]*:"  # Russian
    r"|\bresposta(?:[ \t]+final)?(?:[ \t]+\u00e9|[ \t]*:)"
    r"|\brisposta(?:[ \t]+finale)?(?:[ \t]+\u00e8|[ \t]*:)"
    r"|\u7b54\u3048(?:\u306f|[:\uff1a])"  # Japanese
    r"|\uc815\ub2f5(?:\uc740|[ \t]*[:\uff1a])",  # Korean
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"(?:(?:therefore|then|thus|hence|so|simply|exactly|precisely|approximately|about|roughly"
    r"|indeed|given[ \t]+by|the[ \t]+(?:number|value|integer|fraction))[ \t,:]+)+",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^[#*_ \t]*(?:final[ \t]+)?answer[#*_: \t]*$", re.IGNORECASE | re.MULTILINE)
_SENTENCE_END = re.compile(
    r"[.!\u3002](?=[\s*_]|$)(?<![ap]\.m\.)|\n"
    r"|,?[ \t](?:because|since|which|so[ \t]that|as[ \t]we)\b|,[ \t]not\b"
    r"|;[ \t](?:I|we|this|that|it)\b"
    r"|[ \t]?(?:\u3067\u3059|\uc785\ub2c8\ub2e4)"  # the verbs of Japanese and Korean
)
_LEAD = " \t\r\n:*_=\uff1a"  # what may stand between a phrase and its answer
_DISPLAY = {"```": "```", "$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
_LONGEST_SENTENCE = 300


def last_phrase(text: str) -> Extracted | None:
    """What the last phrase or heading announces, or None if there is none."""
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
    while start < len(text) and text[start] in _LEAD:
        start += 1
    filler = _FILLER.match(text, start)
    start = filler.end() if filler else start
    end = _end_of_statement(text, start)
    # "Final answer: the largest n is 34."
    prose = _CLAUSE.match(text, start, end)
    if prose and not _HEDGE.search(prose.group()):
        start = prose.end()
    else:
        start, end = _only_value(text, start, end)
    # Of `*27*` the phrase has taken the first star.
    said = text[start:end].rstrip("*_. ")
    if said.endswith((")", "]")) and _closes_too_much(said):
        said = said[:-1]  # "(Answer: 5)"
    return Extracted(clean(said), "phrase", (start, end))


def _only_value(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the one value of a sentence stands, as in `The bakery bakes 1140 rolls`.

    The whole statement where it is no sentence, holds several values or hedges.
    """
    said = text[start : min(end, start + _LONGEST_SENTENCE)]
    if end - start > _LONGEST_SENTENCE or not _SENTENCE.match(said) or _RESERVE.search(said):
        return start, end
    values = list(_STATED.finditer(said))
    if len(values) != 1:
        return start, end
    return start + values[0].start(), start + values[0].end()


def _closes_too_much(said: str) -> bool:
    opened, closed = (sum(map(said.count, brackets)) for brackets in ("([", ")]"))
    return closed > opened


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
