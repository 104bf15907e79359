"""Runs a task's tests with pytest, beside the candidate's program.

Nothing that a process says which has loaded the candidate is believed for its own sake. What
can be trusted is said before: a child process collects the tests with a stub in the
candidate's place. Whether the rest was honest is told by other runs, see `mutants`.

Standard input: one JSON object {"root", "files", "program", "solution", "tests", "nonce"}.
Standard output: lines of JSON, each with the nonce: {"ready": true};
{"collected": [{"id", "excused", "lacking"}], "errors": [[file, type, message]], "missing":
modules};
{"id", "outcome", "error", "message", "file", "line"} a test; {"end": true}.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import sys
from importlib.util import find_spec

import pytest

from . import decoys
from .task_modules import STUB, TaskFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any

# What `mutants` calls in a test.
DECOYS_MODULE = "_judge_decoys"
_REPORT_FD = 120
_OPTIONS = ("-q", "--assert=plain", "--tb=short", "--show-capture=no", "-p", "no:cacheprovider")


def main() -> None:
    """Collects, and runs what was collected."""
    job = json.loads(sys.stdin.buffer.read())
    report = Report(job["nonce"])
    report.line(ready=True)
    work = os.getcwd()
    with open(job["program"], "rb") as stream:
        program = stream.read()
    os.chdir(job["root"])
    root = os.getcwd()
    sys.path[:] = [root, *(entry for entry in sys.path if entry not in ("", work))]
    sources = {os.path.join(root, path): text for path, text in job["files"].items()}
    lay(job["solution"], STUB.encode())
    wanted = collect_apart(job, root, sources, report)
    lay(job["solution"], program)
    sys.modules[DECOYS_MODULE] = decoys
    sys.argv[:] = ["pytest"]
    sys.meta_path.insert(0, TaskFinder(root, sources))
    plugin = Recorder(wanted, sources, report)
    run_pytest(root, job["tests"], plugin, "--continue-on-collection-errors")
    report.line(end=True)
    os._exit(0)


def lay(path: str, content: bytes) -> None:
    """Puts a file where the tests look for the candidate's program."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as stream:
        stream.write(content)


def run_pytest(root: str, tests: list[str], plugin: object, *options: str) -> None:
    """One session; the task's own configuration file counts, if it has one."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    arguments = [*_OPTIONS, f"--rootdir={root}", *options, "--", *tests]
    pytest.main(arguments, plugins=[plugin])


def collect_apart(job: Any, root: str, sources: dict[str, str], report: Report) -> set[str] | None:
    """Collects in a child that ends before the candidate's program is touched.

    Returns:
        The tests' ids without parameters; None where the stub kept some from loading.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        stubbed = {**sources, os.path.join(root, job["solution"]): STUB}
        sys.meta_path.insert(0, TaskFinder(root, stubbed))
        collector = Collector(report, sources)
        run_pytest(root, job["tests"], collector, "--collect-only")
        with os.fdopen(writer, "w") as stream:
            json.dump(None if collector.errors else collector.tests, stream)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        told = json.loads(stream.read() or "null")
    os.waitpid(child, 0)
    return None if told is None else set(told)


class Report:
    """The lines of the verdict, on a stream that is not the tests'."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        os.dup2(1, _REPORT_FD, inheritable=False)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)

    def line(self, **fields: Any) -> None:
        """Writes one."""
        data = memoryview(b"\n" + json.dumps({"nonce": self._nonce, **fields}).encode() + b"\n")
        while data:
            data = data[os.write(_REPORT_FD, data) :]


class Collector:
    """Says which tests there are, and what keeps them from being fit to judge."""

    def __init__(self, report: Report, sources: dict[str, str]) -> None:
        self._report = report
        self._sources = sources
        self.errors: list[list[str]] = []
        self.tests: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, Any]:
        """Notes why a file doesn't load."""
        found = yield
        if found.outcome == "failed":
            error = _cause(found)
            self.errors.append([collector.nodeid, type(error).__name__, str(error)[:500]])
        return found

    def pytest_collection_finish(self, session: Any) -> None:
        """Notes the tests."""
        found = [
            {"id": item.nodeid, "excused": _is_excused(item), "lacking": _lacking(item)}
            for item in session.items
        ]
        self.tests = [item.nodeid.split("[")[0] for item in session.items]
        names = {name for text in self._sources.values() for name in _imports(ast.parse(text))}
        missing = sorted(name for name in names if not _can_import(name))
        self._report.line(collected=found, errors=self.errors, missing=missing)


def _imports(tree: ast.AST) -> Iterator[str]:
    """Top-level names of the modules that a file imports, whatever happens."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]
        elif not isinstance(node, (ast.Try, ast.If, ast.With)):
            yield from _imports(node)


def _can_import(name: str) -> bool:
    try:
        return name in sys.modules or find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _cause(report: Any) -> BaseException:
    """Why a file doesn't load, below pytest's own words for it."""
    error: BaseException = report.call.excinfo.value
    wrapped = isinstance(error, pytest.Collector.CollectError)
    return (error.__cause__ or error) if wrapped else error


def _is_excused(item: Any) -> bool:
    """Whether the task itself marks it to be skipped, or to fail."""
    from _pytest.skipping import evaluate_skip_marks, evaluate_xfail_marks

    marked = evaluate_skip_marks(item) or evaluate_xfail_marks(item)
    function = getattr(item, "obj", None)
    owner = getattr(item, "cls", None)
    unittest_skips = (getattr(x, "__unittest_skip__", False) for x in (function, owner))
    fails = getattr(function, "__unittest_expecting_failure__", False)
    return bool(marked) or any(unittest_skips) or fails


def _lacking(item: Any) -> list[str]:
    """Fixtures and plugins that it needs and nobody has."""
    manager = item.session._fixturemanager
    given = getattr(getattr(item, "callspec", None), "params", {})
    missing = [
        f"fixture {name!r}"
        for name in getattr(item, "fixturenames", ())
        if name not in given and name != "request" and not manager.getfixturedefs(name, item)
    ]
    if inspect.iscoroutinefunction(getattr(item, "obj", None)) and not _is_unittest(item):
        missing.append("a plugin for async tests")
    return missing


def _is_unittest(item: Any) -> bool:
    import unittest

    owner = getattr(item, "cls", None)
    return owner is not None and issubclass(owner, unittest.TestCase)


class Recorder:
    """Says how each wanted test went; others are not run."""

    def __init__(self, wanted: set[str] | None, sources: dict[str, str], report: Report) -> None:
        self._wanted = wanted
        self._sources = sources
        self._report = report
        self._failures: dict[str, dict[str, Any]] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leaves what the candidate brought along."""
        if self._wanted is not None:
            items[:] = [item for item in items if item.nodeid.split("[")[0] in self._wanted]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, Any]:
        """A file that doesn't load counts as a test that fails."""
        found = yield
        if found.outcome == "failed":
            self._say(collector.nodeid, **self._describe(_cause(found)))
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, Any]:
        """Notes the first failure of a test, of its phases and of its subtests."""
        found = yield
        if found.outcome != "passed" or hasattr(found, "wasxfail"):
            error = call.excinfo.value if call.excinfo else None
            fields = self._describe(error)
            if found.outcome == "skipped" or hasattr(found, "wasxfail"):
                fields = {**fields, "error": "skipped"}
            self._failures.setdefault(item.nodeid, fields)
        return found

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Says how a test went, once its last phase is over."""
        if report.outcome == "failed":
            self._failures.setdefault(report.nodeid, self._describe(None))
        if report.when == "teardown":
            self._say(report.nodeid, **self._failures.pop(report.nodeid, {}))

    def _say(self, test: str, **fields: Any) -> None:
        outcome = "failed" if fields else "passed"
        self._report.line(id=test, outcome=outcome, **fields)

    def _describe(self, error: BaseException | None) -> dict[str, Any]:
        """What it is, and where the task's own file was at."""
        trace, place = getattr(error, "__traceback__", None), ("", 0)
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if file in self._sources:
                place = (os.path.relpath(file), trace.tb_lineno)
            trace = trace.tb_next
        kind = "failed" if error is None else type(error).__name__
        if isinstance(error, (AssertionError, pytest.fail.Exception)):
            kind = "failed"
        message = "" if error is None else str(error)[:500]
        return {"error": kind, "message": message, "file": place[0], "line": place[1]}


if __name__ == "__main__":
    main()
