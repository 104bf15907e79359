"""Params of the `code` checker: one model a mode, told apart by `mode`."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence
from posixpath import normpath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    model_validator,
)

from sandboxes.base import MIB
from sandboxes.files import file_parts
from verifier_server.checkers.base import Params
from verifier_server.checkers.code.harness.plan import Plan, Unusable
from verifier_server.checkers.code.languages import LANGUAGES
from verifier_server.errors import BadReference

MAX_DEPTH = 100


def _known_language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"unknown language {name[:40]!r}; known: {', '.join(LANGUAGES)}")
    return name


LanguageName = Annotated[
    str, AfterValidator(_known_language), Field(json_schema_extra={"enum": list(LANGUAGES)})
]


class CodeLimits(Params):
    """What each run of the candidate's program may use.

    Attributes:
        time_s: CPU seconds a test, of all its processes together; three times as many
            wall-clock seconds, and two, end it as well.
        memory_bytes: memory of all its processes together.
        output_bytes: of stdout and of stderr, each; in `function` mode, of the values that
            all tests return.
    """

    time_s: float = Field(10.0, gt=0, le=600)
    memory_bytes: int = Field(512 * MIB, ge=16 * MIB)
    output_bytes: int = Field(16 * MIB, ge=1, le=256 * MIB)


class Tolerance(Params):
    """Two numbers are equal if they differ by at most max(abs, rel * |expected|)."""

    abs: float = Field(1e-9, ge=0)
    rel: float = Field(1e-9, ge=0, le=1)


class CodeParams(Params):
    """What every mode has; validating this class gives the class of the mode."""

    language: LanguageName = "python"
    mode: str
    limits: CodeLimits = CodeLimits()
    score: Literal["all", "fraction"] = Field(
        "all", description="all: 1 if every test passes, else 0; fraction: share that passes"
    )
    hide_cases: bool = Field(
        False, description="tell the names and outcomes of tests, and nothing of what is in them"
    )

    @model_validator(mode="wrap")
    @classmethod
    def _by_mode(cls, data: Any, handler: ValidatorFunctionWrapHandler) -> CodeParams:
        params: CodeParams = _MODES.validate_python(data) if cls is CodeParams else handler(data)
        return params

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """The schema of all modes, where this is the class of none."""
        if cls is CodeParams:
            return _MODES.json_schema(*args, **options)
        return super().model_json_schema(*args, **options)


class StdioTest(Params):
    """A run of the program: what it reads and what it must write."""

    stdin: str = ""
    stdout: str
    name: str | None = None


class CheckerProgram(Params):
    """A program of the task's that judges an output, called as testlib's checkers are."""

    language: LanguageName = "cpp"
    source: str
    files: dict[str, str] = Field(
        default_factory=dict, description="what the source includes, such as testlib.h"
    )


class ProgramComparison(Params):
    """The task's own program compares."""

    checker_program: CheckerProgram


Comparison = Literal["tokens", "exact", "float", "unordered_lines"]


class StdioParams(CodeParams):
    """The program is run once a test, with real pipes."""

    mode: Literal["stdio"]
    tests: list[StdioTest] = Field(min_length=1)
    compare: Comparison | ProgramComparison = "tokens"
    tolerance: Tolerance = Field(Tolerance(), alias="float", description='for "float" alone')


class FunctionTest(Params):
    """A call and the value that it must return. All of it is JSON."""

    args: list[JsonValue] = Field(default_factory=list)
    kwargs: dict[str, JsonValue] = Field(default_factory=dict)
    returns: JsonValue
    name: str | None = None


class FunctionParams(CodeParams):
    """A function of the program is called once a test, with arguments as data."""

    mode: Literal["function"]
    function: str = Field(description='"name" or "Class.method"; each test has a new instance')
    tests: list[FunctionTest] = Field(min_length=1)
    tolerance: Tolerance | None = Field(
        None, alias="float", description="how far numbers may be off; by default not at all"
    )


class AssertsParams(CodeParams):
    """Python asserts about what the program defines; `limits.time_s` is for all together."""

    mode: Literal["asserts"]
    asserts: str
    function: str | None = Field(
        None, description="what `check(candidate)` is called with, if the asserts define it"
    )


class PytestParams(CodeParams):
    """Test files that pytest runs; `limits.time_s` is for all tests together."""

    mode: Literal["pytest"]
    files: dict[str, str] = Field(
        min_length=1, description="the task's files by path: tests, and what they need"
    )
    solution_path: str = Field("solution.py", description="where the program is put")
    expect: list[str] | None = Field(
        None, min_length=1, description="ids of the tests that count; by default all"
    )

    @property
    def texts(self) -> dict[str, str]:
        """The files by their paths in the plainest form."""
        return {normpath(path): text for path, text in self.files.items()}


_Modes = StdioParams | FunctionParams | AssertsParams | PytestParams
_MODES: TypeAdapter[_Modes] = TypeAdapter(Annotated[_Modes, Field(discriminator="mode")])


def check_reference(params: CodeParams) -> None:
    """Looks at what the schema can't say.

    Raises:
        BadReference: the reference can't be judged against.
    """
    if params.language != "python" and not isinstance(params, StdioParams):
        raise BadReference(
            f"params: language: the mode {params.mode!r} is for Python alone",
            remedy='test programs in other languages with "stdio"',
        )
    if isinstance(params, StdioParams):
        for number, test in enumerate(params.tests, 1):
            _require_unicode(f"{test.stdin}{test.stdout}", f"tests.{number}")
        if isinstance(params.compare, ProgramComparison):
            _require_checker_program(params.compare.checker_program)
    elif isinstance(params, FunctionParams):
        _require_function_name(params.function)
        for number, call in enumerate(params.tests, 1):
            _require_plain([call.args, call.kwargs, call.returns], f"tests.{number}")
    elif isinstance(params, AssertsParams):
        if params.function is not None:
            _require_function_name(params.function)
        _require_unicode(params.asserts, "asserts")
        try:
            Plan(params.asserts, params.function)
        except Unusable as error:
            raise BadReference(f"params: asserts: {error}") from error
    elif isinstance(params, PytestParams):
        _require_tree([*params.files, params.solution_path])
        for path, text in params.files.items():
            _require_unicode(f"{path}{text}", f"files: {path[:80]!r}")
        _require_unicode("".join(params.expect or ()), "expect")


def _require_checker_program(program: CheckerProgram) -> None:
    where = "compare.checker_program"
    _require_tree([LANGUAGES[program.language].file, *program.files])
    for path, text in {"source": program.source, **program.files}.items():
        _require_unicode(f"{path}{text}", f"{where}: {path[:80]!r}")


def _require_tree(paths: Sequence[str]) -> None:
    """Paths of files that can lie in one directory."""
    seen: set[tuple[str, ...]] = set()
    folders: set[tuple[str, ...]] = set()
    for path in paths:
        try:
            parts = file_parts(path)
        except ValueError as error:
            raise BadReference(f"params: files: {error}") from error
        if parts in seen:
            raise BadReference(f"params: files: {path[:80]!r} is there twice")
        seen.add(parts)
        folders |= {parts[:depth] for depth in range(1, len(parts))}
    for parts in seen & folders:
        raise BadReference(f"params: files: {'/'.join(parts)[:80]!r} is a file and a directory")


def _require_function_name(name: str) -> None:
    parts = name.split(".")
    if len(parts) > 2 or not all(p.isidentifier() and not keyword.iskeyword(p) for p in parts):
        raise BadReference(
            f"params: function: {name[:80]!r} is no name of a function",
            remedy='use "name" or "Class.method"',
        )


def _require_unicode(text: str, where: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise BadReference(f"params: {where}: {error}", remedy="send valid Unicode") from error


def _require_plain(value: JsonValue, where: str) -> None:
    """Finite numbers, valid text, bounded depth."""
    level: list[JsonValue] = [value]
    for _ in range(MAX_DEPTH + 1):
        if not level:
            return
        for leaf in level:
            if isinstance(leaf, str):
                _require_unicode(leaf, where)
            elif isinstance(leaf, float) and leaf - leaf != 0:
                raise BadReference(f"params: {where}: {leaf} is no JSON value")
        level = [child for parent in level for child in _children(parent)]
    raise BadReference(f"params: {where}: nested deeper than {MAX_DEPTH} levels")


def _children(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, list):
        yield from value
    elif isinstance(value, dict):
        yield from value
        yield from value.values()
