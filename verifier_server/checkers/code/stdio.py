"""The `stdio` mode: the program runs once a test, and its output is compared here.

Inputs go in one at a time through a real pipe; the expected outputs stay in this process.
"""

from __future__ import annotations

from collections.abc import Iterator

from sandboxes.base import ExecResult
from verifier_server.checkers.code.box import SOURCE_FILE, PythonRunner, bad_end
from verifier_server.checkers.code.compare import difference
from verifier_server.checkers.code.grading import cut
from verifier_server.checkers.code.params import StdioParams, StdioTest
from verifier_server.checkers.code.syntax import compile_error
from verifier_server.verdict import Case, Outcome

_TRACEBACK = b"Traceback (most recent call last)"


def run_stdio(params: StdioParams, runner: PythonRunner) -> Iterator[Case]:
    """The cases, one run each; ends early where the program doesn't compile.

    Raises:
        SandboxError: the box failed.
    """
    for number, test in enumerate(params.tests, 1):
        result = runner.run([SOURCE_FILE], stdin=test.stdin.encode())
        outcome, message = _judge(params, test, result)
        # A source that isn't Python dies before its first line, without a traceback.
        if number == 1 and outcome is Outcome.RUNTIME_ERROR and _TRACEBACK not in result.stderr:
            flaw = compile_error(runner)
            if flaw is not None:
                yield Case(
                    name=test.name or "1", outcome=Outcome.COMPILE_ERROR, score=0.0, message=flaw
                )
                return
        yield Case(
            name=test.name or str(number),
            outcome=outcome,
            score=float(outcome is Outcome.ACCEPTED),
            input=cut(test.stdin),
            expected=cut(test.stdout),
            got=cut(result.stdout),
            message=message or None,
        )


def _judge(params: StdioParams, test: StdioTest, result: ExecResult) -> tuple[Outcome, str]:
    end = bad_end(result)
    if end is not None:
        outcome, clause = end
        last = result.stderr[-1000:].decode(errors="replace").strip().rpartition("\n")[2]
        shown = outcome is Outcome.RUNTIME_ERROR and last
        return outcome, cut(f"{clause}: {last}" if shown else clause)
    found = difference(
        params.compare,
        result.stdout,
        test.stdout.encode(),
        params.tolerance.abs,
        params.tolerance.rel,
    )
    if found is None:
        return Outcome.ACCEPTED, ""
    return Outcome.WRONG_ANSWER, found
