"""What the steps of a judgement found, and the judgement that they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from verifier_server.checkers.lean.box import Compiled, Workshop
from verifier_server.checkers.lean.messages import printable
from verifier_server.checkers.lean.params import Tier
from verifier_server.verdict import Judgement, Outcome

_SHOWN_CHARS = 20_000
_CLAUSE_CHARS = 500


@dataclass(slots=True)
class Report:
    """The evidence of one judgement; it is on the verdict as it stands when that is made.

    Attributes:
        tier: what is judged by.
        toolchain: version and commit of Lean.
        sound_lacks: why it is not judged by `sound` though the item asks for the best tier.
        step: the last step taken, the one that refused where one did: text, build, export,
            statement, axioms or replay.
        text_flags: what the text does that a judge should know.
        compiled: whether it elaborates.
        statement_match: whether the theorem is the one that was asked for; None: not asked.
        axioms: what the proof rests on; None: not known.
        kernels: who replayed the proof, and how that went.
        messages: what Lean says about the submission, for its author.
    """

    tier: Tier
    toolchain: str
    sound_lacks: str | None = None
    step: str = "text"
    text_flags: Sequence[str] = ()
    compiled: bool | None = None
    statement_match: bool | None = None
    axioms: Sequence[str] | None = None
    kernels: dict[str, str] = field(default_factory=dict)
    messages: list[JsonValue] = field(default_factory=list)

    def judge(
        self, outcome: Outcome, explanation: str, answer: str, workshop: Workshop
    ) -> Judgement:
        """The judgement of this outcome, with all the evidence."""
        return Judgement(
            outcome,
            1.0 if outcome is Outcome.ACCEPTED else 0.0,
            cut(explanation, _CLAUSE_CHARS),
            answer=cut(answer, _SHOWN_CHARS),
            isolation=workshop.isolation,
            cpu_s=workshop.cpu_s,
            memory_bytes=workshop.memory_bytes,
            evidence={
                "tier": self.tier,
                "sound_lacks": self.sound_lacks,
                "step": self.step,
                "compiled": self.compiled,
                "statement_match": self.statement_match,
                "axioms": None if self.axioms is None else list(self.axioms),
                "kernels": dict(self.kernels),
                "text_flags": list(self.text_flags),
                "toolchain": self.toolchain,
                "messages": self.messages,
            },
        )


def bad_end(run: Compiled) -> tuple[Outcome, str]:
    """The outcome of a run that ended otherwise than it should, and a clause about it."""
    if run.limit is not None:
        return run.limit, run.describe()
    if run.is_plain:
        return Outcome.COMPILE_ERROR, run.describe()
    return Outcome.RUNTIME_ERROR, run.describe()


def cut(text: str, most: int) -> str:
    """A text that fits a verdict: valid Unicode of at most `most` characters and a mark."""
    shown = printable(text[:most])
    return shown if len(text) <= most else f"{shown}…"


__all__ = ["Report", "bad_end", "cut"]
