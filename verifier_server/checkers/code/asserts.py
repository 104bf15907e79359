"""The `asserts` mode: ordinary Python asserts, in a process that the program can't reach.

One run of two processes inside the box, see `harness.asserts_runner`. The verdict comes out
in lines that carry a nonce which the program's process never held.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from sandboxes.base import ExecResult
from verifier_server.checkers.code.box import Runner, bad_end, require_start
from verifier_server.checkers.code.grading import cut
from verifier_server.checkers.code.harness.plan import Plan
from verifier_server.checkers.code.nonce import lines_with
from verifier_server.checkers.code.params import AssertsParams
from verifier_server.errors import BadReference, SandboxFault
from verifier_server.verdict import Case, Outcome, Tampering

_PACKAGE = "judge_harness"
_MODULES = (
    *("__init__", "asserts_runner", "candidate", "codec", "judge", "link", "plan", "remote"),
    *("siblings", "console", "shared_state"),
)


@cache
def asserts_files() -> dict[str, bytes]:
    """The package that runs the asserts, to be written into the box."""
    folder = files(__package__).joinpath("harness")
    return {
        f"{_PACKAGE}/{name}.py": folder.joinpath(f"{name}.py").read_bytes() for name in _MODULES
    }


def count_cases(params: AssertsParams) -> int:
    """How many top-level statements of the text assert something."""
    return len(Plan(params.asserts, params.function).cases)


def run_asserts(params: AssertsParams, runner: Runner) -> Iterator[Case]:
    """The cases in order, one a top-level statement that asserts.

    Raises:
        SandboxError: the box failed.
        SandboxFault: the asserts' process can't protect itself on this host.
        BadReference: the asserts import what the box doesn't have.
    """
    nonce = secrets.token_hex(16)
    job = {
        "asserts": params.asserts,
        "function": params.function,
        "nonce": nonce,
        "all": params.score == "all",
    }
    result = runner.run(
        ["python3", "-m", f"{_PACKAGE}.asserts_runner"], stdin=json.dumps(job).encode()
    )
    lines = list(lines_with(nonce, result.stdout))
    _require_usable(lines)
    require_start(result, any("ready" in line for line in lines))
    outcomes = (line for line in lines if "outcome" in line)
    cases = [_case(number, line) for number, line in enumerate(outcomes, 1)]
    if any(case.outcome is Outcome.POLICY_VIOLATION for case in cases):
        runner.record.saw(Tampering.ALWAYS_EQUAL)
    whole = any(line.get("end") for line in lines)
    yield from _completed(cases, whole, result, count_cases(params))


def _require_usable(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        if "refused" in line:
            raise SandboxFault(
                f"the asserts can't be kept from the program: {line['refused']}",
                remedy="use another sandbox provider",
            )
        if "lacking" in line:
            raise BadReference(
                f"params: asserts: the sandbox has no module {', '.join(line['lacking'])}",
                remedy="assert with the standard library alone",
            )


def _completed(cases: list[Case], whole: bool, result: ExecResult, total: int) -> Iterator[Case]:
    """The cases, and where the run was cut short a failure for the one under way."""
    end = bad_end(result)
    if whole and end is None and len(cases) == total:
        yield from cases
        return
    failed = any(case.outcome is not Outcome.ACCEPTED for case in cases)
    if not failed or end is not None:
        outcome, clause = end or (Outcome.RUNTIME_ERROR, "the program ended the run")
        done = cases[: total - 1]
        cases = [*done, Case(name=str(len(done) + 1), outcome=outcome, score=0.0, message=clause)]
    yield from cases


def _case(number: int, line: dict[str, Any]) -> Case:
    outcome = Outcome(line["outcome"])
    text = cut(line.get("text", ""))
    why = cut(line["message"])
    message = f"`{text}`: {why}" if text else why
    return Case(
        name=str(number),
        outcome=outcome,
        score=float(outcome is Outcome.ACCEPTED),
        input=text or None,
        message=None if outcome is Outcome.ACCEPTED else message,
    )
