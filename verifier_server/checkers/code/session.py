"""What a session of the pytest runner said, and what it is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandboxes.base import ExecResult
from verifier_server.checkers.code.box import bad_end, require_start
from verifier_server.checkers.code.grading import cut
from verifier_server.checkers.code.nonce import lines_with
from verifier_server.checkers.code.params import PytestParams
from verifier_server.checkers.code.test_files import tests_by_name
from verifier_server.errors import BadReference
from verifier_server.verdict import Case, Outcome

# What makes a file not load whatever stands in the candidate's place.
_OWN_FAULTS = frozenset({"ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError"})


@dataclass(frozen=True, slots=True)
class Result:
    """One test that ran; `line` is of the task's own file, 0 if it is not known."""

    test: str
    passed: bool
    error: str = ""
    message: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Session:
    """One run.

    Attributes:
        collected: the tests without the candidate: {"id", "excused", "lacking"}.
        errors: what kept test files from loading without it: file, type, message.
        missing: modules that the task's files import and the box doesn't have.
        results: in order, of the candidate's process.
        end: how it ended early, if it did.
    """

    collected: list[dict[str, Any]]
    errors: list[list[str]]
    missing: list[str]
    results: list[Result]
    end: tuple[Outcome, str] | None

    @property
    def passing(self) -> set[str]:
        """Tests, without parameters, that passed at least once."""
        return {base(result.test) for result in self.results if result.passed}

    @property
    def passed(self) -> set[str]:
        """Those that never failed."""
        return self.passing - {base(r.test) for r in self.results if not r.passed}


def base(test: str) -> str:
    """A test's id without its parameters."""
    return test.partition("[")[0]


def read_session(result: ExecResult, nonce: str) -> Session:
    """Reads the runner's lines.

    Raises:
        SandboxFault: the runner never started.
        BadReference: pytest refused the tests before the candidate was touched.
    """
    lines = list(lines_with(nonce, result.stdout))
    require_start(result, any("ready" in line for line in lines))
    # The first one: the candidate's process, which comes later, may say so too.
    first = next((line for line in lines if "collected" in line), None)
    if first is None:
        raise BadReference("params: files: pytest can't collect the tests without the program")
    results = [_result(line) for line in lines if "outcome" in line]
    end = bad_end(result)
    if end is None and not any("end" in line for line in lines):
        end = Outcome.RUNTIME_ERROR, "the program ended the run"
    return Session(first["collected"], first["errors"], first["missing"], results, end)


def _result(line: Mapping[str, Any]) -> Result:
    """Types are not taken on trust."""
    number = line.get("line")
    return Result(
        test=str(line.get("id")),
        passed=line["outcome"] == "passed",
        error=str(line.get("error", "")),
        message=str(line.get("message", "")),
        file=str(line.get("file", "")),
        line=number if isinstance(number, int) else 0,
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """The tests that must pass.

    Attributes:
        required: their ids, in order.
        ignored: ids of other tests: not asked for, or marked by the task as not to pass.
        texts: the task's files.
    """

    required: list[str]
    ignored: frozenset[str]
    texts: Mapping[str, str]

    @classmethod
    def of(cls, params: PytestParams, session: Session) -> Plan:
        """Raises BadReference."""
        collected, texts = session.collected, params.texts
        if session.missing:
            missing = ", ".join(session.missing)
            raise BadReference(
                f"params: files: the sandbox has no module {missing}",
                remedy="test with pytest and the standard library alone",
            )
        known = [test["id"] for test in collected]
        for file, kind, message in session.errors:
            if kind in _OWN_FAULTS or file not in texts:
                raise BadReference(f"params: files: {file} doesn't load: {kind}: {cut(message)}")
            known += tests_by_name(file, texts)
        wanted = _expected(params.expect, known) if params.expect else known
        for test in collected:
            if test["lacking"] and test["id"] in wanted:
                lacking = " and ".join(test["lacking"])
                raise BadReference(f"params: files: {test['id']} needs {lacking}")
        excused = {test["id"] for test in collected if test["excused"]}
        required = [test for test in wanted if test not in excused]
        if not required:
            raise BadReference("params: files: there is no test in them that can be passed")
        return cls(required, frozenset({*known, *excused} - {*required}), texts)


def _expected(expect: list[str], known: list[str]) -> list[str]:
    """The tests that an item asks for; one without parameters stands for all of its own."""
    wanted: list[str] = []
    for test in expect:
        found = [one for one in known if test in (one, base(one))]
        # Parameters that come from the program can't be known without it.
        if not found and "[" in test and base(test) in map(base, known):
            found = [test]
        if not found:
            raise BadReference(f"params: expect: there is no test {cut(test)!r}")
        wanted += found
    return list(dict.fromkeys(wanted))


def judge_session(session: Session, plan: Plan) -> list[Case]:
    """A case for every test that ran, and one for every test that did not."""
    needed = Counter(map(base, plan.required))
    results = [r for r in session.results if r.test not in plan.ignored and base(r.test) in needed]
    cases = [_case(result, plan.texts) for result in results]
    ran = {result.test for result in results}
    needed.subtract(Counter(base(test) for test in ran))
    for test in plan.required:
        if test not in ran and needed[base(test)] > 0:
            needed[base(test)] -= 1
            outcome, why = _why_missing(test, session)
            cases.append(Case(name=test, outcome=outcome, score=0.0, message=why))
    if session.end is not None and all(case.outcome is Outcome.ACCEPTED for case in cases):
        outcome, why = session.end
        cases[-1] = Case(name=cases[-1].name, outcome=outcome, score=0.0, message=why)
    return cases


def _why_missing(test: str, session: Session) -> tuple[Outcome, str]:
    for result in session.results:
        if "::" not in result.test and test.startswith(f"{result.test}::"):
            why = f"{result.test} doesn't load: {result.error}: {cut(result.message)}"
            return Outcome.RUNTIME_ERROR, why
    return session.end or (Outcome.RUNTIME_ERROR, "it never ran")


def _case(result: Result, texts: Mapping[str, str]) -> Case:
    if result.passed:
        return Case(name=cut(result.test), outcome=Outcome.ACCEPTED, score=1.0)
    outcome = Outcome.RUNTIME_ERROR
    if result.error in ("failed", "skipped"):
        outcome = Outcome.WRONG_ANSWER
    elif result.error == "MemoryError":
        outcome = Outcome.MEMORY_LIMIT
    what = "it fails" if result.error == "failed" else f"it raises {cut(result.error)}"
    what = "the program skips it" if result.error == "skipped" else what
    said = f": {cut(result.message)}" if result.message else ""
    return Case(
        name=cut(result.test),
        outcome=outcome,
        score=0.0,
        input=_source_line(result, texts),
        message=f"{what}{said}",
    )


def _source_line(result: Result, texts: Mapping[str, str]) -> str | None:
    """The line of the test where it failed."""
    lines: Iterator[str] = iter(texts.get(result.file, "").splitlines())
    found = next((line for number, line in enumerate(lines, 1) if number == result.line), "")
    return cut(found.strip()) or None


__all__ = ["Plan", "Result", "Session", "judge_session", "read_session"]
