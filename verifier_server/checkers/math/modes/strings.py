"""What graders share that compare texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verifier_server.checkers.completion import after_think
from verifier_server.checkers.math.tokens import MAX_CHARS
from verifier_server.errors import BadReference
from verifier_server.verdict import Judgement, Outcome

_SHOWN = 200  # characters of an answer in a verdict
_BRACES = re.compile(r"[{}]")


@dataclass(frozen=True, slots=True)
class StringRules:
    """One grader's rules. They take time linear in the completion.

    Attributes:
        name: what a verdict calls it.
        extract: the answer of a completion (without its reasoning), None if it finds none.
        alike: whether an answer counts for a gold, in this order: gold, answer.
        leaves_something: whether anything of a gold is compared. Where nothing is, an answer
            of which nothing is left would be right.
    """

    name: str
    extract: Callable[[str], str | None]
    alike: Callable[[str, str], bool]
    leaves_something: Callable[[str], bool]

    def check_golds(self, golds: Sequence[str]) -> None:
        """Raises BadReference for a gold of which nothing is left, or that is too long."""
        for gold in golds:
            if len(gold) > MAX_CHARS:
                raise BadReference(f"the reference is longer than {MAX_CHARS} characters")
            if not self.leaves_something(gold):
                raise BadReference(
                    f"the rules of {self.name} leave nothing of the reference {gold[:_SHOWN]!r}",
                    remedy="give the answer alone, or use mode `standard`",
                )

    def judge(self, completion: str, golds: Sequence[str]) -> Judgement:
        """Judges; any gold counts. Raises BadReference as above."""
        self.check_golds(golds)
        text = after_think(completion)
        if text is None:
            return Judgement.reject(Outcome.NO_ANSWER, "the thinking is unfinished")
        answer = self.extract(text)
        if answer is None:
            return Judgement.reject(Outcome.NO_ANSWER, f"{self.name} finds no answer")
        shown = answer[:_SHOWN]
        if len(answer) > MAX_CHARS:
            why = f"the answer is {len(answer)} characters long; at most {MAX_CHARS} are read"
            return Judgement.reject(Outcome.POLICY_VIOLATION, why, answer=shown)
        if any(self.alike(gold, answer) for gold in golds):
            return Judgement.accept(answer=shown)
        why = f"{self.name} compares texts, and it is another one"
        return Judgement.reject(Outcome.WRONG_ANSWER, why, answer=shown)


def braced(text: str, start: int) -> str | None:
    """The content of the braces that open at `start`, escaped ones counted like others.

    None if none opens there, or if it never closes.
    """
    if not text.startswith("{", start):
        return None
    depth = 0
    for brace in _BRACES.finditer(text, start):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return text[start + 1 : brace.start()]
    return None
