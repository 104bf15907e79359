r"""Reads which lettered options a text names, in one documented order of places.

A place that names a letter ends the search, whatever comes later in the order; one that
names none (`\boxed{42}`) is passed over. Every pattern here is linear in the text: its
quantifiers are bounded or can't give back what the next part could take.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from verifier_server.checkers.alternatives import joins_alternatives
from verifier_server.checkers.texts import index_of_equal

# Repeated places are looked at from the last one backwards, no further than this.
_LAST_PLACES = 50
# An answer longer than this is prose, not the name of an option.
_STATEMENT_CHARACTERS = 400

_BOX = re.compile(r"\\(?:boxed|fbox) ?\{([^{}]{0,400}+(?:\{[^{}]{0,100}+\}[^{}]{0,100}+){0,8}+)\}")
_BETWEEN_BOXES = re.compile(r"(?i)[\s$.,;/|&*]*(?:\\text\{ ?)?(?:and|or)?[\s$}*]*")
_OPENING_TAG, _CLOSING_TAG = "<answer>", "</answer>"
_PHRASE = re.compile(
    r"(?i)\b(?:answers?|(?:correct|right|best|final|my) (?:options?|choices?))[*_]{0,3}\s{0,4}"
    r"(?:(?:is|are|would be|should be|must be)\b|[:=])[*_]{0,3}\s{0,4}:?[*_]{0,3}\s{0,4}"
)
_WRAPPER = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathsf|rm|bf)\b")
_WRAPPED = re.compile(_WRAPPER.pattern + r" ?\{([^{}]*)\}")
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*|[/|]")
_NOISE = frozenset({"and", "option", "options", "choice", "choices", "both", "either", "letter"})
_HEDGES = frozenset({"or", "/", "|"})

_OPENING = r"(?:[\s(\[{$*_`\"'“\u2018]|\\[(]|\\(?:text|textbf|mathrm|mathbf|boxed)\b)"
_ELEMENT = re.compile(
    rf"(?P<open>{_OPENING}*)(?:(?i:options?|choices?|either|both|letter)\b{_OPENING}*)?"
    r"(?P<name>[A-Z]+|[a-z])(?!\w|['\u2019]\w)(?P<close>(?:\\?[)\]}$*_`\"'\u2019”])*)"
)
_LINK = re.compile(r"(?i)\s{0,4}(?:[.?!,(\[]?\s{0,2}(?P<word>and|or)\b|(?P<mark>[,;&+/|]))")
_ENDED = re.compile(r"[.:!?]?\s*(?:$|\n)|[.,;:)&+/|]|\s+\(?(?:and|or)\b")
# A bare `A` or `I` is a letter before these; before another word it is an article, a pronoun.
_AFTER_LETTER = re.compile(r"\s+(?:as|and|because|but|due|for|given|in|is|or|since|which|with)\b")
_LABEL = re.compile(
    r"[\s(\[*_`$]{0,8}([A-Z](?=[*_)\].:])|[a-z](?=\)))[*_]{0,3}[)\].:][)\].:*_]{0,4}\s+(\S[^\n]*)"
)
_OTHER_LABEL = re.compile(r"(?<!\w)([A-Z])[):\]]|[.;,]\s{1,4}([A-Z])\.")
_LINKED_LABEL = re.compile(r"(\band\b|\bor\b|[,;&/])\s{0,4}\(?([A-Z])[).:]")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text names: letters, upper case, in or outside the options.

    `is_hedged` is true where they are offered as alternatives ("A or B").
    """

    letters: frozenset[str]
    is_hedged: bool = False


def read_choice(text: str, letters: str, texts: Sequence[str] = ()) -> Reading | None:
    """The options that `text` names, or None.

    The order of places: the last box, the last `<answer>`, the last "the answer is …" or
    "Answer: …", the text as a whole, its last line.

    Args:
        text: what follows the reasoning.
        letters: the letters of the options, from `A`.
        texts: the options' texts, if they are known; a place that holds exactly one of them
            names its letter.
    """
    options = _Options(letters, texts)
    last_line = _last_line(text)
    return (
        _boxed(text, options)
        or _tagged(text, options)
        or _phrased(text, options)
        or options.read(text)
        or options.letters_of(last_line, lower="(" in last_line)
    )


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of one task, and the ways to name them."""

    letters: str
    texts: Sequence[str]

    def read(self, statement: str) -> Reading | None:
        """What a statement that is nothing but an answer names."""
        statement = statement.strip()
        if len(statement) > _STATEMENT_CHARACTERS:
            return self.by_text(statement)
        return self.letters_of(statement) or self.by_text(statement) or self.labelled(statement)

    def letters_of(self, statement: str, *, lower: bool = True) -> Reading | None:
        """Nothing but letters, their separators and mark-up: `(B)`, `A and C`, `AC`."""
        if len(statement) > _STATEMENT_CHARACTERS:
            return None
        found: set[str] = set()
        is_hedged = False
        for word in _WORD.findall(_WRAPPER.sub(" ", statement)):
            if word.lower() in _HEDGES:
                is_hedged = True
            elif word.lower() not in _NOISE:
                named = self.spelled(word, lower=lower)
                if not named:
                    return None
                found |= named
        return Reading(frozenset(found), is_hedged and len(found) > 1) if found else None

    def spelled(self, word: str, *, lower: bool) -> frozenset[str]:
        """The letters that one word stands for: `B`, or `AC` where both are options."""
        word = word.strip("_")
        if len(word) == 1:
            is_letter = word.isascii() and word.isalpha() and (lower or word.isupper())
            return frozenset(word.upper()) if is_letter else frozenset()
        is_run = word.isupper() and set(word) <= set(self.letters) and len(set(word)) == len(word)
        return frozenset(word) if is_run else frozenset()

    def by_text(self, statement: str) -> Reading | None:
        """The option whose text this is, up to case and a full stop."""
        if not self.texts:
            return None
        wrapped = _WRAPPED.fullmatch(statement)
        statement = wrapped[1] if wrapped else statement
        for text in (statement, statement.removesuffix(".")):
            index = index_of_equal(text.strip(), self.texts)
            if index is not None:
                return Reading(frozenset(self.letters[index]))
        return None

    def labelled(self, statement: str) -> Reading | None:
        """One line such as `B) Paris`, with no other option's label or text in it."""
        label = _LABEL.fullmatch(statement)
        if not label:
            return None
        letter, text = label[1].upper(), label[2]
        labels = {first or second for first, second in _OTHER_LABEL.findall(text)}
        named = self.by_text(text)
        if labels - {letter} or (named and letter not in named.letters):
            return None
        return Reading(frozenset(letter))


def _boxed(text: str, options: _Options) -> Reading | None:
    """The last box that names an option, with those that only "and" or "or" part it from."""
    boxes = deque(_BOX.finditer(text), maxlen=_LAST_PLACES)
    while boxes:
        box = boxes.pop()
        statement, start = box[1], box.start()
        while boxes and start - boxes[-1].end() <= 60:
            between = text[boxes[-1].end() : start]
            if joins_alternatives(between):
                between = "or"
            elif not _BETWEEN_BOXES.fullmatch(between):
                break
            box = boxes.pop()
            statement, start = f"{box[1]} {between} {statement}", box.start()
        reading = options.read(statement)
        if reading:
            return reading
    return None


def _tagged(text: str, options: _Options) -> Reading | None:
    """What the last `<answer>…</answer>` names."""
    end = text.rfind(_CLOSING_TAG)
    start = text.rfind(_OPENING_TAG, 0, max(end, 0))
    if start < 0:
        return None
    reading = options.read(text[start + len(_OPENING_TAG) : end])
    before = text.rfind(_CLOSING_TAG, 0, start)
    is_alternative = before >= 0 and joins_alternatives(text[before + len(_CLOSING_TAG) : start])
    if not reading or not is_alternative:
        return reading
    opening = text.rfind(_OPENING_TAG, 0, before)
    other = options.read(text[opening + len(_OPENING_TAG) : before]) if opening >= 0 else None
    letters = reading.letters | (other.letters if other else frozenset())
    return Reading(letters, len(letters) > 1)


def _phrased(text: str, options: _Options) -> Reading | None:
    """What the last phrase that announces an answer and names an option names."""
    for phrase in reversed(deque(_PHRASE.finditer(text), maxlen=_LAST_PLACES)):
        said = text[phrase.end() : phrase.end() + _STATEMENT_CHARACTERS].partition("\n")[0]
        reading = _leading(said, options) or options.by_text(said.strip().strip("*_"))
        if reading:
            return _with_named(reading, said.strip(), options)
    return None


def _with_named(reading: Reading, said: str, options: _Options) -> Reading:
    """The reading, with the option whose text stands after the letter: `B) Rome`."""
    label = _LABEL.fullmatch(said)
    named = options.by_text(label[2].strip("*_")) if label else None
    return Reading(reading.letters | named.letters, reading.is_hedged) if named else reading


def _leading(said: str, options: _Options) -> Reading | None:
    """The letters that a line starts with: `(B) Paris`, `B because…`, `A and C.`, `A or B`."""
    found: set[str] = set()
    is_hedged = False
    position = 0
    while element := _ELEMENT.match(said, position):
        named = options.spelled(element["name"], lower=_is_explicit(said, element))
        if not named or not (_ends(said, element) if found else _stands_alone(said, element)):
            break
        found |= named
        position = element.end()
        while link := _LINK.match(said, position):
            is_hedged |= (link["word"] or link["mark"]).lower() in _HEDGES
            position = link.end()
    if not found:
        return None
    for link_word, letter in _LINKED_LABEL.findall(said, position):
        found.add(letter)
        is_hedged |= link_word in _HEDGES
    return Reading(frozenset(found), is_hedged)


def _is_explicit(said: str, element: re.Match[str]) -> bool:
    """Whether a lower-case letter here is a choice: `(b)`, or `b` at the end of the line."""
    return element["close"].startswith((")", "}", "*")) or not said[element.end() :].strip(" .\t")


def _stands_alone(said: str, element: re.Match[str]) -> bool:
    """Whether a letter is no article: "The answer is A" against "Answer: A city"."""
    if element["name"] not in ("A", "I") or element["close"] or _ends(said, element):
        return True
    return bool(_AFTER_LETTER.match(said, element.end()))


def _ends(said: str, element: re.Match[str]) -> bool:
    return bool(_ENDED.match(said, element.end()))


def _last_line(text: str) -> str:
    return text.rstrip()[-_STATEMENT_CHARACTERS - 1 :].rpartition("\n")[2]
