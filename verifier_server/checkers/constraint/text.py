"""Rules about words, letters and patterns in a text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

import re2
from pydantic import Field, model_validator

from verifier_server.checkers.constraint.lengths import paragraphs
from verifier_server.checkers.constraint.rule import Rule, Whole, outside
from verifier_server.errors import BadReference

Phrase = Annotated[str, Field(min_length=1, max_length=1000)]

_WORD = re.compile(r"\w+")


class Keywords(Rule):
    """Which words or phrases the text has, and how often.

    Attributes:
        include: each must occur `min` to `max` times; with `match: any` one that does is
            enough.
        exclude: none may occur.
        whole_words: whether `cat` is not found in `category`.
        case_sensitive: whether `Cat` is another word than `cat`.
    """

    rule: Literal["keywords"]
    include: tuple[Phrase, ...] = ()
    exclude: tuple[Phrase, ...] = ()
    match: Literal["all", "any"] = "all"
    min: Whole = 1
    max: Whole | None = None
    whole_words: bool = True
    case_sensitive: bool = False

    @model_validator(mode="after")
    def _is_sensible(self) -> Self:
        if not self.include and not self.exclude:
            raise ValueError("give `include`, `exclude` or both")
        if self.max is not None and self.min > self.max:
            raise ValueError(f"`min` {self.min} is greater than `max` {self.max}")
        return self

    def fault(self, text: str) -> str | None:
        """Counts each keyword; the first that breaks the rule is named."""
        folded = text if self.case_sensitive else text.casefold()
        for keyword in self.exclude:
            if self._occurrences(folded, keyword):
                return f"the excluded {keyword!r} occurs"
        faults = [
            outside(self._occurrences(folded, keyword), self.min, self.max, f"times {keyword!r}")
            for keyword in self.include
        ]
        if self.match == "any":
            return faults[0] if faults and all(faults) else None
        return next(filter(None, faults), None)

    def _occurrences(self, folded: str, keyword: str) -> int:
        word = keyword if self.case_sensitive else keyword.casefold()
        pattern = re.escape(word)
        if self.whole_words:
            pattern = (
                (r"(?<!\w)" if _WORD.match(word[0]) else "")
                + pattern
                + (r"(?!\w)" if _WORD.match(word[-1]) else "")
            )
        return sum(1 for _ in re.finditer(pattern, folded))


class Edge(Rule):
    """How the text, or one paragraph of it, starts or ends.

    Attributes:
        text: what it must start or end with. Quotation marks around the whole are ignored.
        paragraph: 1 for the first; by default the whole text is judged.
        whole_words: whether `Yes` is no start of `Yesterday`.
        case_sensitive: whether upper and lower case differ.
    """

    rule: Literal["starts_with", "ends_with"]
    text: Phrase
    paragraph: Annotated[int, Field(ge=1)] | None = None
    whole_words: bool = True
    case_sensitive: bool = True

    def fault(self, text: str) -> str | None:
        """Compares the edge."""
        if self.paragraph is not None:
            found = paragraphs(text)
            if len(found) < self.paragraph:
                return f"{len(found)} paragraphs, so there is no paragraph {self.paragraph}"
            text = found[self.paragraph - 1]
        if self._has_edge(text) or self._has_edge(text.strip(" \t\n\"'\u2018\u2019“”")):
            return None
        return f"it does not {self.rule.removesuffix('s_with')} with {self.text!r}"

    def _has_edge(self, text: str) -> bool:
        wanted = self.text if self.case_sensitive else self.text.casefold()
        text = text if self.case_sensitive else text.casefold()
        at_start = self.rule == "starts_with"
        if not (text.startswith(wanted) if at_start else text.endswith(wanted)):
            return False
        inner = wanted[-1] if at_start else wanted[0]
        rest = text[len(wanted) :][:1] if at_start else text[: -len(wanted)][-1:]
        return not (self.whole_words and _WORD.match(inner) and _WORD.match(rest))


class LetterCase(Rule):
    """In which case the text is written.

    Attributes:
        case: `upper` and `lower` look at every letter that has a case, `title` at the first
            of every word.
        share: the least share of those letters that must be in that case.
    """

    rule: Literal["case"]
    case: Literal["upper", "lower", "title"]
    share: Annotated[float, Field(gt=0, le=1)] = 1.0

    def fault(self, text: str) -> str | None:
        """Counts the letters that have a case, and those in the right one."""
        if self.case == "title":
            text = "".join(word[0] for word in _WORD.findall(text))
        upper, lower = sum(map(str.isupper, text)), sum(map(str.islower, text))
        if not upper + lower:
            return "it has no letters that have a case"
        share = (lower if self.case == "lower" else upper) / (upper + lower)
        return None if share >= self.share else f"{share:.0%} of its letters are {self.case} case"


class Regex(Rule):
    """A pattern that the text must match, or must not.

    The engine is RE2: time is linear in the text, so look-around and back-references don't
    exist. Syntax: https://github.com/google/re2/wiki/Syntax

    Attributes:
        pattern: in RE2's syntax; flags go inside, as in `(?im)^yes`.
        mode: `fullmatch` for the whole text, `search` for anywhere in it.
        match: false if the text must not match.
        min, max: how many matches there must be (`search` only); empty ones don't count.
    """

    rule: Literal["regex"]
    pattern: Annotated[str, Field(max_length=10_000)]
    mode: Literal["search", "fullmatch"] = "search"
    match: bool = True
    min: Whole | None = None
    max: Whole | None = None

    @model_validator(mode="after")
    def _is_sensible(self) -> Self:
        counts = self.min is not None or self.max is not None
        if counts and (self.mode == "fullmatch" or not self.match):
            raise ValueError("`min` and `max` need `mode` search and `match` true")
        return self

    def prepare(self) -> None:
        """Raises BadReference if the pattern does not compile."""
        compile_linear(self.pattern)

    def fault(self, text: str) -> str | None:
        """Matches."""
        data, pattern = text.encode("utf-8", "replace"), compile_linear(self.pattern)
        if self.min is not None or self.max is not None:
            found = sum(hit.end() > hit.start() for hit in pattern.finditer(data))
            return outside(found, self.min, self.max, f"matches of {self.pattern!r}")
        find = pattern.search if self.mode == "search" else pattern.fullmatch
        if bool(find(data)) == self.match:
            return None
        return f"it {'does not match' if self.match else 'matches'} {self.pattern!r}"


@lru_cache(maxsize=256)
def compile_linear(pattern: str) -> Any:
    """The pattern compiled by RE2.

    Raises:
        BadReference: RE2 refuses it.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode(), options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0]
        said = reason.decode(errors="replace") if isinstance(reason, bytes) else str(error)
        raise BadReference(
            f"pattern {pattern!r}: {said}",
            remedy="patterns are RE2's: without look-around and back-references",
        ) from error
