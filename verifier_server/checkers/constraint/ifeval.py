"""IFEval's instruction ids as names of our rules.

Ids and arguments are those of "Instruction-Following Evaluation for Large Language Models"
(Zhou et al., arXiv:2311.07911) and its data set. Where the reference code is looser than the
instruction that it judges, ours is not: a bullet needs a space, a postscript and a section
start a line, and of the constrained responses exactly one may be given. Sentences are split
by our own rules, not by a trained tokenizer. Instructions that need language detection are
not supported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import re2
from pydantic import Field, ValidationError, validate_call

from verifier_server.checkers.constraint.lengths import Count, Paragraphs
from verifier_server.checkers.constraint.rule import Rule, Whole
from verifier_server.checkers.constraint.schema import JsonSchema
from verifier_server.checkers.constraint.text import Edge, Keywords, Phrase, Regex
from verifier_server.errors import BadReference

Relation = Literal["less than", "at least"]
Phrases = Annotated[list[Phrase], Field(min_length=1)]


class IfEval(Rule):
    """One IFEval instruction, as its data set writes it.

    Attributes:
        id: such as `length_constraints:number_words`.
        kwargs: its arguments; those that are null are taken as not given.
    """

    rule: Literal["ifeval"]
    id: str
    kwargs: dict[str, Any] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """The instruction's id."""
        return self.id

    def prepare(self) -> None:
        """Raises BadReference for an unknown id or arguments that don't fit it."""
        for rule in self._rules:
            rule.prepare()

    def fault(self, text: str) -> str | None:
        """The first fault of the rules that the instruction stands for."""
        return next(filter(None, (rule.fault(text) for rule in self._rules)), None)

    @cached_property
    def _rules(self) -> Sequence[Rule]:
        if self.id not in _INSTRUCTIONS:
            raise BadReference(
                f"no IFEval instruction {self.id!r} here",
                remedy=f"there are: {', '.join(sorted(_INSTRUCTIONS))}; for letter case "
                'without its language use {"rule": "case"}',
            )
        given = {name: value for name, value in self.kwargs.items() if value is not None}
        try:
            made = validate_call(_INSTRUCTIONS[self.id])(**given)
        except ValidationError as error:
            detail = error.errors(include_url=False)[0]
            where = ".".join(map(str, detail["loc"]))
            raise BadReference(f"{self.id}: {where}: {detail['msg']}") from error
        return made if isinstance(made, tuple) else (made,)


def _bounds(relation: Relation, number: int) -> dict[str, int]:
    if relation == "at least":
        return {"min": number}
    # "less than 0" can't be met; as `max` of -1 it is refused.
    return {"max": number - 1}


def _number_words(num_words: Whole, relation: Relation) -> Rule:
    return Count(rule="word_runs", **_bounds(relation, num_words))


def _number_sentences(num_sentences: Whole, relation: Relation) -> Rule:
    return Count(rule="sentences", **_bounds(relation, num_sentences))


def _number_paragraphs(num_paragraphs: Whole) -> Rule:
    return Paragraphs(rule="paragraphs", min=num_paragraphs, max=num_paragraphs, separator="***")


def _nth_paragraph_first_word(
    num_paragraphs: Whole, nth_paragraph: Annotated[int, Field(ge=1)], first_word: Phrase
) -> tuple[Rule, ...]:
    return (
        Paragraphs(rule="paragraphs", min=num_paragraphs, max=num_paragraphs),
        Edge(rule="starts_with", text=first_word, paragraph=nth_paragraph, case_sensitive=False),
    )


def _two_responses() -> Rule:
    return Paragraphs(rule="paragraphs", min=2, max=2, separator="******", distinct=True)


def _existence(keywords: Phrases) -> Rule:
    return Keywords(rule="keywords", include=tuple(keywords), whole_words=False)


def _frequency(keyword: Phrase, frequency: Whole, relation: Relation) -> Rule:
    bounds = {"min": 0, **_bounds(relation, frequency)}
    return Keywords(rule="keywords", include=(keyword.strip(),), whole_words=False, **bounds)


def _letter_frequency(
    letter: Annotated[str, Field(min_length=1, max_length=1)],
    let_frequency: Whole,
    let_relation: Relation,
) -> Rule:
    return _frequency(letter, let_frequency, let_relation)


def _forbidden_words(forbidden_words: Phrases) -> Rule:
    return Keywords(rule="keywords", exclude=tuple(forbidden_words))


def _number_placeholders(num_placeholders: Whole) -> Rule:
    return Count(rule="placeholders", min=num_placeholders)


def _number_bullet_lists(num_bullets: Whole) -> Rule:
    return Count(rule="bullets", min=num_bullets, max=num_bullets)


def _number_highlighted_sections(num_highlights: Whole) -> Rule:
    return Count(rule="highlights", min=num_highlights)


def _capital_word_frequency(capital_frequency: Whole, capital_relation: Relation) -> Rule:
    return Count(rule="capital_words", **_bounds(capital_relation, capital_frequency))


def _multiple_sections(section_spliter: Phrase, num_sections: Whole) -> Rule:
    marker = re2.escape(section_spliter.strip())
    return Regex(rule="regex", pattern=rf"(?m)^[\s#*_]*{marker}\s?\d+", min=num_sections)


def _postscript(postscript_marker: Phrase) -> Rule:
    known = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}
    marker = known.get(postscript_marker.strip()) or re2.escape(postscript_marker.strip())
    return Regex(rule="regex", pattern=rf"(?im)^[\s*_]*{marker}")


def _constrained_response() -> Rule:
    return Regex(rule="regex", pattern=r"My answer is (?:yes|no|maybe)\.", min=1, max=1)


def _title() -> Rule:
    return Regex(rule="regex", pattern=r"<<[^\n]*[^\s<>][^\n]*>>")


def _json_format() -> Rule:
    return JsonSchema(rule="json_schema", schema={}, whole=True)


def _repeat_prompt(prompt_to_repeat: Annotated[str, Field(min_length=1)]) -> Rule:
    # As a pattern, since a prompt may be longer than a phrase.
    return Regex(rule="regex", pattern=rf"(?i)^{re2.escape(prompt_to_repeat.strip())}")


def _end_checker(end_phrase: Phrase) -> Rule:
    return Edge(rule="ends_with", text=end_phrase.strip(), whole_words=False, case_sensitive=False)


def _quotation() -> Rule:
    return Regex(rule="regex", pattern=r'(?s)".*"', mode="fullmatch")


def _no_comma() -> Rule:
    return Count(rule="commas", max=0)


_INSTRUCTIONS: dict[str, Callable[..., Rule | tuple[Rule, ...]]] = {
    "keywords:existence": _existence,
    "keywords:frequency": _frequency,
    "keywords:forbidden_words": _forbidden_words,
    "keywords:letter_frequency": _letter_frequency,
    "length_constraints:number_sentences": _number_sentences,
    "length_constraints:number_paragraphs": _number_paragraphs,
    "length_constraints:number_words": _number_words,
    "length_constraints:nth_paragraph_first_word": _nth_paragraph_first_word,
    "detectable_content:number_placeholders": _number_placeholders,
    "detectable_content:postscript": _postscript,
    "detectable_format:number_bullet_lists": _number_bullet_lists,
    "detectable_format:constrained_response": _constrained_response,
    "detectable_format:number_highlighted_sections": _number_highlighted_sections,
    "detectable_format:multiple_sections": _multiple_sections,
    "detectable_format:json_format": _json_format,
    "detectable_format:title": _title,
    "combination:two_responses": _two_responses,
    "combination:repeat_prompt": _repeat_prompt,
    "startend:end_checker": _end_checker,
    "startend:quotation": _quotation,
    "change_case:capital_word_frequency": _capital_word_frequency,
    "punctuation:no_comma": _no_comma,
}
