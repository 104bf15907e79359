"""Proofs whose verdicts are known, judged before anything else is.

A Lean release that changes a message or a rule must not start paying for nothing, so each
worker judges these first, and takes the checker out of service where one comes out wrong. So
does `POST /selftest`. They need no library: what they use they declare.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from verifier_server.checkers.base import Example
from verifier_server.errors import CheckerFault
from verifier_server.verdict import Judgement, Outcome

_TIME_S = 20.0
_RETRY_S = 60.0
_TRUE = {
    "header": "prelude",
    "statement": "theorem t : (p : Prop) → p → p",
    "tier": "axioms",
    "limits": {"time_s": _TIME_S},
}
# No proof of it can be honest.
_FALSE = {**_TRUE, "statement": "theorem t : (p : Prop) → p"}
_GIVEN = {**_FALSE, "header": "prelude\naxiom sorryAx : (p : Prop) → p"}
_FILE = {"header": "prelude", "tier": "compile", "limits": {"time_s": _TIME_S}}
_WRONG, _POLICY, _ERROR = Outcome.WRONG_ANSWER, Outcome.POLICY_VIOLATION, Outcome.COMPILE_ERROR


def _file(*lines: str) -> str:
    return "\n".join(("prelude", *lines))


# The least that a worker must get right before it is believed: a true proof, and a false one
# by each way of cheating.
AT_START = (
    Example("fun _ h => h", _TRUE, 1.0, Outcome.ACCEPTED),
    Example("fun _ => h", _FALSE, 0.0, _ERROR, note="a broken proof"),
    Example(
        _file("axiom cheat : (p : Prop) → p", "theorem t : (p : Prop) → p := cheat"),
        _FALSE,
        0.0,
        _WRONG,
        note="hostile: an axiom of its own",
    ),
    Example("fun p => sorryAx p", _GIVEN, 0.0, _WRONG, note="a proof left out, unseen in the text"),
    Example(
        _file("theorem t : (p : Prop) → p → p := fun _ h => h"),
        _FALSE,
        0.0,
        _WRONG,
        note="hostile: another statement under the name",
    ),
    Example(
        _file("private axiom propext : (p : Prop) → p", "theorem t : (p : Prop) → p := propext"),
        _FALSE,
        0.0,
        _WRONG,
        note="hostile: an axiom that reads like an allowed one",
    ),
    Example(
        _file(
            "namespace A",
            "theorem t : (p : Prop) → p → p := fun _ h => h",
            "end A",
            "open A",
            "axiom u : (p : Prop) → p",
            "theorem t : (p : Prop) → p := u",
        ),
        _FALSE,
        0.0,
        _WRONG,
        note="hostile: a harmless theorem of the same last name",
    ),
    Example(
        _file("set_option debug.skipKernelTC true", "theorem t : (p : Prop) → p := fun _ h => h"),
        _FALSE,
        0.0,
        _POLICY,
        note="hostile: the kernel is told to look away",
    ),
)
# The same of tier `sound`, where its tools are: what holds, an axiom, another statement. Its
# kernels are tried beside them (see `kernels`).
SOUND_AT_START = tuple(
    replace(AT_START[at], params={**AT_START[at].params, "tier": "sound"}) for at in (0, 2, 4)
)
CANARIES = (
    *AT_START,
    Example(_file("theorem t : (q : Prop) → q → q := fun _ h => h"), _TRUE, 1.0),
    Example("theorem u : (p : Prop) → p → p := fun _ h => h", _FILE, 1.0, note="compiled alone"),
    Example("theorem u : (p : Prop) → p := fun _ h => h", _FILE, 0.0, _ERROR),
    Example(
        _file("theorem t : (p : Prop) → p := u", "#exit"),
        _FALSE,
        0.0,
        _POLICY,
        note="hostile: leaves before the end of the file",
    ),
    Example("", _TRUE, 0.0, Outcome.NO_ANSWER),
    Example("", {"statement": "t : 1 = 1"}, None, Outcome.BAD_REFERENCE, note="no theorem"),
)
# How long they may take in all, with their statements, each at its limit.
WORST_S = 60.0 * _TIME_S


class Canaries:
    """Whether this process judges its canaries rightly, found out at its first item.

    Args:
        examples: what to judge.

    Attributes:
        trouble: what went wrong the last time; None: nothing, or not tried yet.
    """

    def __init__(self, examples: Sequence[Example] = AT_START) -> None:
        self._examples = examples
        self.trouble: str | None = None
        self._alive: set[str] = set()
        self._tried_s = -_RETRY_S

    def require(self, identity: str, judge: Callable[[Example], Judgement]) -> None:
        """Judges them, unless this tool chain has passed before.

        Args:
            identity: of the tool chain.
            judge: judges one; raises SandboxFault where the host can't.

        Raises:
            CheckerFault: one comes out wrong, now or less than a minute ago.
        """
        if identity in self._alive:
            return
        if self.trouble is None or time.monotonic() - self._tried_s >= _RETRY_S:
            judged = (_wrong(example, judge) for example in self._examples)
            self.trouble = next(filter(None, judged), None)
            self._tried_s = time.monotonic()
        if self.trouble is not None:
            raise CheckerFault(self.trouble, remedy="this Lean must not judge: see docs/lean.md")
        self._alive.add(identity)


def _wrong(example: Example, judge: Callable[[Example], Judgement]) -> str | None:
    judged = judge(example)
    if (judged.score, judged.outcome) == (example.score, example.outcome):
        return None
    what = example.note or "a true proof"
    return f"the canary `{what}` comes out as {judged.outcome.value}: {judged.explanation}"


__all__ = ["AT_START", "CANARIES", "SOUND_AT_START", "WORST_S", "Canaries"]
