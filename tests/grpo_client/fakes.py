"""A verifier in this process, with the interface that the trainer uses of the real client."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence

from verifier_server.client import Fault, Item, Outcome, Verdict

Judge = Callable[[Item], float | None]


class FakeVerifier:
    """Scores items by `judge`; keeps them for inspection."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._lock = threading.Lock()  # groups are scored by several threads
        self.items: list[Item] = []

    def score(self, items: Iterable[Item]) -> list[Verdict]:
        batch = list(items)
        with self._lock:
            self.items += batch
            return [verdict(item.checker, self._judge(item)) for item in batch]


def verdict(checker: str, score: float | None, **fields: object) -> Verdict:
    if score is None:
        outcome, fault = Outcome.CHECKER_ERROR, Fault.SERVICE
    elif score == 1:
        outcome, fault = Outcome.ACCEPTED, Fault.NONE
    elif score == 0:
        outcome, fault = Outcome.WRONG_ANSWER, Fault.CANDIDATE
    else:
        outcome, fault = Outcome.PARTIAL, Fault.NONE
    return Verdict(checker=checker, outcome=outcome, fault=fault, score=score, **fields)


def scripted(scores: Sequence[float | None]) -> Judge:
    """Hands out the scores in order, over and over."""
    position = -1

    def judge(item: Item) -> float | None:
        nonlocal position
        position += 1
        return scores[position % len(scores)]

    return judge


class BoxedSumVerifier:
    """What the service says of the arithmetic recipe's rows, without the service."""

    def score(self, items: Iterable[Item]) -> list[Verdict]:
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Verdict:
        text = item.completion_text
        gold = item.params["parts"][0]["params"]["answer"]
        match = re.fullmatch(r"<think>([^<]*)</think>\\boxed\{(\d+)\}", text)
        parts = {"accuracy": float(bool(match) and match[2] == gold), "format": float(bool(match))}
        score = round(0.9 * parts["accuracy"] + 0.1 * parts["format"], 6)
        answer = match[2] if match else None
        return verdict(item.checker, score, components=parts, answer=answer)
