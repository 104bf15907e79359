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
from typing import Literal

from verifier_server.checkers.alternatives import joins_alternatives
from verifier_server.checkers.completion import after_think
from verifier_server.checkers.math.boxes import last_box
from verifier_server.checkers.math.extracted import Extracted, Missing
from verifier_server.checkers.math.faults import MathFault, TooLarge
from verifier_server.checkers.math.prose import is_prose

Mode = Literal["standard", "boxed", "lenient"]

MAX_WHOLE = 4096  # a longer completion is not just an expression
_MAX_WORDS = 40  # nor is one with more words

_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE | re.ASCII)
_CLAUSE = re.compile(r"[A-Za-z][^\n]*\b(?:is|are|equals)[ \t]+")
_HEDGE = re.compile(r"\b(?:or|not|either|if|maybe|perhaps|possibly)\b", re.IGNORECASE)
_HASHES = re.compile(r"(?:^|(?<=[ \t]))####[ \t]*([^\n]*)$", re.MULTILINE)
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
    r"|[ \t]?(?:\u3067\u3059|\uc785\ub2c8\ub2e4)"  # the verbs of Japanese and Korean
)
_LEAD = " \t\r\n:*_=\uff1a"  # what may stand between a phrase and its answer
_DISPLAY = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
_NUMBER = re.compile(
    r"-?\\[dt]?frac(?:\{-?\d{1,99}\}\{\d{1,99}\}|\d\d)|(?<![\w.])[-\u2212]?(?:(?:\d[\d,]*\d|\d)(?:\.\d+)?(?:/\d+)?%?|\.\d+)"
)
_BOLD = re.compile(r"(?<!\S)\*\*(?=\S)|(?<=\S)\*\*(?=[\s.,;:]|\Z)")  # `x**2` is a power
_STRUCK_OUT = "~~"  # Markdown's
_PROSE = re.compile(r"[A-Za-z]{2,}[ \t]+[A-Za-z]{2,}[ \t]")
_FENCE = re.compile(r"^```[A-Za-z]*\n(?P<inside>.*?)\n?```$", re.DOTALL)
_ENVIRONMENT = re.compile(
    r"^\\begin\{(?P<name>equation|align|gather|displaymath|math)(?P<star>\*?)\}"
    r"(?P<inside>[^\\]*(?:\\(?!end\{|begin\{|\\)[^\\]*)*)\\end\{(?P=name)(?P=star)\}$"
)


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
    for rule in (_tagged, _phrase, _hashes, _whole):
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


# -- tags, phrases, hashes -----------------------------------------------------------------


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
    found = _phrase(text[start:end])
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
    while start < len(text) and text[start] in _LEAD:
        start += 1
    filler = _FILLER.match(text, start)
    start = filler.end() if filler else start
    end = _end_of_statement(text, start)
    # "Final answer: the largest n is 34."
    prose = _CLAUSE.match(text, start, end)
    if prose and not _HEDGE.search(prose.group()):
        start = prose.end()
    # Of `*27*` the phrase has taken the first star.
    return Extracted(clean(text[start:end].rstrip("*_. ")), "phrase", (start, end))


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
    """Whether a whole completion starts with prose: `We have 3 + 2 = 5`."""
    return found.how == "whole" and bool(_PROSE.match(found.text))


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
    framed = _FENCE.match(text) or _ENVIRONMENT.match(text)
    if framed:
        text = framed.group("inside").strip()
    for _ in range(8):
        before = text
        for opening, closing in (
            ("***", "***"), ("**", "**"), ("__", "__"), ("_", "_"), ("`", "`"),
            ("<b>", "</b>"), ("<strong>", "</strong>"), ("$$", "$$"), ("\\[", "\\]"),
            ("\\(", "\\)"), ("$", "$"), ("*", "*"), ("\\displaystyle", ""),
        ):  # fmt: skip
            if _encloses(text, opening, closing):
                text = text[len(opening) : len(text) - len(closing)].strip()
        if text.endswith((".", ",", ";")) and not text.endswith(("...", "\\,", "\\;", "m.")):
            text = text[:-1].rstrip()
        if text == before:
            break
    return _BOLD.sub(" ", text).strip()


def _encloses(text: str, opening: str, closing: str) -> bool:
    inner = len(text) - len(opening) - len(closing)
    if inner <= 0 or not text.startswith(opening) or not text.endswith(closing):
        return False
    return not closing or text.find(closing, len(opening)) == len(text) - len(closing)
