"""The `constraint` checker: a text keeps rules that a program can judge."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from verifier_server.checkers.base import CheckContext, Checker, Example, Params
from verifier_server.checkers.completion import after_think
from verifier_server.checkers.constraint.ifeval import IfEval
from verifier_server.checkers.constraint.lengths import Count, Paragraphs
from verifier_server.checkers.constraint.schema import JsonSchema
from verifier_server.checkers.constraint.text import Edge, Keywords, LetterCase, Regex
from verifier_server.checkers.texts import excerpt, numbered, without_invisible
from verifier_server.verdict import Case, Judgement, Outcome

# Some 100,000 tokens: longer than any answer that is meant, short enough for every rule.
_MAX_CHARACTERS = 500_000

AnyRule = Annotated[
    Count | Paragraphs | Keywords | Edge | LetterCase | Regex | JsonSchema | IfEval,
    Field(discriminator="rule"),
]


class ConstraintParams(Params):
    """The rules and how they make a score.

    Attributes:
        rules: each is judged alone and is a component of the verdict.
        score: `all` gives 1 if every rule is kept, else 0; `fraction` the share that is kept.
        text: `answer` judges what follows the reasoning, `all` the whole completion; white
            space at the ends never counts.
    """

    rules: Annotated[list[AnyRule], Field(min_length=1, max_length=100)]
    score: Literal["all", "fraction"] = "all"
    text: Literal["answer", "all"] = "answer"


class ConstraintChecker(Checker[ConstraintParams]):
    """Accepts a text that keeps rules: lengths, keywords, case, patterns, JSON Schema, IFEval.

    A blank text keeps none: it would meet "at most 100 words" with nothing said.
    """

    name = "constraint"
    version = "1.0.0"
    Params = ConstraintParams
    examples = (
        Example(
            "<think>Short.</think>Paris is the capital.",
            {"rules": [{"rule": "words", "max": 4}, {"rule": "ends_with", "text": "capital."}]},
            1.0,
        ),
        Example(
            '```json\n{"city": "Paris"}\n```',
            {
                "rules": [
                    {
                        "rule": "json_schema",
                        "schema": {"properties": {"city": {"pattern": "^P"}}, "required": ["city"]},
                    }
                ]
            },
            1.0,
        ),
        Example(
            "one, two",
            {
                "rules": [{"rule": "words", "min": 2}, {"rule": "commas", "max": 0}],
                "score": "fraction",
            },
            0.5,
            Outcome.PARTIAL,
        ),
        Example(
            "one, two",
            {"rules": [{"rule": "words", "min": 2}, {"rule": "commas", "max": 0}]},
            0.0,
            Outcome.WRONG_ANSWER,
        ),
        Example("category", {"rules": [{"rule": "keywords", "include": ["cat"]}]}, 0.0),
        Example("", {"rules": [{"rule": "words", "max": 5}]}, 0.0, Outcome.NO_ANSWER),
        Example(
            "a" * 5000 + "!",
            {"rules": [{"rule": "regex", "pattern": "(a|aa)+", "mode": "fullmatch"}]},
            0.0,
            note="a pattern that a backtracking engine never finishes",
        ),
        Example(
            "[" * 5000, {"rules": [{"rule": "json_schema", "schema": {}}]}, 0.0, note="deep nesting"
        ),
        Example(
            "a",
            {"rules": [{"rule": "regex", "pattern": "(?=a)"}]},
            None,
            Outcome.BAD_REFERENCE,
            note="look-around",
        ),
    )

    def prepare(self, params: ConstraintParams) -> None:
        """Raises BadReference for a pattern, schema or instruction that can't be judged by."""
        for rule in params.rules:
            rule.prepare()

    def check(self, completion: str, params: ConstraintParams, ctx: CheckContext) -> Judgement:
        """Judges each rule; see the class."""
        text = after_think(completion) if params.text == "answer" else completion
        if text is None:
            return Judgement.reject(Outcome.NO_ANSWER, "the reasoning was never closed")
        if len(text.strip()) > _MAX_CHARACTERS:
            return Judgement.reject(
                Outcome.POLICY_VIOLATION,
                f"{len(text)} characters; no more than {_MAX_CHARACTERS} are judged",
            )
        text = without_invisible(text).strip()
        if not text:
            return Judgement.reject(Outcome.NO_ANSWER, "there is no text to judge")
        names = numbered(rule.label for rule in params.rules)
        cases = [
            _case(name, rule.fault(text)) for name, rule in zip(names, params.rules, strict=True)
        ]
        kept = sum(case.outcome is Outcome.ACCEPTED for case in cases)
        score = kept / len(cases) if params.score == "fraction" else float(kept == len(cases))
        broken = "; ".join(f"{case.name}: {case.message}" for case in cases if case.message)
        return Judgement.graded(
            score,
            excerpt(broken, 500) or "every rule is kept",
            answer=excerpt(text, 1000),
            components={case.name: case.score for case in cases},
            cases=cases,
        )


def _case(name: str, fault: str | None) -> Case:
    if fault is None:
        return Case(name=name, outcome=Outcome.ACCEPTED, score=1.0)
    return Case(name=name, outcome=Outcome.WRONG_ANSWER, score=0.0, message=fault)
