"""Tier `sound`: a submission is judged by its export, whatever its text does.

export     its module printed as data, and the data read by a reader of ours
statement  the theorem states what the task's export stated, over the same constants
axioms     and rests on allowed axioms alone
replay     every kernel here accepts all of it, from nothing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verifier_server.checkers.lean.box import Workshop, describe, limit_of
from verifier_server.checkers.lean.challenge import SUBMISSION, Challenge
from verifier_server.checkers.lean.export.closure import Missing
from verifier_server.checkers.lean.export.compare import (
    Expected,
    Mismatch,
    asked,
    axioms_of,
    require_axioms,
    require_match,
)
from verifier_server.checkers.lean.export.graph import Graph
from verifier_server.checkers.lean.export.reader import ExportError
from verifier_server.checkers.lean.exporter import is_whole, read, run_exporter
from verifier_server.checkers.lean.inventory import is_sound_age
from verifier_server.checkers.lean.kernels import find_kernels, replay
from verifier_server.checkers.lean.pipeline import Refused
from verifier_server.checkers.lean.report import Report
from verifier_server.checkers.lean.toolchain import read_settings
from verifier_server.errors import SandboxFault
from verifier_server.verdict import Outcome


def sound_lacks(workshop: Workshop) -> str | None:
    """What this host lacks for tier `sound`; None: nothing.

    Raises:
        SandboxFault: a box failed, or a kernel accepts what is false.
    """
    toolchain, settings = workshop.toolchain, read_settings()
    if toolchain.exporter is None:
        return "there is no lean4export"
    if not is_sound_age(toolchain, settings):
        return f"Lean {toolchain.name} is older than {settings.oldest_sound}"
    if not find_kernels(workshop):
        return "there is no kernel that replays exports (leanchecker --export, nanoda)"
    return None


def prove_sound(
    workshop: Workshop, report: Report, submission: bytes, theorem: str, challenge: Challenge
) -> None:
    """Takes the steps from `export` on.

    Args:
        workshop: runs the tools.
        report: is told what was found.
        submission: the compiled module.
        theorem: full name of the theorem.
        challenge: the compiled statement.

    Raises:
        Refused: a step refuses.
        SandboxFault: a box or a tool failed.
    """
    expected = challenge.expected
    if expected is None:
        raise SandboxFault("the statement was compiled without an export")
    export = _export(workshop, report, submission, theorem, challenge)
    graph = _read(export)
    _compare(report, graph, theorem, expected)
    _replay(workshop, report, export, list(expected.axioms))


def _export(
    workshop: Workshop, report: Report, submission: bytes, theorem: str, challenge: Challenge
) -> bytes:
    report.step = "export"
    modules = {**challenge.modules, SUBMISSION: submission}
    constants = asked(theorem, challenge.axioms)
    result = run_exporter(workshop, SUBMISSION, modules, constants).result
    if is_whole(result):
        return result.stdout
    if limit_of(result) is None:
        _require_exporter(workshop, challenge.modules, challenge.stated, constants)
    outcome = limit_of(result) or Outcome.RUNTIME_ERROR
    raise Refused(outcome, f"the proof's module can't be exported: {describe('it', result)}")


def _require_exporter(
    workshop: Workshop, modules: Mapping[str, bytes], stated: bytes, constants: Sequence[str]
) -> None:
    """Tells a module that breaks the exporter from an exporter that is broken."""
    own = run_exporter(workshop, SUBMISSION, {**modules, SUBMISSION: stated}, constants).result
    if not is_whole(own):
        raise SandboxFault(f"the exporter no longer works: {describe('it', own)}")


def _read(export: bytes) -> Graph:
    try:
        return read(export)
    except ExportError as error:
        raise Refused(Outcome.WRONG_ANSWER, str(error)) from None


def _compare(report: Report, graph: Graph, theorem: str, expected: Expected) -> None:
    report.step = "statement"
    try:
        report.statement_match = False
        require_match(graph, theorem, expected)
        report.statement_match = True
        report.step = "axioms"
        report.axioms = axioms_of(graph, theorem)
        require_axioms(graph, theorem, expected)
    except (Mismatch, Missing) as error:
        raise Refused(Outcome.WRONG_ANSWER, str(error)) from None


def _replay(workshop: Workshop, report: Report, export: bytes, axioms: Sequence[str]) -> None:
    report.step = "replay"
    done = replay(workshop, export, axioms)
    report.kernels = {at.kernel: at.said for at in done}
    for at in done:
        if not at.accepted:
            outcome = at.limit or Outcome.WRONG_ANSWER
            raise Refused(outcome, f"the kernel `{at.kernel}` does not accept it: {at.said}")
    if not done:
        raise SandboxFault("no kernel replayed the proof")


__all__ = ["prove_sound", "sound_lacks"]
