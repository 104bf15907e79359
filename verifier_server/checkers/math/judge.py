"""An extracted answer against the golds of a task."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from verifier_server.checkers.math import (
    echo,
    equality,
    exact,
    leaves,
    numerals,
    quantities,
    scalars,
)
from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.chains import is_condition, is_equation
from verifier_server.checkers.math.extracted import Extracted
from verifier_server.checkers.math.faults import Empty, MathFault, TooLarge
from verifier_server.checkers.math.parse import parse
from verifier_server.checkers.math.policy import Match, Policy, no
from verifier_server.checkers.math.tokens import tokenize
from verifier_server.checkers.math.values import (
    BaseNumeral,
    Form,
    Named,
    Opaque,
    Percent,
    Quantity,
    Scalar,
    Several,
    Text,
    Value,
)
from verifier_server.errors import BadReference
from verifier_server.verdict import Judgement, Outcome

_SHOWN = 200  # characters of an answer in a verdict
_PLAIN_INTEGER = re.compile(r"-?(?:[0-9]{1,18}|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,5})")


@dataclass(frozen=True, slots=True)
class Gold:
    """A reference that parses and equals itself: as given, and what it says."""

    text: str
    value: Value


@dataclass(frozen=True)
class Task:
    """What answers are judged by.

    Attributes:
        texts: the golds as given; any of them counts.
        policy: the options of equality.
        integers: the golds' values if all are plain integers that only their equal matches,
            else None. Most answers are decided by these.
        rationals: the golds' values if all are plain numbers, else None. What equals one is
            right; what doesn't may be right for another reason.
    """

    texts: tuple[str, ...]
    policy: Policy
    integers: frozenset[int] | None = None
    rationals: frozenset[Fraction] | None = None

    @cached_property
    def golds(self) -> tuple[Gold, ...]:
        """The golds as values. Raises BadReference, but not for plain numbers."""
        return tuple(_read_gold(text, self.policy) for text in self.texts)


def read_task(texts: tuple[str, ...], policy: Policy) -> Task:
    """The golds, read; plain numbers only once an answer asks for more than their values.

    Raises:
        BadReference: one doesn't parse, is a false chain, or has no value.
    """
    is_exact = policy.absolute is None and policy.relative is None
    if is_exact and all(_PLAIN_INTEGER.fullmatch(text) for text in texts):
        return Task(texts, policy, frozenset(int(text.replace(",", "")) for text in texts))
    values = [numerals.plain_value(text) for text in texts]
    rationals = frozenset(value for value in values if value is not None)
    if None not in values:
        return Task(texts, policy, rationals=rationals)
    task = Task(texts, policy)
    task.golds  # noqa: B018 - read now, to be refused now
    return task


def _read_gold(text: str, policy: Policy) -> Gold:
    try:
        return Gold(text, _checked(parse(text), policy))
    except MathFault as error:
        raise BadReference(
            f"the reference {text[:_SHOWN]!r} {error}",
            remedy="give the answer alone, in LaTeX or plain mathematics",
        ) from error


def _checked(value: Value, policy: Policy) -> Value:
    if isinstance(value, Scalar) and ex.plain_value(value.expr) is not None:
        return value
    if not is_condition(value):
        value = equality.settled(value, policy)
    if isinstance(value, Scalar) and not scalars.infinite_sign(value.expr):
        with suppress(TooLarge):  # still equal to what is written alike
            exact.rational(value.expr)
    return value


def judge(found: Extracted, task: Task, prompt: str | None) -> Judgement:
    """The verdict on an extracted answer."""
    shown: dict[str, Any] = {
        "answer": found.text[:_SHOWN],
        "evidence": {"found_by": found.how, "span": list(found.span)},
    }
    if not found.text:
        return Judgement.reject(Outcome.NO_ANSWER, "the answer is empty")
    is_plain = not found.alternatives and _PLAIN_INTEGER.fullmatch(found.text)
    if is_plain and task.integers is not None:
        return _judge_integer(int(found.text.replace(",", "")), task.integers, shown)
    if task.rationals is not None and not found.alternatives:
        value = numerals.plain_value(found.text)
        if value is not None and value in task.rationals:
            return Judgement.accept(**shown)
    if not found.alternatives and any(found.text == gold.text.strip() for gold in task.golds):
        return Judgement.accept(**shown)
    if found.how == "whole" and _is_just_words(found, task):
        return Judgement.reject(Outcome.NO_ANSWER, "the text marks no answer")
    try:
        why = _why_wrong(found, task, prompt)
    except TooLarge as error:
        return Judgement.reject(
            Outcome.POLICY_VIOLATION, f"refused before evaluation: it {error}", **shown
        )
    except Empty:
        return Judgement.reject(Outcome.NO_ANSWER, "the answer is empty")
    except MathFault as error:
        return Judgement.reject(Outcome.WRONG_ANSWER, f"the answer {error}", **shown)
    if why is None:
        return Judgement.accept(**shown)
    return Judgement.reject(Outcome.WRONG_ANSWER, why, **shown)


def _judge_integer(answer: int, golds: frozenset[int], shown: dict[str, Any]) -> Judgement:
    if answer in golds:
        return Judgement.accept(**shown)
    return Judgement.reject(Outcome.WRONG_ANSWER, "it has another value", **shown)


def _is_just_words(found: Extracted, task: Task) -> bool:
    """Whether a completion of a few words answers a question for something else."""
    try:
        is_text = isinstance(parse(found.text), Text)
    except MathFault:
        return False
    return is_text and not any(isinstance(gold.value, Text | Opaque) for gold in task.golds)


def _why_wrong(found: Extracted, task: Task, prompt: str | None) -> str | None:
    """None if the answer is right.

    Raises:
        MathFault: the answer can't be read or evaluated.
    """
    answer = _read(found)
    reasons: list[str] = []
    for gold in task.golds:
        match = _match_gold(gold.value, answer, found, task.policy)
        if match.ok and prompt is not None and echo.repeats(prompt, found.text, gold.text):
            match = no("it repeats the question")
        if match.ok:
            return None
        reasons.append(match.why)
    return reasons[0]


def _read(found: Extracted) -> Value:
    if found.alternatives:
        return Several(Form.ALTERNATIVES, tuple(parse(text) for text in found.alternatives))
    return parse(found.text)


def _match_gold(gold: Value, answer: Value, found: Extracted, policy: Policy) -> Match:
    if equality.states_equation(gold) and is_equation(answer):
        # Equations agree or not as they stand; only a chain comes to its last link.
        match = equality.match(gold, answer, policy)
        if match.ok or is_equation(gold):
            return match
    match = equality.match(gold, equality.settled(answer, policy), policy)
    if match.ok:
        return match
    for other in _other_readings(gold, found):
        if equality.match(gold, other, policy).ok:
            return equality.match(gold, other, policy)
    return match


def _other_readings(gold: Value, found: Extracted) -> list[Value]:
    """What the text may mean as well, given the form of the gold."""
    if found.alternatives:
        return []
    inner = gold.value if isinstance(gold, Named) else gold
    if isinstance(inner, Several):
        readings = [parse(found.text, grouped_commas=False)] if "," in found.text else []
        if len(found.boxes) > 1 and (inner.is_list or inner.form is Form.SET):
            readings.append(Several(Form.LIST, tuple(parse(text) for text in found.boxes)))
        return readings
    if isinstance(inner, BaseNumeral):
        numeral = leaves.numeral_reading(tokenize(found.text), inner.base)
        return [numeral] if numeral is not None else []
    if isinstance(inner, Quantity | Scalar | Percent):
        if isinstance(gold, Named) and found.text.rstrip().endswith(gold.name):
            return []  # 7m is not m = 7
        quantity = quantities.quantity_reading(tokenize(found.text))
        return [quantity] if quantity is not None else []
    return []
