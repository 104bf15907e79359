"""Answers that only repeat the question."""

from __future__ import annotations

import re

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.faults import MathFault
from verifier_server.checkers.math.parse import parse
from verifier_server.checkers.math.tokens import MAX_CHARS, tokenize
from verifier_server.checkers.math.values import Scalar

_MATHEMATICS = re.compile(r"\$\$?([^$]+)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_SIDES = re.compile(r"=|,|<|>|\\le\b|\\ge\b")
_MAX_PROMPT = 16384


def repeats(prompt: str, answer: str, gold: str) -> bool:
    """Whether the answer is an expression of the prompt as it stands there, and not the gold's.

    `(x+1)^2` is no answer to "Expand $(x+1)^2$". A number, a fraction or a letter repeats
    nothing.
    """
    if len(prompt) > _MAX_PROMPT or not _calculates(answer):
        return False
    spelled = _spelling(answer)
    if spelled is None or spelled == _spelling(gold):
        return False
    for found in _MATHEMATICS.finditer(prompt):
        inside = next(group for group in found.groups() if group is not None)
        if any(spelled == _spelling(side) for side in (inside, *_SIDES.split(inside))):
            return True
    return False


def _calculates(answer: str) -> bool:
    try:
        value = parse(answer)
    except MathFault:
        return False
    if not isinstance(value, Scalar):
        return False
    plain = (ex.Num, ex.Sym, ex.Const, ex.Neg, ex.Div)
    return any(not isinstance(node, plain) for node in ex.walk(value.expr))


def _spelling(text: str) -> list[str] | None:
    if len(text) > MAX_CHARS:
        return None
    try:
        return [token.text for token in tokenize(text)]
    except MathFault:
        return None
