"""The `code` checker: a program, run in a sandbox against the item's tests."""

from __future__ import annotations

from sandboxes.base import SandboxError, SandboxProvider
from verifier_server.checkers.base import CheckContext, Checker
from verifier_server.checkers.code.asserts import asserts_files, count_cases, run_asserts
from verifier_server.checkers.code.box import Record, Runner, run_limits, worst_s
from verifier_server.checkers.code.build import Flaw, Program, build, require_tool_chain
from verifier_server.checkers.code.checker_program import LIMITS as CHECKER_LIMITS
from verifier_server.checkers.code.examples import EXAMPLES
from verifier_server.checkers.code.extract import Source, extract
from verifier_server.checkers.code.function import RUNNER_FILE, run_function, runner_source
from verifier_server.checkers.code.grading import Grade, cut, grade, hide
from verifier_server.checkers.code.languages import LANGUAGES
from verifier_server.checkers.code.params import (
    AssertsParams,
    CodeParams,
    FunctionParams,
    ProgramComparison,
    PytestParams,
    StdioParams,
    check_reference,
)
from verifier_server.checkers.code.preloads import preload_for
from verifier_server.checkers.code.pytest_mode import (
    PACKAGES,
    START_S,
    most_runs,
    pytest_files,
    run_pytest,
)
from verifier_server.checkers.code.stdio import comparer, flawed, run_stdio
from verifier_server.errors import SandboxFault
from verifier_server.verdict import Judgement, Outcome

_SHOWN_SOURCE_CHARS = 20_000


class CodeChecker(Checker[CodeParams]):
    """Runs the candidate's program in a sandbox and judges its output or values.

    The program is the last fenced block of the item's language after the thinking, else the
    whole text if it is a program.
    """

    name = "code"
    version = "2"
    Params = CodeParams
    resource = "sandbox"
    examples = EXAMPLES

    def time_budget_s(self, params: CodeParams) -> float:
        """All runs at their limits, each with its second chance; generous overhead."""
        language, time_s = LANGUAGES[params.language], params.limits.time_s
        if isinstance(params, PytestParams):
            return most_runs() * worst_s(time_s + START_S) + 10.0
        if isinstance(params, AssertsParams):
            return 2 * worst_s(time_s) + 10.0
        assert isinstance(params, StdioParams | FunctionParams)
        runs = len(params.tests) + 1
        budget_s = runs * worst_s(time_s + language.start_s) + 2 * worst_s(language.compile_s)
        if isinstance(params, StdioParams) and isinstance(params.compare, ProgramComparison):
            compiler = LANGUAGES[params.compare.checker_program.language]
            budget_s += 2 * runs * worst_s(CHECKER_LIMITS.time_s) + 2 * worst_s(compiler.compile_s)
        return budget_s + 10.0

    def prepare(self, params: CodeParams) -> None:
        """Raises BadReference where the tests can't be judged against."""
        check_reference(params)

    def check(self, completion: str, params: CodeParams, ctx: CheckContext) -> Judgement:
        """Runs the tests.

        Raises:
            SandboxFault: the sandbox failed, or lacks the language.
            BadReference: a test or the task's checker program can't judge anything.
        """
        source = extract(completion, LANGUAGES[params.language].tags)
        if source is None:
            return Judgement.reject(Outcome.NO_ANSWER, "there is no program in the completion")
        record = Record()
        try:
            graded = _judge(params, source, ctx.sandboxes(), record)
        except SandboxError as error:
            raise SandboxFault(str(error)) from error
        if graded.outcome is Outcome.COMPILE_ERROR and not source.fenced:
            return Judgement.reject(
                Outcome.NO_ANSWER,
                f"there is no fenced program, and as a whole the completion is no "
                f"{params.language}: {graded.cases[0].message}",
                isolation=record.isolation,
            )
        if params.hide_cases and graded.outcome is not Outcome.COMPILE_ERROR:
            graded = hide(graded)
        return Judgement(
            graded.outcome,
            graded.score,
            _explain(graded, record),
            answer=cut(source.text, _SHOWN_SOURCE_CHARS),
            cases=graded.cases,
            isolation=record.isolation,
            cpu_s=record.cpu_s,
            memory_bytes=record.memory_bytes,
            tampering=tuple(record.tampering),
        )


def _judge(params: CodeParams, source: Source, provider: SandboxProvider, record: Record) -> Grade:
    """Compiles, runs and grades; what fails is asked whether it is the host that fails.

    Raises:
        SandboxError, SandboxFault, BadReference: see `check`.
    """
    # First, so that a bad reference is told whatever the candidate does.
    compare = comparer(params, provider, record) if isinstance(params, StdioParams) else None
    language = LANGUAGES[params.language]
    program = build(provider, language, {language.file: _encoded(source)}, record)
    if isinstance(program, Flaw):
        graded = grade([flawed(program.message, "1")], 1, "all")
    else:
        packages = PACKAGES if isinstance(params, PytestParams) else ()
        limits = run_limits(params.limits, language)
        preload = preload_for(params)
        with Runner(provider, limits, record, language, packages, preload) as runner:
            runner.write(_files(params, program))
            if isinstance(params, StdioParams):
                assert compare is not None
                cases = run_stdio(params, program, runner, compare)
                graded = grade(cases, len(params.tests), params.score)
            else:
                graded = _grade_python(params, runner)
    # The other modes have runners of ours, which say that they have started.
    if isinstance(params, StdioParams) and not graded.score:
        require_tool_chain(provider, params.language)
    return graded


def _files(params: CodeParams, program: Program) -> dict[str, bytes]:
    """The program, and what of ours must lie in the box beside it."""
    ours: dict[str, bytes] = {}
    if isinstance(params, PytestParams):
        ours = pytest_files(params)
    elif isinstance(params, FunctionParams):
        ours = {RUNNER_FILE: runner_source()}
    elif isinstance(params, AssertsParams):
        ours = asserts_files()
    return {**program.files, **ours}


def _grade_python(params: CodeParams, runner: Runner) -> Grade:
    if isinstance(params, AssertsParams):
        return grade(run_asserts(params, runner), count_cases(params), params.score)
    if isinstance(params, PytestParams):
        return run_pytest(params, runner)
    assert isinstance(params, FunctionParams)
    return grade(run_function(params, runner), len(params.tests), params.score)


def _explain(graded: Grade, record: Record) -> str:
    if not record.tampering:
        return graded.explanation
    seen = ", ".join(kind.value.replace("_", " ") for kind in record.tampering)
    return f"{graded.explanation}; tampering seen: {seen}"


def _encoded(source: Source) -> bytes:
    """The source as a file. A lone surrogate stays one: no program, as Python will say."""
    return source.text.encode(errors="surrogatepass")
