"""The `lean` checker: a proof, judged against the statement that the task compiled."""

from __future__ import annotations

import os
from functools import lru_cache

from verifier_server.checkers.base import CheckContext, Checker
from verifier_server.checkers.code.extract import extract
from verifier_server.checkers.lean.box import Workshop, worst_s
from verifier_server.checkers.lean.cache import ChallengeCache
from verifier_server.checkers.lean.canaries import CANARIES, WORST_S, Canaries
from verifier_server.checkers.lean.challenge import Challenge, compile_challenge
from verifier_server.checkers.lean.params import LeanParams, Tier
from verifier_server.checkers.lean.pipeline import Refused, ask, build, build_alone, read_text
from verifier_server.checkers.lean.report import Report
from verifier_server.checkers.lean.statement import Statement, read_head, read_statement
from verifier_server.checkers.lean.submission import (
    is_file,
    is_other_file,
    with_file,
    with_proof,
)
from verifier_server.checkers.lean.toolchain import Toolchain, find_toolchain
from verifier_server.errors import SandboxFault
from verifier_server.settings import LeanSettings
from verifier_server.verdict import Judgement, Outcome

_TAGS = ("lean", "lean4")
# Of a task's statement: header, statement, a proof of ours, its check, a probe; a second time
# where another worker is at it. Of a submission: building, asking, a probe after each.
_MOST_RUNS = 14


class LeanChecker(Checker[LeanParams]):
    """Has Lean's kernel judge a proof of the item's statement.

    The proof is the last fenced block of Lean after the thinking, else the whole text: what
    goes behind the statement's `:=`, or a file that proves the named theorem.
    """

    name = "lean"
    version = "1"
    Params = LeanParams
    resource = "lean"
    examples = CANARIES

    def __init__(self) -> None:
        self._canaries = Canaries()

    def time_budget_s(self, params: LeanParams) -> float:
        """Every run at its limit; only a worker that hangs takes so long."""
        return _MOST_RUNS * worst_s(params.limits) + WORST_S

    def identity(self) -> str:
        """The tool chain's; none where there is none."""
        try:
            return find_toolchain().identity
        except SandboxFault:
            return ""

    def unavailable(self) -> str:
        """Why there is no Lean here."""
        try:
            find_toolchain()
        except SandboxFault as error:
            return str(error)
        return ""

    def prepare(self, params: LeanParams) -> None:
        """Raises BadReference for a statement without a theorem; it is compiled later."""
        if params.statement is not None:
            read_statement(params.header, params.statement)

    def check(self, completion: str, params: LeanParams, ctx: CheckContext) -> Judgement:
        """Judges.

        Raises:
            SandboxFault: there is no tool chain or box here, or it failed.
            CheckerFault: a canary fails here.
            BadReference: the statement does not compile.
        """
        toolchain = find_toolchain()
        self._canaries.require(
            toolchain.identity,
            lambda canary: judge(
                canary.completion, LeanParams.model_validate(canary.params), ctx, toolchain
            ),
        )
        return judge(completion, params, ctx, toolchain)


def judge(
    completion: str, params: LeanParams, ctx: CheckContext, toolchain: Toolchain
) -> Judgement:
    """The judgement of one completion. Raises as `LeanChecker.check`."""
    tier = reachable(params.tier, toolchain)
    report = Report(tier, toolchain.name)
    workshop = Workshop(ctx.sandboxes(), toolchain, params.limits)
    text = _text(completion, params)
    try:
        if not text.strip():
            raise Refused(Outcome.NO_ANSWER, "there is no proof in the completion")
        _prove(params, workshop, report, text, ctx)
    except Refused as refused:
        return report.judge(refused.outcome, refused.why, text, workshop)
    what = "it compiles" if tier == "compile" else "the proof holds"
    return report.judge(Outcome.ACCEPTED, f"{what} (tier {tier})", text, workshop)


def _text(completion: str, params: LeanParams) -> str:
    if params.extraction == "whole":
        return completion
    source = extract(completion, _TAGS)
    return source.text if source else ""


def reachable(tier: str, toolchain: Toolchain) -> Tier:
    """The tier to judge by.

    Raises:
        SandboxFault: the item asks for one that this host can't reach.
    """
    if tier == "best":
        return "axioms"
    if tier == "sound":
        raise SandboxFault("tier `sound` needs lean4export")
    return "compile" if tier == "compile" else "axioms"


def _prove(
    params: LeanParams, workshop: Workshop, report: Report, text: str, ctx: CheckContext
) -> None:
    """Takes the steps of the tier. Raises Refused, BadReference, SandboxFault."""
    if params.statement is None:
        read_text(report, text)
        build_alone(workshop, report, text, read_head(params.header), params.header)
        return
    statement = read_statement(params.header, params.statement)
    # First, so that a bad reference is told whatever the candidate does.
    trusted = Workshop(ctx.sandboxes(), workshop.toolchain, params.limits)
    challenge = _challenge(trusted, statement, (params.header, params.statement))
    read_text(report, text)
    submission = build(workshop, report, _module(text, statement, params.header), challenge)
    if report.tier == "axioms":
        ask(workshop, report, submission, statement, challenge, params.axioms)


def _module(text: str, statement: Statement, header: str) -> str:
    if is_file(text, statement.name):
        return with_file(text, statement, header)
    if is_other_file(text):
        raise Refused(
            Outcome.WRONG_ANSWER, f"the file has no theorem of the name `{statement.name}`"
        )
    return with_proof(text, statement)


def _challenge(workshop: Workshop, statement: Statement, task: tuple[str, str]) -> Challenge:
    cache = _cache(LeanSettings().cache)
    return cache.get(workshop.toolchain, task, lambda: compile_challenge(workshop, statement))


@lru_cache(maxsize=1)
def _cache(folder: str | None) -> ChallengeCache:
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return ChallengeCache(folder or os.path.join(caches, "answerkey", "lean"))
