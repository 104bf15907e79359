"""The library Math-Verify, called itself.

Its own time-outs use signals and stay off: the worker
is killed from outside. What our size check refuses never reaches it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from verifier_server.checkers.completion import after_think
from verifier_server.checkers.math import equality
from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.extract import extract
from verifier_server.checkers.math.extracted import Missing
from verifier_server.checkers.math.faults import MathFault, TooLarge
from verifier_server.checkers.math.parse import parse
from verifier_server.checkers.math.policy import Policy
from verifier_server.checkers.math.tokens import MAX_CHARS
from verifier_server.checkers.math.values import Scalar
from verifier_server.errors import BadReference
from verifier_server.verdict import Judgement, Outcome

_PROBE = Scalar(ex.integer(0))  # comparing with it evaluates the answer
_TAIL = 4 * MAX_CHARS  # of a completion that is searched; the library is superlinear in it


def check_golds(golds: Sequence[str]) -> None:
    """Raises BadReference if the library makes nothing of a gold."""
    _read(golds)


def _read(golds: Sequence[str]) -> list[list[Any]]:
    """What the library makes of each gold.

    Raises:
        BadReference: it makes nothing of one.
    """
    parsed = [_parse(gold if "$" in gold else f"${gold}$") for gold in golds]
    for gold, values in zip(golds, parsed, strict=True):
        if not values:
            raise BadReference(f"Math-Verify can't parse the reference {gold[:200]!r}")
    return parsed


def judge(completion: str, golds: Sequence[str]) -> Judgement:
    """Judges by Math-Verify.

    Raises:
        BadReference: the library can't parse a gold.
    """
    from math_verify import verify

    parsed_golds = _read(golds)
    text = after_think(completion)
    if text is None:
        return Judgement.reject(Outcome.NO_ANSWER, "the thinking is unfinished")
    if _is_too_large(text):
        return Judgement.reject(Outcome.POLICY_VIOLATION, "refused before evaluation, by its size")
    answer = _parse(text[-_TAIL:])
    if not answer:
        return Judgement.reject(Outcome.NO_ANSWER, "Math-Verify found no answer")
    shown = str(answer[-1])[:200]
    if any(verify(gold, answer, timeout_seconds=None) for gold in parsed_golds):
        return Judgement.accept(answer=shown)
    return Judgement.reject(Outcome.WRONG_ANSWER, "not equal by Math-Verify", answer=shown)


def _is_too_large(text: str) -> bool:
    """Whether our own reading of the answer is refused by its size.

    The library may pick another part of the text; for that the worker's time limit is left.
    """
    found = extract(text, "lenient")
    if isinstance(found, Missing):
        return False
    try:
        equality.match(_PROBE, parse(found.text), Policy())
    except TooLarge:
        return True
    except MathFault:
        return False
    return False


def _parse(text: str) -> list[Any]:
    import math_verify

    _silence()
    return list(math_verify.parse(text, parsing_timeout=None))


def _silence() -> None:
    """The library logs each text that it can't parse, completions and all."""
    for name in ("math_verify", "latex2sympy2_extended"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def warm() -> None:
    """Imports the library and its parser, and runs both once."""
    from math_verify import verify

    verify(_parse("$\\frac{1}{2}$"), _parse("$0.5$"), timeout_seconds=None)
