"""The `code` checker: a program, run in a sandbox against the item's tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sandboxes.base import SandboxError
from verifier_server.checkers.base import CheckContext, Checker
from verifier_server.checkers.code.asserts import asserts_files, count_cases, run_asserts
from verifier_server.checkers.code.box import SOURCE_FILE, PythonRunner, open_box
from verifier_server.checkers.code.examples import EXAMPLES
from verifier_server.checkers.code.extract import Source, extract
from verifier_server.checkers.code.function import RUNNER_FILE, run_function, runner_source
from verifier_server.checkers.code.grading import Grade, cut, grade
from verifier_server.checkers.code.params import (
    AssertsParams,
    CodeParams,
    FunctionParams,
    FunctionTest,
    PytestParams,
    StdioParams,
    StdioTest,
    check_reference,
)
from verifier_server.checkers.code.pytest_mode import (
    PACKAGES,
    START_S,
    most_runs,
    pytest_files,
    run_pytest,
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
        """All tests at their limit, killed ones twice; the compiler's run; generous overhead."""
        if isinstance(params, PytestParams):
            return 2 * most_runs() * (params.limits.time_s + START_S + 2.0) + 10.0
        tests = 1 if isinstance(params, AssertsParams) else len(_tests(params))
        return (2 * tests + 1) * (params.limits.time_s + 2.0) + 10.0

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
            packages = PACKAGES if isinstance(params, PytestParams) else ()
            with open_box(provider, params.limits, packages) as box:
                runner = PythonRunner(box, params.limits)
                box.write(_files(params, _encoded(source)))
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
            answer=cut(source.text, _SHOWN_SOURCE_CHARS),
            cases=graded.cases,
            isolation=isolation,
            cpu_s=runner.cpu_s,
            memory_bytes=runner.memory_bytes,
        )


def _files(params: CodeParams, source: bytes) -> dict[str, bytes]:
    """The program, and what of ours must lie in the box beside it."""
    if isinstance(params, PytestParams):
        return pytest_files(params, source)
    ours: dict[str, bytes] = {}
    if isinstance(params, FunctionParams):
        ours = {RUNNER_FILE: runner_source()}
    elif isinstance(params, AssertsParams):
        ours = asserts_files()
    return {SOURCE_FILE: source, **ours}


def _grade(params: CodeParams, runner: PythonRunner) -> Grade:
    if isinstance(params, AssertsParams):
        return grade(run_asserts(params, runner), count_cases(params), params.score)
    if isinstance(params, PytestParams):
        return run_pytest(params, runner)
    cases: Iterator[Case]
    if isinstance(params, StdioParams):
        cases = run_stdio(params, runner)
    else:
        assert isinstance(params, FunctionParams)
        cases = run_function(params, runner)
    return grade(cases, len(_tests(params)), params.score)


def _tests(params: CodeParams) -> Sequence[StdioTest | FunctionTest]:
    assert isinstance(params, StdioParams | FunctionParams)
    return params.tests


def _encoded(source: Source) -> bytes:
    """The source as a file. A lone surrogate stays one: no program, as Python will say."""
    return source.text.encode(errors="surrogatepass")
