"""An extracted answer against the golds of a task."""

from __future__ import annotations

from dataclasses import dataclass

from verifier_server.checkers.math import echo, equality, exact, leaves, scalars
from verifier_server.checkers.math.chains import is_condition, is_equation
from verifier_server.checkers.math.extract import Extracted
from verifier_server.checkers.math.faults import MathFault, TooLarge, Undefined
from verifier_server.checkers.math.parse import parse
from verifier_server.checkers.math.policy import Match, Policy, no
from verifier_server.checkers.math.tokens import tokenize
from verifier_server.checkers.math.values import (
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


@dataclass(frozen=True, slots=True)
class Gold:
    """A reference that parses and equals itself.

    Attributes:
        text: as given.
        value: what it says.
    """

    text: str
    value: Value


def read_gold(text: str, policy: Policy) -> Gold:
    """The gold as values.

    Raises:
        BadReference: it doesn't parse, is a false chain, or has no value.
    """
    try:
        return Gold(text, _checked(parse(text), policy))
    except MathFault as error:
        raise BadReference(
            f"the reference {text[:_SHOWN]!r} {error}",
            remedy="give the answer alone, in LaTeX or plain mathematics",
        ) from error


def _checked(reading: Value, policy: Policy) -> Value:
    if not is_condition(reading):
        reading = equality.settled(reading, policy)
    if isinstance(reading, Scalar):
        try:
            exact.rational(reading.expr)
        except TooLarge:
            pass  # still equal to what is written alike
        except Undefined:
            if not scalars.infinite_sign(reading.expr):
                raise
    return reading


def judge(
    found: Extracted, golds: tuple[Gold, ...], policy: Policy, prompt: str | None
) -> Judgement:
    """The verdict on an extracted answer."""
    shown = found.text[:_SHOWN]
    if not found.text:
        return Judgement.reject(Outcome.NO_ANSWER, "the answer is empty")
    if any(found.text.strip() == gold.text.strip() for gold in golds) and not found.alternatives:
        return Judgement.accept(answer=shown)
    if found.how == "whole" and _is_just_words(found, golds):
        return Judgement.reject(Outcome.NO_ANSWER, "the text marks no answer")
    try:
        why = _why_wrong(found, golds, policy, prompt)
    except TooLarge as error:
        return Judgement.reject(
            Outcome.POLICY_VIOLATION, f"refused before evaluation: it {error}", answer=shown
        )
    except MathFault as error:
        return Judgement.reject(Outcome.WRONG_ANSWER, f"the answer {error}", answer=shown)
    if why is None:
        return Judgement.accept(answer=shown)
    return Judgement.reject(Outcome.WRONG_ANSWER, why, answer=shown)


def _is_just_words(found: Extracted, golds: tuple[Gold, ...]) -> bool:
    """Whether a completion of a few words answers a question for something else."""
    try:
        is_text = isinstance(parse(found.text), Text)
    except MathFault:
        return False
    return is_text and not any(isinstance(gold.value, Text | Opaque) for gold in golds)


def _why_wrong(
    found: Extracted, golds: tuple[Gold, ...], policy: Policy, prompt: str | None
) -> str | None:
    """None if the answer is right.

    Raises:
        MathFault: the answer can't be read or evaluated.
    """
    reasons: list[str] = []
    for gold in golds:
        match = _match_gold(found, gold, policy)
        if match.ok and prompt is not None and echo.repeats(prompt, found.text, gold.text):
            match = no("it repeats the question")
        if match.ok:
            return None
        reasons.append(match.why)
    return reasons[0]


def _match_gold(found: Extracted, gold: Gold, policy: Policy) -> Match:
    return _match_reading(gold.value, _read(found), found, policy)


def _read(found: Extracted) -> Value:
    if found.alternatives:
        return Several(Form.ALTERNATIVES, tuple(parse(text) for text in found.alternatives))
    return parse(found.text)


def _match_reading(gold: Value, answer: Value, found: Extracted, policy: Policy) -> Match:
    keeps_equation = is_equation(gold) or isinstance(gold, Named)
    if not (keeps_equation and is_equation(answer)):
        answer = equality.settled(answer, policy)
    match = equality.match(gold, answer, policy)
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
    if isinstance(inner, Quantity | Scalar | Percent):
        quantity = leaves.quantity_reading(tokenize(found.text))
        return [quantity] if quantity is not None else []
    return []
