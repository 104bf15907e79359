"""The `lean` checker: a proof, judged against the statement that the task compiled."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Literal

from verifier_server.checkers.base import CheckContext, Checker, Example
from verifier_server.checkers.code.extract import extract
from verifier_server.checkers.lean.box import Workshop, worst_s
from verifier_server.checkers.lean.cache import ChallengeCache
from verifier_server.checkers.lean.canaries import CANARIES, SOUND_AT_START, WORST_S, Canaries
from verifier_server.checkers.lean.challenge import Challenge, compile_challenge
from verifier_server.checkers.lean.params import LeanLimits, LeanParams, Tier
from verifier_server.checkers.lean.pipeline import Refused, ask, build, build_alone, read_text
from verifier_server.checkers.lean.report import Report
from verifier_server.checkers.lean.sound import prove_sound, sound_lacks
from verifier_server.checkers.lean.statement import Statement, read_head, read_statement
from verifier_server.checkers.lean.submission import (
    is_file,
    is_other_file,
    with_file,
    with_proof,
)
from verifier_server.checkers.lean.toolchain import Toolchain, find_toolchain
from verifier_server.errors import CheckerFault, SandboxFault
from verifier_server.settings import LeanSettings
from verifier_server.verdict import Judgement, Outcome

_TAGS = ("lean", "lean4")
# Of kernels: two probes each. Of a task's statement: header, statement, a proof of ours, its
# check, axioms, export, a probe; a second time where another worker is at it. Of a submission:
# building, asking or exporting, replays, a probe after each.
_MOST_RUNS = 30


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
        self._sound_canaries = Canaries(SOUND_AT_START)

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
            CheckerFault: a canary fails here, or the theorem is one of a repository.
            BadReference: the statement does not compile.
        """
        if params.repo is not None:
            raise CheckerFault(
                "theorems of traced repositories can't be judged yet",
                remedy="give the theorem as `statement`, and what stands above it as `header`",
            )
        toolchain = find_toolchain()

        def known(canary: Example) -> Judgement:
            return judge(
                canary.completion, LeanParams.model_validate(canary.params), ctx, toolchain
            )

        self._canaries.require(toolchain.identity, known)
        if params.tier in ("best", "sound"):
            workshop = Workshop(ctx.sandboxes(), toolchain, LeanLimits())
            if sound_lacks(workshop) is None:
                self._sound_canaries.require(toolchain.identity, known)
        return judge(completion, params, ctx, toolchain)


def judge(
    completion: str, params: LeanParams, ctx: CheckContext, toolchain: Toolchain
) -> Judgement:
    """The judgement of one completion. Raises as `LeanChecker.check`."""
    workshop = Workshop(ctx.sandboxes(), toolchain, params.limits)
    tier, lacks = reachable(params.tier, workshop)
    report = Report(tier, toolchain.name, lacks)
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


def reachable(tier: Tier | Literal["best"], workshop: Workshop) -> tuple[Tier, str | None]:
    """The tier to judge by, and why it is not `sound` where the item asks for the best.

    Raises:
        SandboxFault: the item asks for one that this host can't reach; or a kernel or a box
            failed.
    """
    if tier == "compile":
        return "compile", None
    if tier == "axioms":
        return "axioms", None
    lacks = sound_lacks(workshop)
    if lacks is None:
        return "sound", None
    if tier == "sound":
        raise SandboxFault(f"tier `sound` can't be reached: {lacks}", remedy="see docs/lean.md")
    return "axioms", lacks


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
    challenge = _challenge(trusted, statement, params, exported=report.tier == "sound")
    read_text(report, text)
    submission = build(workshop, report, _module(text, statement, params.header), challenge)
    if report.tier == "axioms":
        ask(workshop, report, submission, statement, challenge)
    if report.tier == "sound":
        prove_sound(workshop, report, submission, statement.full_name, challenge)


def _module(text: str, statement: Statement, header: str) -> str:
    if is_file(text, statement.name):
        return with_file(text, statement, header)
    if is_other_file(text):
        raise Refused(
            Outcome.WRONG_ANSWER, f"the file has no theorem of the name `{statement.name}`"
        )
    return with_proof(text, statement)


def _challenge(
    workshop: Workshop, statement: Statement, params: LeanParams, *, exported: bool
) -> Challenge:
    cache = _cache(LeanSettings().cache)
    axioms = params.axioms
    task = (params.header, str(params.statement), str(exported), *axioms)
    return cache.get(
        workshop.toolchain,
        task,
        lambda: compile_challenge(workshop, statement, axioms, exported=exported),
    )


@lru_cache(maxsize=1)
def _cache(folder: str | None) -> ChallengeCache:
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return ChallengeCache(folder or os.path.join(caches, "answerkey", "lean"))
