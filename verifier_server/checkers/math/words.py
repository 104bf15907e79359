"""Answers in words: numbers and ordinals spelled out, phrases with a meaning, labels."""

from __future__ import annotations

from fractions import Fraction

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math import lexicon, units
from verifier_server.checkers.math.faults import Unsupported
from verifier_server.checkers.math.tokens import Kind, Token
from verifier_server.checkers.math.values import EMPTY, Quantity, Reals, Scalar, Text, Value

_PARTS = {"half": 2, "halve": 2, "quarter": 4}
_PARTS |= {word: n for word, n in lexicon.ORDINAL_WORDS.items() if n > 2}
_MINUS = frozenset({"minus", "negative"})
_FILLERS = frozenset({"and", "a", "the"})
_ARTICLES = ("a ", "an ", "the ")
_MAX_DIGITS = 30


def is_wordy(tokens: list[Token]) -> bool:
    """Whether there is nothing but words and what may stand between them."""
    has_words = any(t.kind in (Kind.TEXT, Kind.WORD) for t in tokens)
    words = [Kind.TEXT, Kind.WORD, Kind.NAME]
    if tokens[0].kind is Kind.TEXT:
        words.append(Kind.NUMBER)  # "Room 12"
    return has_words and all(
        t.kind in words or (t.kind is Kind.SIGN and t.text in ("-", ".", "'", "!", "&"))
        for t in tokens
    )


def parse_words(tokens: list[Token]) -> Value:
    """The value of an answer in words; what has none is a `Text`."""
    words = [t.text for t in tokens if t.kind is not Kind.SIGN]
    if tokens[0].text == "-":
        words.insert(0, "minus")
    phrase = " ".join(words).lower()
    joined = "".join(("" if t.text in ("'", "-") else " ") + t.text for t in tokens).lower()
    spelled = " ".join(joined.replace("' ", "'").split()).strip(" .!?")
    if phrase in lexicon.EMPTY_PHRASES:
        return EMPTY
    if phrase in lexicon.ALL_REALS_PHRASES:
        return Reals()
    sign, _, rest = phrase.rpartition(" ")
    if rest in lexicon.INFINITY_WORDS and sign in ("", "plus", "positive", *_MINUS):
        return Scalar(ex.Neg(ex.INFINITY) if sign in _MINUS else ex.INFINITY)
    number = _number_with_unit(tokens, [word.lower() for word in words])
    if number is not None:
        return number
    meaning = lexicon.SYNONYMS.get(phrase) or lexicon.SYNONYMS.get(spelled)
    if meaning is None and len(tokens) == 1 and tokens[0].kind is Kind.WORD:
        return Text(phrase, letters=words[0])
    return Text(meaning or _without_article(phrase))


def _without_article(phrase: str) -> str:
    return next((phrase.removeprefix(a) for a in _ARTICLES if phrase.startswith(a)), phrase)


def _number_with_unit(tokens: list[Token], words: list[str]) -> Value | None:
    for size in range(len(words), 0, -1):
        value = spelled_number(words[:size])
        if value is None:
            continue
        number = ex.Num(value)
        rest = [t for t in tokens if t.kind is not Kind.SIGN][size - (tokens[0].text == "-") :]
        if not rest:
            return Scalar(number)
        try:
            unit = units.parse_unit(rest)
        except Unsupported:
            return None
        return Quantity(number, unit) if unit else Scalar(number)
    return None


def spelled_number(words: list[str]) -> Fraction | None:
    """The number that words in small letters spell, or None."""
    if not words:
        return None
    if words[0] in _MINUS:
        is_digits = len(words) == 2 and words[1].isdecimal() and len(words[1]) <= _MAX_DIGITS
        positive = Fraction(int(words[1])) if is_digits else spelled_number(words[1:])
        return None if positive is None else -positive
    if words[0] in ("a", "an") and words[1:2] and words[1] in lexicon.MAGNITUDE_WORDS:
        words = ["one", *words[1:]]
    *head, last = words
    if last in lexicon.ORDINAL_WORDS and not head:
        return Fraction(lexicon.ORDINAL_WORDS[last])
    part = _PARTS.get(last) or _PARTS.get(last.removesuffix("s"))
    if part and "and" in head:
        return _with_fraction(words, words.index("and"))
    if part and (head or last == "half"):
        count = _whole(head) if head not in ([], ["a"], ["one"]) else 1
        return None if count is None else Fraction(count, part)
    whole = _whole(words)
    return None if whole is None else Fraction(whole)


def _with_fraction(words: list[str], joint: int) -> Fraction | None:
    """Three and a quarter."""
    whole, part = _whole(words[:joint]), spelled_number(words[joint + 1 :])
    return whole + part if whole is not None and part is not None and part < 1 else None


def _whole(words: list[str]) -> int | None:
    total = group = 0
    seen = False
    for word in words:
        if word in lexicon.NUMBER_WORDS:
            n = lexicon.NUMBER_WORDS[word]
            # "five six" is no eleven.
            if group % 100 and not (group % 100 >= 20 and group % 10 == 0 and n < 10):
                return None
            group += n
        elif word in lexicon.MAGNITUDE_WORDS and seen:
            size = lexicon.MAGNITUDE_WORDS[word]
            if size == 100:
                group *= 100
            else:
                total, group = total + group * size, 0
        elif word not in _FILLERS or not seen:
            return None
        seen = True
    return total + group if seen else None
