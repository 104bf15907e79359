"""The rules about lengths, words, edges, case and patterns."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checkers.constraint.conftest import JudgeRule
from verifier_server.verdict import Outcome


@pytest.mark.parametrize(
    ("unit", "text", "count"),
    [
        ("characters", "  né\n", 2),
        ("characters", "a b", 3),
        ("words", "I don't know, well-known Mr. X.", 6),
        ("words", "你好 world", 2),
        ("words", "-- ... !", 0),
        ("word_runs", "I don't know", 4),
        ("capital_words", "NASA is A Big USA", 3),
        ("lines", "a\n\n b\n \nc", 3),
        ("bullets", "* a\n- b\n + c\n-d\n**e**\n---\n1. f\n• g", 4),
        ("placeholders", "Dear [name], [address] [] [a\nb]", 2),
        ("highlights", "*a* and **b** but * * nor **", 2),
        ("commas", "a, b,c", 2),
        ("sentences", "Hello there. I am Dr. Smith! Is 3.5 > 3?", 3),
        ("sentences", 'He said "Yes." (She did not.) **Why?**', 3),
        ("sentences", "J. R. R. Tolkien wrote it, e.g. in Oxford", 1),
        ("sentences", "So am I. You too... really?!", 3),
        ("sentences", "A heading\n\nA text.", 2),
        ("sentences", "你好。再见\uff01好", 3),
        ("sentences", "... !!", 0),
        ("sentences", "I say no. Never.", 2),
    ],
)
def test_units_are_counted(judge_rule: JudgeRule, unit: str, text: str, count: int) -> None:
    exactly = judge_rule(text, {"rule": unit, "min": count, "max": count})
    more = judge_rule(text, {"rule": unit, "min": count + 1})
    assert (exactly.score, more.score) == (1, 0), exactly.explanation
    if count:
        assert judge_rule(text, {"rule": unit, "max": count - 1}).score == 0


@pytest.mark.parametrize(
    ("text", "rule", "score"),
    [
        ("a\n\nb\n \n\nc", {"min": 3, "max": 3}, 1),
        ("a\nb", {"min": 2}, 0),
        ("a *** b***c", {"separator": "***", "min": 3, "max": 3}, 1),
        ("***a***", {"separator": "***", "min": 1, "max": 1}, 1),
        ("a *** *** b", {"separator": "***", "min": 2}, 0),
        ("a ****** b", {"separator": "******", "min": 2, "distinct": True}, 1),
        ("a ****** a", {"separator": "******", "min": 2, "distinct": True}, 0),
    ],
)
def test_paragraphs_are_parted_by_blank_lines_or_a_separator(
    judge_rule: JudgeRule, text: str, rule: dict[str, Any], score: int
) -> None:
    assert judge_rule(text, {"rule": "paragraphs", **rule}).score == score


@pytest.mark.parametrize(
    ("text", "rule", "score"),
    [
        ("A cat sat.", {"include": ["cat"]}, 1),
        ("A CAT sat.", {"include": ["cat"]}, 1),
        ("A CAT sat.", {"include": ["cat"], "case_sensitive": True}, 0),
        ("A category.", {"include": ["cat"]}, 0),
        ("A category.", {"include": ["cat"], "whole_words": False}, 1),
        ("c++ is not c", {"include": ["c++"]}, 1),
        ("cat", {"include": ["cat", "dog"]}, 0),
        ("cat", {"include": ["cat", "dog"], "match": "any"}, 1),
        ("cow", {"include": ["cat", "dog"], "match": "any"}, 0),
        ("cat cat", {"include": ["cat"], "min": 2}, 1),
        ("cat cat", {"include": ["cat"], "min": 3}, 0),
        ("cat cat", {"include": ["cat"], "max": 1}, 0),
        ("cat", {"include": ["dog"], "min": 0, "max": 2}, 1),
        ("cat", {"exclude": ["dog"]}, 1),
        ("a DOG", {"exclude": ["dog"]}, 0),
        ("a dogma", {"exclude": ["dog"]}, 1),
        ("a.b", {"include": ["a?b"], "whole_words": False}, 0),
        ("axb", {"include": ["a.b"]}, 0),
    ],
)
def test_keywords_are_whole_literal_words(
    judge_rule: JudgeRule, text: str, rule: dict[str, Any], score: int
) -> None:
    assert judge_rule(text, {"rule": "keywords", **rule}).score == score


@pytest.mark.parametrize(
    ("text", "rule", "score"),
    [
        ("Yes, it is.", {"rule": "starts_with", "text": "Yes"}, 1),
        ("Yesterday", {"rule": "starts_with", "text": "Yes"}, 0),
        ("Yesterday", {"rule": "starts_with", "text": "Yes", "whole_words": False}, 1),
        ("yes", {"rule": "starts_with", "text": "Yes"}, 0),
        ("yes", {"rule": "starts_with", "text": "Yes", "case_sensitive": False}, 1),
        ("No. Yes", {"rule": "starts_with", "text": "Yes"}, 0),
        ("a\n\nYes b", {"rule": "starts_with", "text": "Yes", "paragraph": 2}, 1),
        ("Yes", {"rule": "starts_with", "text": "Yes", "paragraph": 2}, 0),
        ("That is all.", {"rule": "ends_with", "text": "all."}, 1),
        ("That is small.", {"rule": "ends_with", "text": "all."}, 0),
        ("That is all. Or not", {"rule": "ends_with", "text": "all."}, 0),
        ('"That is all."', {"rule": "ends_with", "text": "all."}, 1),
        ("SOS", {"rule": "case", "case": "upper"}, 1),
        ("SOs", {"rule": "case", "case": "upper"}, 0),
        ("SOs!", {"rule": "case", "case": "upper", "share": 0.6}, 1),
        ("sos 123", {"rule": "case", "case": "lower"}, 1),
        ("123", {"rule": "case", "case": "lower"}, 0),
        ("The Old Man", {"rule": "case", "case": "title"}, 1),
        ("The old Man", {"rule": "case", "case": "title"}, 0),
        ("call 555-0100 now", {"rule": "regex", "pattern": r"\d{3}-\d{4}"}, 1),
        ("call now", {"rule": "regex", "pattern": r"\d"}, 0),
        ("call now", {"rule": "regex", "pattern": r"\d", "match": False}, 1),
        ("call 5", {"rule": "regex", "pattern": r"\d", "match": False}, 0),
        ("yes", {"rule": "regex", "pattern": "yes|no", "mode": "fullmatch"}, 1),
        ("\nyes\n", {"rule": "regex", "pattern": "yes|no", "mode": "fullmatch"}, 1),
        ("yes no", {"rule": "regex", "pattern": "yes|no", "mode": "fullmatch"}, 0),
        ("a1b2", {"rule": "regex", "pattern": r"\d", "min": 2, "max": 2}, 1),
        ("a1b2", {"rule": "regex", "pattern": r"\d", "max": 1}, 0),
        ("abc", {"rule": "regex", "pattern": "x*", "min": 1}, 0),
        ("É", {"rule": "regex", "pattern": r"(?i)^\p{L}$"}, 1),
    ],
)
def test_edges_case_and_patterns(
    judge_rule: JudgeRule, text: str, rule: dict[str, Any], score: int
) -> None:
    judgement = judge_rule(text, rule)
    assert judgement.score == score
    assert score or judgement.cases[0].message


@pytest.mark.parametrize(
    "rule",
    [
        {}, {"rule": "wordz", "max": 1}, {"rule": "words"}, {"rule": "words", "min": 3, "max": 2},
        {"rule": "words", "min": -1}, {"rule": "words", "max": 1.5}, {"rule": "words", "most": 1},
        {"rule": "keywords"}, {"rule": "keywords", "include": []},
        {"rule": "keywords", "include": [""]},
        {"rule": "keywords", "include": ["a"], "min": 2, "max": 1},
        {"rule": "starts_with", "text": ""}, {"rule": "starts_with", "text": "a", "paragraph": 0},
        {"rule": "case", "case": "camel"}, {"rule": "case", "case": "upper", "share": 0},
        {"rule": "regex", "pattern": "("}, {"rule": "regex", "pattern": "(?=a)"},
        {"rule": "regex", "pattern": r"(a)\1"}, {"rule": "regex", "pattern": "a{2000}"},
        {"rule": "regex", "pattern": "a", "match": False, "min": 1},
        {"rule": "regex", "pattern": "a", "mode": "fullmatch", "max": 1},
        {"rule": "paragraphs", "min": 1, "separator": ""},
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_judged_is_the_tasks_fault(
    judge_rule: JudgeRule, rule: dict[str, Any]
) -> None:
    judgement = judge_rule("a", rule)
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE)


RULES: list[dict[str, Any]] = [
    *({"rule": unit, "min": 10**9} for unit in (
        "characters", "words", "word_runs", "capital_words", "sentences", "lines", "bullets",
        "placeholders", "highlights", "commas", "paragraphs",
    )),
    {"rule": "paragraphs", "separator": "***", "min": 10**9},
    {"rule": "keywords", "include": ["aaaab", "a b"], "min": 10**9},
    {"rule": "keywords", "include": ["aaaab"], "whole_words": False, "min": 10**9},
    {"rule": "starts_with", "text": "zz"},
    {"rule": "case", "case": "title"},
    {"rule": "regex", "pattern": "(?:a+)+$|(x+x+)+y", "min": 10**9},
    {"rule": "regex", "pattern": "(a|aa)+b", "mode": "fullmatch"},
]  # fmt: skip


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    ["a", "a ", ". ", "a. ", "*", "*a", "**a", "[", "[a", "\n", "a\n \n", "- a\n", "。",
     "aaaa ", "x"],
)  # fmt: skip
def test_every_rule_is_linear_in_the_text(judge_rule: JudgeRule, piece: str) -> None:
    text = "q" + piece * (400_000 // len(piece)) + "q"
    for rule in RULES:
        assert judge_rule(text, rule).score == 0, rule


@given(st.text(st.characters()))
def test_any_text_is_scored_by_every_rule(judge_rule: JudgeRule, text: str) -> None:
    for rule in RULES:
        assert judge_rule(text, rule).score in (0, 1)
