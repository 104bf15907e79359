"""The `stdio` mode: the program runs once a test, and its output is compared here.

Inputs go in one at a time through a real pipe; the expected outputs stay in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sandboxes.base import ExecResult, SandboxProvider
from verifier_server.checkers.code.box import Record, Runner, bad_end
from verifier_server.checkers.code.build import Program, syntax_flaw
from verifier_server.checkers.code.checker_program import ProgramJudge
from verifier_server.checkers.code.compare import Finding, difference
from verifier_server.checkers.code.grading import cut
from verifier_server.checkers.code.languages import Language
from verifier_server.checkers.code.params import ProgramComparison, StdioParams, StdioTest
from verifier_server.verdict import Case, Outcome

Comparer = Callable[[StdioTest, bytes], Finding]


def comparer(params: StdioParams, provider: SandboxProvider, record: Record) -> Comparer:
    """What compares outputs. Raises as `ProgramJudge`."""
    if isinstance(params.compare, ProgramComparison):
        return ProgramJudge(provider, params.compare.checker_program, record).compare
    mode, tolerance = params.compare, params.tolerance

    def compare(test: StdioTest, output: bytes) -> Finding:
        found = difference(mode, output, test.stdout.encode(), tolerance.abs, tolerance.rel)
        return Finding(float(found is None), found or "")

    return compare


def run_stdio(
    params: StdioParams, program: Program, runner: Runner, compare: Comparer
) -> Iterator[Case]:
    """The cases, one run each; ends early where the program doesn't compile.

    Raises:
        SandboxError: the box failed.
        BadReference: the task's checker program did.
    """
    argv = program.argv(params.limits.memory_bytes)
    for number, test in enumerate(params.tests, 1):
        result = runner.run(argv, stdin=test.stdin.encode())
        outcome, finding = _judge(compare, test, result, program.language)
        if number == 1 and outcome is Outcome.RUNTIME_ERROR:
            flaw = syntax_flaw(program, runner)
            if flaw is not None:
                yield flawed(flaw.message, test.name or "1")
                return
        yield Case(
            name=test.name or str(number),
            outcome=outcome,
            score=finding.score,
            input=cut(test.stdin),
            expected=cut(test.stdout),
            got=cut(result.stdout),
            message=finding.message or None,
        )


def flawed(message: str, name: str) -> Case:
    """The case of a program that doesn't compile."""
    return Case(name=name, outcome=Outcome.COMPILE_ERROR, score=0.0, message=cut(message))


def _judge(
    compare: Comparer, test: StdioTest, result: ExecResult, language: Language
) -> tuple[Outcome, Finding]:
    end = bad_end(result)
    if end is not None:
        outcome, clause = end
        if outcome is Outcome.RUNTIME_ERROR:
            if language.no_memory and language.no_memory in result.stderr:
                outcome = Outcome.MEMORY_LIMIT
            last = result.stderr[-1000:].decode(errors="replace").strip().rpartition("\n")[2]
            clause = f"{clause}: {last}" if last else clause
        return outcome, Finding(0.0, cut(clause))
    finding = compare(test, result.stdout)
    if finding.score == 1:
        return Outcome.ACCEPTED, finding
    return Outcome.PARTIAL if finding.score else Outcome.WRONG_ANSWER, finding
