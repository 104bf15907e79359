"""From a submission's text to a judgement, step by step; the first step that refuses decides.

text       flags; at tier `axioms` some are refused
build      the submission's own module, in a box
statement  its theorem states what was asked  } asked of a clean process
axioms     and rests on allowed axioms alone  }

The steps of tier `sound` after `build` are in `sound`.
"""

from __future__ import annotations

from verifier_server.checkers.lean.axioms import ask_axioms
from verifier_server.checkers.lean.box import Compiled, Workshop
from verifier_server.checkers.lean.challenge import (
    SUBMISSION,
    Challenge,
    lacks_library,
    require_lean,
    require_libraries,
)
from verifier_server.checkers.lean.flags import flags_of
from verifier_server.checkers.lean.report import Report, bad_end
from verifier_server.checkers.lean.source import read_source
from verifier_server.checkers.lean.statement import Head, Statement, read_head
from verifier_server.verdict import Outcome


class Refused(Exception):
    """A step found why the submission scores 0."""

    def __init__(self, outcome: Outcome, why: str) -> None:
        super().__init__(why)
        self.outcome = outcome
        self.why = why


def read_text(report: Report, text: str) -> None:
    """Step `text`. Raises Refused."""
    report.step = "text"
    flags = flags_of(read_source(text))
    report.text_flags = flags.all
    if report.tier == "axioms" and flags.refused:
        raise Refused(
            Outcome.POLICY_VIOLATION,
            f"the text has `{flags.refused[0]}`, behind which Lean's word for a proof can't be "
            "believed; tier `sound` would judge it",
        )


def build(workshop: Workshop, report: Report, text: str, challenge: Challenge | None) -> bytes:
    """Step `build`: the submission's module, compiled.

    Raises:
        Refused: it does not elaborate.
        SandboxFault: the box, or Lean itself, failed.
    """
    report.step = "build"
    run = workshop.compile(SUBMISSION, text, challenge.modules if challenge else {})
    report.messages = [message.to_json() for message in run.messages]
    report.compiled = run.olean is not None
    if run.olean is None:
        raise _refused(workshop, run)
    # Lean's own words may lower a verdict, though they can't raise it.
    if report.tier == "compile" and any(m.kind == "hasSorry" for m in run.messages):
        raise Refused(Outcome.WRONG_ANSWER, "a proof is left out (`sorry`)")
    return run.olean


def build_alone(
    workshop: Workshop, report: Report, text: str, task_head: Head, header: str
) -> None:
    """Step `build` of a file for which there is no statement.

    Args:
        workshop: runs Lean.
        report: is told what was found.
        text: the file; the header comes before it where it imports nothing itself.
        task_head: how the header begins.
        header: the task's.

    Raises:
        Refused: it does not elaborate, or leaves a proof out.
        SandboxFault: as `build`, or this host lacks what the header imports.
    """
    head = read_head(text)
    begins = head.prelude or head.imports or not header.strip()
    try:
        build(workshop, report, text if begins else f"{header}\n{text}", None)
    except Refused as refused:
        asked_for = not begins or not set(task_head.imports).isdisjoint(head.imports)
        if asked_for and lacks_library(refused.why):
            require_libraries(workshop, task_head)
        raise


def ask(
    workshop: Workshop,
    report: Report,
    submission: bytes,
    statement: Statement,
    challenge: Challenge,
) -> None:
    """Steps `statement` and `axioms`, asked of a clean process. Raises as `build`."""
    report.step = "statement"
    modules = challenge.beside(submission)
    asked = ask_axioms(
        workshop, statement.head, modules, asked=challenge.asked, given=statement.full_name
    )
    report.statement_match, report.axioms = asked.statement_match, asked.axioms
    if not asked.statement_match:
        if asked.run.is_plain:
            why = f"`{statement.full_name}` does not prove the statement: {asked.run.describe()}"
            raise Refused(Outcome.WRONG_ANSWER, why)
        raise _refused(workshop, asked.run)
    report.step = "axioms"
    if asked.axioms is None:
        raise Refused(Outcome.POLICY_VIOLATION, "what the proof rests on could not be found out")
    if other := [name for name in asked.axioms if name not in challenge.axioms]:
        raise Refused(Outcome.WRONG_ANSWER, f"the proof rests on {', '.join(other)}")


def _refused(workshop: Workshop, run: Compiled) -> Refused:
    """How a run that ended badly is told; first, that it is not Lean that is broken.

    Raises:
        SandboxFault: it is.
    """
    if not run.is_plain and run.limit is None:
        require_lean(workshop)
    return Refused(*bad_end(run))


__all__ = ["Refused", "ask", "build", "read_text"]
