"""The `code` checker: a program, run in a sandbox against the item's tests."""

from __future__ import annotations

from collections.abc import Iterator

from sandboxes.base import SandboxError
from verifier_server.checkers.base import CheckContext, Checker
from verifier_server.checkers.code.box import SOURCE_FILE, PythonRunner, open_box
from verifier_server.checkers.code.examples import EXAMPLES
from verifier_server.checkers.code.extract import Source, extract
from verifier_server.checkers.code.function import RUNNER_FILE, run_function, runner_source
from verifier_server.checkers.code.grading import Grade, grade
from verifier_server.checkers.code.params import (
    CodeParams,
    FunctionParams,
    StdioParams,
    check_reference,
)
from verifier_server.checkers.code.stdio import run_stdio
from verifier_server.errors import SandboxFault
from verifier_server.verdict import Case, Judgement, Outcome

_TAGS = frozenset({"python", "py", "python3"})
_SHOWN_SOURCE_CHARS = 20_000


class CodeChecker(Checker[CodeParams]):
    """Runs the candidate's Python program in a sandbox and judges its output or values.

    The program is the last fenced Python block after the thinking, else the whole text if it
    is Python.
    """

    name = "code"
    version = "1"
    Params = CodeParams
    resource = "sandbox"
    examples = EXAMPLES

    def time_budget_s(self, params: CodeParams) -> float:
        """All tests at their limit, the compiler's run, and a generous overhead for each."""
        assert isinstance(params, StdioParams | FunctionParams)
        return (len(params.tests) + 1) * (params.limits.time_s + 2.0) + 10.0

    def prepare(self, params: CodeParams) -> None:
        """Raises BadReference where the tests can't be judged against."""
        check_reference(params)

    def check(self, completion: str, params: CodeParams, ctx: CheckContext) -> Judgement:
        """Runs the tests. Raises SandboxFault."""
        source = extract(completion, _TAGS)
        if source is None:
            return Judgement.reject(Outcome.NO_ANSWER, "there is no program in the completion")
        provider = ctx.sandboxes()
        try:
            with open_box(provider, params.limits) as box:
                runner = PythonRunner(box, params.limits)
                box.write({SOURCE_FILE: _encoded(source)})
                if isinstance(params, FunctionParams):
                    box.write({RUNNER_FILE: runner_source()})
                graded = _grade(params, runner)
                isolation = box.isolation
        except SandboxError as error:
            raise SandboxFault(str(error)) from error
        if graded.outcome is Outcome.COMPILE_ERROR and not source.fenced:
            return Judgement.reject(
                Outcome.NO_ANSWER,
                f"there is no fenced program, and as a whole the completion is no Python: "
                f"{graded.cases[0].message}",
                isolation=isolation,
            )
        return Judgement(
            graded.outcome,
            graded.score,
            graded.explanation,
            answer=source.text[:_SHOWN_SOURCE_CHARS],
            cases=graded.cases,
            isolation=isolation,
            cpu_s=runner.cpu_s,
            memory_bytes=runner.memory_bytes,
        )


def _grade(params: CodeParams, runner: PythonRunner) -> Grade:
    cases: Iterator[Case]
    if isinstance(params, StdioParams):
        cases, total = run_stdio(params, runner), len(params.tests)
    else:
        assert isinstance(params, FunctionParams)
        cases, total = run_function(params, runner), len(params.tests)
    return grade(cases, total, params.score)


def _encoded(source: Source) -> bytes:
    """The source as a file. A lone surrogate stays one: no program, as Python will say."""
    return source.text.encode(errors="surrogatepass")
