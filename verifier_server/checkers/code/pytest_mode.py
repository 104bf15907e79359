"""The `pytest` mode: a task's own test files, run beside the candidate's program.

Which tests there are is found out first, without the candidate. A pass must then stand up to
mutants: the same tests with other expectations, which an honest program fails (`mutants`).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from posixpath import normpath
from random import SystemRandom

from sandboxes.base import MIB
from verifier_server.checkers.code.box import Runner
from verifier_server.checkers.code.build import Program, syntax_flaw
from verifier_server.checkers.code.grading import Grade, grade
from verifier_server.checkers.code.languages import LANGUAGES
from verifier_server.checkers.code.mutants import Mutants, mutate
from verifier_server.checkers.code.nonce import has_foreign_lines
from verifier_server.checkers.code.params import PytestParams
from verifier_server.checkers.code.session import Plan, Session, judge_session, read_session
from verifier_server.checkers.code.test_files import test_files
from verifier_server.verdict import Case, Outcome, Tampering

PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
# Python, pytest and the collection without the candidate, on a busy machine.
START_S = 4.0
_HARNESS = "judge_harness"
_MODULES = ("__init__", "decoys", "pytest_runner", "task_modules")
_ROOT = "task"
_PYTHON = LANGUAGES["python"]
# The stream is the runner's alone, so an item's limit does not bear on it.
_REPORT_BYTES = 16 * MIB
# Runs of mutants: of all tests, and of one, so that a program which sees no test fail that it
# knows it passes can't conclude that there are none.
_ONLY_ONE = (False, True)


def most_runs() -> int:
    """How often pytest, or the compiler, may be run for one item."""
    return 3 + 2 * len(_ONLY_ONE)


@cache
def _harness_files() -> dict[str, bytes]:
    folder = files(__package__).joinpath("harness")
    return {
        f"{_HARNESS}/{name}.py": folder.joinpath(f"{name}.py").read_bytes() for name in _MODULES
    }


def pytest_files(params: PytestParams) -> dict[str, bytes]:
    """All that lies in the box beside the program. The tests' directory is one below the harness's.

    The program is put among the tests by the runner, when it has collected them without it.
    """
    return {**_harness_files(), **_laid(params.texts)}


def _laid(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {f"{_ROOT}/{path}": text.encode() for path, text in texts.items()}


def run_pytest(params: PytestParams, runner: Runner) -> Grade:
    """Runs the tests, and what passes against mutants.

    Raises:
        SandboxError: the box failed.
        SandboxFault: the runner in it did.
        BadReference: the tests can't judge anything.
    """
    session = _run(params, params.texts, runner)
    plan = Plan.of(params, session)
    graded = _graded(params, plan, session)
    if not any("::" in result.test for result in session.results):
        flaw = syntax_flaw(Program(_PYTHON, {}), runner)
        if flaw is not None:
            case = Case(name="1", outcome=Outcome.COMPILE_ERROR, score=0.0, message=flaw.message)
            return grade([case], len(plan.required), "all")
    for one in _ONLY_ONE:
        if graded.score:
            graded = _mutated(params, plan, session, runner, one=one) or graded
    return (graded.score and _again(params, plan, session, runner)) or graded


def _graded(params: PytestParams, plan: Plan, session: Session) -> Grade:
    cases = judge_session(session, plan)
    return grade(cases, max(len(cases), len(plan.required)), params.score)


def _again(params: PytestParams, plan: Plan, session: Session, runner: Runner) -> Grade | None:
    """The grade of another run, where a test failed in it that has passed."""
    runner.write(_laid(params.texts))
    another = _run(params, params.texts, runner)
    return None if session.passed <= another.passed else _graded(params, plan, another)


def _mutated(
    params: PytestParams, plan: Plan, session: Session, runner: Runner, *, one: bool
) -> Grade | None:
    """The grade of a program that passes a mutant."""
    mutants = mutate(params.texts, SystemRandom(), one=one)
    changed = _run_mutants(params, mutants, runner)
    # A changed file that doesn't even load tells nothing.
    if len(changed.collected) != len(session.collected):
        mutants = mutate(params.texts, SystemRandom(), one=one, plainly=True)
        changed = _run_mutants(params, mutants, runner)
    passing = {test for test in changed.passing if test.rpartition("::")[2] in mutants.functions}
    survivors = session.passed & passing
    if not survivors:
        return None
    why = "it passes whatever it expects, so it is not by what the program does"
    runner.record.saw(Tampering.MUTANT_PASSED)
    tampered = Outcome.POLICY_VIOLATION
    case = Case(name=min(survivors), outcome=tampered, score=0.0, message=why)
    return grade([case], len(plan.required), "all")


def _run(params: PytestParams, texts: Mapping[str, str], runner: Runner) -> Session:
    nonce = secrets.token_hex(16)
    job = {
        "root": _ROOT,
        "files": {path: text for path, text in texts.items() if path.endswith(".py")},
        "program": _PYTHON.file,
        "solution": normpath(params.solution_path),
        "tests": test_files(params.texts),
        "nonce": nonce,
    }
    result = runner.run(
        ["python3", "-m", f"{_HARNESS}.pytest_runner"],
        stdin=json.dumps(job).encode(),
        time_s=params.limits.time_s + START_S,
        output_bytes=_REPORT_BYTES,
    )
    if not result.truncated and has_foreign_lines(nonce, result.stdout):
        runner.record.saw(Tampering.FORGED_REPORT)
    return read_session(result, nonce)


def _run_mutants(params: PytestParams, mutants: Mutants, runner: Runner) -> Session:
    runner.write(_laid(mutants.files))
    return _run(params, {**params.texts, **mutants.files}, runner)
