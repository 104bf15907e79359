"""The `choice` checker: multiple choice, one letter or several."""

from __future__ import annotations

from string import ascii_uppercase
from typing import Annotated

from pydantic import Field

from verifier_server.checkers.base import CheckContext, Checker, Example, Params
from verifier_server.checkers.completion import after_think
from verifier_server.checkers.lettered import read_choice
from verifier_server.checkers.texts import canonical
from verifier_server.errors import BadReference
from verifier_server.verdict import Judgement, Outcome

_Count = Annotated[int, Field(ge=2, le=26)]
_Texts = Annotated[list[str], Field(min_length=2, max_length=26)]


class ChoiceParams(Params):
    """The right letter, or all the right letters of a task with several.

    Attributes:
        answer: a letter, or the list of letters that must all be chosen, in any order.
        options: how many there are (2 to 26), or their texts; they are lettered from `A`.
    """

    answer: str | list[str]
    options: _Count | _Texts = 4

    @property
    def letters(self) -> str:
        """The options' letters."""
        return ascii_uppercase[: self.options if isinstance(self.options, int) else len(self.texts)]

    @property
    def texts(self) -> list[str]:
        """The options' texts; none where only their number is known."""
        return [] if isinstance(self.options, int) else [text.strip() for text in self.options]

    @property
    def golds(self) -> frozenset[str]:
        """The letters to be chosen."""
        answers = [self.answer] if isinstance(self.answer, str) else self.answer
        return frozenset(answer.strip().upper() for answer in answers)


class ChoiceChecker(Checker[ChoiceParams]):
    r"""Accepts a completion that chooses exactly the right options.

    The choice is read after the reasoning from the first of these places that names one:
    the last `\boxed{B}` · the last `<answer>B</answer>` · the last "the answer is (B)" or
    "Answer: B" · the whole text (`B`, `(B)`, `B) Paris`) · its last line, if it is a letter
    only. Where the options' texts are given, exactly such a text stands for its letter.
    Several choices where one is right, and alternatives ("A or B"), are wrong.
    """

    name = "choice"
    version = "1.0.0"
    Params = ChoiceParams
    examples = (
        Example("<think>Not A.</think>The answer is (B).", {"answer": "B"}, 1.0),
        Example("The value is \\boxed{42}.\n\n**Answer:** c", {"answer": "C"}, 1.0),
        Example("A and C", {"answer": ["C", "A"]}, 1.0),
        Example("Paris.", {"answer": "B", "options": ["Rome", "Paris"]}, 1.0),
        Example("A or B", {"answer": "A"}, 0.0, Outcome.WRONG_ANSWER, note="alternatives"),
        Example("\\boxed{A} or \\boxed{B}", {"answer": "B"}, 0.0, Outcome.WRONG_ANSWER),
        Example("ABCD", {"answer": "A"}, 0.0, Outcome.WRONG_ANSWER),
        Example("A", {"answer": ["A", "C"]}, 0.0, Outcome.WRONG_ANSWER, note="one of two"),
        Example("The answer is E.", {"answer": "A"}, 0.0, Outcome.WRONG_ANSWER),
        Example("The answer is a large city.", {"answer": "A"}, 0.0, Outcome.NO_ANSWER),
        Example("A. Rome\nB. Paris", {"answer": "A"}, 0.0, Outcome.NO_ANSWER, note="an echo"),
        Example("<think>The answer is A", {"answer": "A"}, 0.0, Outcome.NO_ANSWER),
        Example("F", {"answer": "F"}, None, Outcome.BAD_REFERENCE, note="four options"),
    )

    def prepare(self, params: ChoiceParams) -> None:
        """Raises BadReference for no answer, one that is no option, or two equal options."""
        outside = params.golds - set(params.letters)
        if not params.golds or outside:
            raise BadReference(
                f"answer {sorted(outside)} is not among the options A to {params.letters[-1]}",
                remedy="give letters, and the number or the texts of the options in `options`",
            )
        texts = [canonical(text) for text in params.texts]
        if len(set(texts)) < len(texts) or "" in texts:
            raise BadReference("two options have the same text, or one is blank")

    def check(self, completion: str, params: ChoiceParams, ctx: CheckContext) -> Judgement:
        """Reads the choice and compares it; see the class."""
        rest = after_think(completion)
        if rest is None:
            return Judgement.reject(Outcome.NO_ANSWER, "the reasoning was never closed")
        reading = read_choice(rest, params.letters, params.texts)
        if reading is None:
            return Judgement.reject(Outcome.NO_ANSWER, "the text names no option")
        answer = ", ".join(sorted(reading.letters))
        if reading.letters - set(params.letters):
            why = f"{answer} is not among the options A to {params.letters[-1]}"
        elif reading.is_hedged:
            why = f"{answer}: the text offers alternatives"
        elif len(reading.letters) > 1 and len(params.golds) == 1:
            why = f"{answer} are chosen where one option is right"
        elif reading.letters != params.golds:
            why = f"{answer} is not the right choice"
        else:
            return Judgement.accept("the right choice", answer=answer)
        return Judgement.reject(Outcome.WRONG_ANSWER, why, answer=answer)
