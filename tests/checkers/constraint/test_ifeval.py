"""IFEval's instructions as rules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checkers.constraint.conftest import JudgeRule
from verifier_server.verdict import Outcome


def rule(id_: str, **kwargs: Any) -> dict[str, Any]:
    return {"rule": "ifeval", "id": id_, "kwargs": kwargs}


@pytest.mark.parametrize(
    ("instruction", "kept", "broken"),
    [
        (rule("keywords:existence", keywords=["cat", "dog"]), "Cats and a dog.", "A cat."),
        (rule("keywords:frequency", keyword="cat", frequency=2, relation="at least"),
         "cat Cat", "cat"),
        (rule("keywords:frequency", keyword="cat", frequency=2, relation="less than"),
         "dog", "cat cat"),
        (rule("keywords:forbidden_words", forbidden_words=["cat"]), "category", "A Cat."),
        (rule("keywords:letter_frequency", letter="q", let_frequency=2, let_relation="at least"),
         "Q q", "q"),
        (rule("length_constraints:number_sentences", num_sentences=2, relation="at least"),
         "One. Two.", "One."),
        (rule("length_constraints:number_sentences", num_sentences=2, relation="less than"),
         "One.", "One. Two."),
        (rule("length_constraints:number_paragraphs", num_paragraphs=2), "a\n***\nb", "a\n\nb"),
        (rule("length_constraints:number_words", num_words=3, relation="less than"),
         "one two", "one two three"),
        (rule("length_constraints:number_words", num_words=3, relation="at least"),
         "don't go", "go on"),
        (rule("length_constraints:nth_paragraph_first_word", num_paragraphs=2, nth_paragraph=2,
              first_word="then"), "First.\n\nThen, so.", "First.\n\nThenceforth."),
        (rule("detectable_content:number_placeholders", num_placeholders=1), "To [name]", "To you"),
        (rule("detectable_content:postscript", postscript_marker="P.S."), "Hi.\n\nP.S. Bye", "PS"),
        (rule("detectable_content:postscript", postscript_marker="P.P.S"), "Hi\nP.P.S. x", "P.S."),
        (rule("detectable_format:number_bullet_lists", num_bullets=2), "* a\n* b", "* a\n* b\n* c"),
        (rule("detectable_format:constrained_response"), "My answer is no. Sorry.",
         "My answer is yes. My answer is no."),
        (rule("detectable_format:number_highlighted_sections", num_highlights=2),
         "*a* and **b**", "*a*"),
        (rule("detectable_format:multiple_sections", section_spliter="SECTION", num_sections=2),
         "SECTION 1\na\n\n**SECTION 2**\nb", "SECTION 1 and SECTION 2"),
        (rule("detectable_format:json_format"), '```json\n{"a": 1}\n```', 'It is {"a": 1}'),
        (rule("detectable_format:title"), "<<A poem>>\nRoses", "<< >>"),
        (rule("combination:two_responses"), "One\n******\nTwo", "One\n******\nOne"),
        (rule("combination:repeat_prompt", prompt_to_repeat="Why (not)?"), "why (not)? Since.",
         "Since. Why (not)?"),
        (rule("startend:end_checker", end_phrase="Any other questions?"),
         '"So. any other questions?"', "Any other questions? No."),
        (rule("startend:quotation"), '"All\nof it"', '"Some" of it'),
        (rule("change_case:capital_word_frequency", capital_frequency=2,
              capital_relation="at least"), "SO IT is", "SO it is"),
        (rule("punctuation:no_comma"), "a; b", "a, b"),
    ],
    ids=lambda value: value["id"] if isinstance(value, dict) else "",
)  # fmt: skip
def test_an_instruction_is_kept_or_broken(
    judge_rule: JudgeRule, instruction: dict[str, Any], kept: str, broken: str
) -> None:
    accepted, rejected = judge_rule(kept, instruction), judge_rule(broken, instruction)
    assert (accepted.score, rejected.score) == (1, 0), accepted.explanation
    assert list(accepted.components) == [instruction["id"]]


def test_arguments_that_are_null_are_taken_as_not_given(judge_rule: JudgeRule) -> None:
    instruction = rule(
        "length_constraints:number_words", num_words=1, relation="at least", keywords=None
    )
    assert judge_rule("word", instruction).score == 1


@pytest.mark.parametrize(
    "instruction",
    [
        rule("language:response_language", language="de"),
        rule("change_case:english_capital"),
        rule("no:such"),
        rule("length_constraints:number_words"),
        rule("length_constraints:number_words", num_words=1, relation="more than"),
        rule("length_constraints:number_words", num_words=-1, relation="at least"),
        rule("length_constraints:number_words", num_words=0, relation="less than"),
        rule("length_constraints:number_words", num_words=1, relation="at least", extra=1),
        rule("keywords:existence", keywords=[]),
        rule("keywords:letter_frequency", letter="ab", let_frequency=1, let_relation="at least"),
    ],
)
def test_an_instruction_that_cannot_be_judged_is_the_tasks_fault(
    judge_rule: JudgeRule, instruction: dict[str, Any]
) -> None:
    judgement = judge_rule("word", instruction)
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE)
    assert instruction["id"] in judgement.explanation


def test_an_unknown_instruction_is_answered_with_those_there_are(judge_rule: JudgeRule) -> None:
    judgement = judge_rule("word", rule("punctuation:no_dot"))
    assert "punctuation:no_comma" in judgement.explanation
