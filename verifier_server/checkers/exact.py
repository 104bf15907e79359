"""The `exact` checker: the answer is one of the given texts, nothing more and nothing less."""

from __future__ import annotations

from verifier_server.checkers.base import CheckContext, Checker, Example, Params
from verifier_server.checkers.completion import after_think
from verifier_server.checkers.texts import excerpt, index_of_equal
from verifier_server.errors import BadReference
from verifier_server.verdict import Judgement, Outcome

_OPEN, _CLOSE = "<answer>", "</answer>"


class ExactParams(Params):
    """The text that is right, or a list of which any is.

    Attributes:
        answer: the right text or texts; none may be blank.
        case_sensitive: whether `Paris` and `paris` differ.
        strip: whether white space at either end is ignored.
    """

    answer: str | list[str]
    case_sensitive: bool = False
    strip: bool = True

    @property
    def golds(self) -> list[str]:
        """The right texts, as they are compared."""
        golds = [self.answer] if isinstance(self.answer, str) else self.answer
        return [gold.strip() if self.strip else gold for gold in golds]


class ExactChecker(Checker[ExactParams]):
    """Accepts a completion whose text after the reasoning equals the reference.

    One `<answer>…</answer>` around the whole text is taken off. Texts are compared in NFC;
    a right answer inside a longer text is wrong, since a guess of everything would hold it.
    """

    name = "exact"
    version = "1.0.0"
    Params = ExactParams
    examples = (
        Example("Paris", {"answer": "paris"}, 1.0),
        Example("<think>It is not Rome.</think>\n\nParis\n", {"answer": ["Paris", "Lutetia"]}, 1.0),
        Example("<answer> 21 </answer>", {"answer": "21"}, 1.0, note="tags around the whole"),
        Example("cafe\u0301", {"answer": "café"}, 1.0, note="one character written in two ways"),
        Example("21", {"answer": "1"}, 0.0, Outcome.WRONG_ANSWER, note="contains the answer"),
        Example("Paris or Rome", {"answer": "Paris"}, 0.0, Outcome.WRONG_ANSWER),
        Example("<think>Paris", {"answer": "Paris"}, 0.0, Outcome.NO_ANSWER),
        Example("", {"answer": "Paris"}, 0.0, Outcome.NO_ANSWER),
        Example("paris", {"answer": "Paris", "case_sensitive": True}, 0.0),
        Example("", {"answer": ""}, None, Outcome.BAD_REFERENCE, note="empty equals nothing"),
    )

    def prepare(self, params: ExactParams) -> None:
        """Raises BadReference for an empty list or a blank text."""
        if not params.golds or not all(gold.strip() for gold in params.golds):
            raise BadReference(
                "`answer` is empty or blank, and nothing can be equal to that",
                remedy="give the text that is right, or a list of such texts",
            )

    def check(self, completion: str, params: ExactParams, ctx: CheckContext) -> Judgement:
        """Compares; see the class."""
        rest = after_think(completion)
        if rest is None:
            return Judgement.reject(Outcome.NO_ANSWER, "the reasoning was never closed")
        for text in (rest, _unwrapped(rest)):
            answer = text.strip() if params.strip else text
            found = index_of_equal(answer, params.golds, case_sensitive=params.case_sensitive)
            if found is not None:
                return Judgement.accept("equal to the reference", answer=params.golds[found])
        if not answer.strip():
            return Judgement.reject(Outcome.NO_ANSWER, "there is no text after the reasoning")
        return Judgement.reject(
            Outcome.WRONG_ANSWER,
            f"{excerpt(answer)!r} is not equal to the reference",
            answer=excerpt(answer, 1000),
        )


def _unwrapped(text: str) -> str:
    """What one pair of answer tags around the whole text holds, else the text."""
    whole = text.strip()
    is_wrapped = whole.startswith(_OPEN) and whole.endswith(_CLOSE)
    return whole[len(_OPEN) : -len(_CLOSE)] if is_wrapped else text
