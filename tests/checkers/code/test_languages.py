"""Programs in every language of the table, honest and hostile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.judging import judge
from tests.checkers.code.programs import HONEST, HOSTILE_SOURCES
from verifier_server.checkers.code import languages
from verifier_server.checkers.code.checker import CodeChecker
from verifier_server.checkers.code.languages import LANGUAGES
from verifier_server.errors import SandboxFault
from verifier_server.verdict import Outcome

ALL = list(LANGUAGES)
COMPILED = [name for name, language in LANGUAGES.items() if language.compile]


def stdio(language: str, *tests: tuple[str, str], **options: Any) -> dict[str, Any]:
    rows = [{"stdin": stdin, "stdout": stdout} for stdin, stdout in tests or [("", "42")]]
    return {"mode": "stdio", "language": language, "tests": rows, **options}


def fenced(language: str, source: str) -> str:
    return f"```{language}\n{source}\n```"


@pytest.mark.parametrize("name", ALL)
def test_every_language_runs(name: str, provider: SandboxProvider) -> None:
    completion = fenced(name, LANGUAGES[name].probe)
    right = judge(completion, stdio(name, ("", "42"), ("unread", "42")), provider)
    assert right.outcome is Outcome.ACCEPTED, right
    wrong = judge(completion, stdio(name, ("", "43")), provider)
    assert (wrong.score, wrong.outcome) == (0, Outcome.WRONG_ANSWER), wrong


@pytest.mark.parametrize("name", ALL)
def test_what_is_no_program_does_not_compile(name: str, provider: SandboxProvider) -> None:
    judgement = judge(fenced(name, "if ( this is { no program"), stdio(name), provider)
    assert (judgement.score, judgement.outcome) == (0, Outcome.COMPILE_ERROR), judgement
    assert len(judgement.explanation) > len("test 1 of 1: ")


@pytest.mark.parametrize("name", COMPILED)
def test_prose_is_no_program(name: str, provider: SandboxProvider) -> None:
    judgement = judge("I would add the two numbers.", stdio(name), provider)
    assert (judgement.score, judgement.outcome) == (0, Outcome.NO_ANSWER), judgement


@pytest.mark.parametrize(("language", "source", "tests"), HONEST)
def test_real_programs_are_accepted(
    language: str, source: str, tests: list[tuple[str, str]], provider: SandboxProvider
) -> None:
    judgement = judge(fenced(language, source), stdio(language, *tests), provider)
    assert judgement.outcome is Outcome.ACCEPTED, judgement


@pytest.mark.parametrize(("language", "source"), HOSTILE_SOURCES)
def test_what_kills_a_compiler_is_the_source_s_fault(
    language: str, source: str, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(language, source), stdio(language), provider)
    assert (judgement.score, judgement.outcome) == (0, Outcome.COMPILE_ERROR), judgement


@pytest.mark.parametrize(
    ("language", "source", "outcome"),
    [
        ("c", "int main(void) { for (;;); }", Outcome.TIME_LIMIT),
        ("c", "int main(void) { pause(); }", Outcome.TIME_LIMIT),
        ("c", "int main(void) { return *(volatile int *)8; }", Outcome.RUNTIME_ERROR),
        ("c", "int f(volatile int n) { return f(n + 1) + n; } main() { f(1); }", "memory_limit"),
        (
            "cpp",
            "#include <vector>\nint main() { std::vector<int> v; for (;;) v.push_back(1); }",
            Outcome.MEMORY_LIMIT,
        ),
        ("javascript", "const a = []; for (;;) a.push({})", Outcome.MEMORY_LIMIT),
        ("javascript", "throw new Error('no')", Outcome.RUNTIME_ERROR),
        ("javascript", "process.exit(0)", Outcome.WRONG_ANSWER),
        ("bash", "exit 127", Outcome.RUNTIME_ERROR),
        ("bash", "yes 42", Outcome.OUTPUT_LIMIT),
        (
            "java",
            "class A { public static void main(String[] a) { for (long[] x = {};;)"
            " x = java.util.Arrays.copyOf(x, x.length * 2 + 1); } }",
            Outcome.MEMORY_LIMIT,
        ),
    ],
)
def test_every_end_has_its_outcome(
    language: str, source: str, outcome: Outcome, provider: SandboxProvider
) -> None:
    limits = {"time_s": 1, "memory_bytes": 128 << 20, "output_bytes": 1 << 20}
    judgement = judge(fenced(language, source), stdio(language, limits=limits), provider)
    assert (judgement.score, judgement.outcome) == (0, outcome), judgement


def test_a_compiled_program_meets_neither_its_source_nor_its_compiler_s_files(
    provider: SandboxProvider,
) -> None:
    source = '#include <stdlib.h>\nint main(void) { return system("ls -A"); }'
    judgement = judge(fenced("c", source), stdio("c", ("", "program")), provider)
    assert judgement.outcome is Outcome.ACCEPTED, judgement


def test_the_memory_told_is_the_program_s(provider: SandboxProvider) -> None:
    judgement = judge(fenced("cpp", LANGUAGES["cpp"].probe), stdio("cpp"), provider)
    assert judgement.memory_bytes is not None
    assert judgement.memory_bytes < 16 << 20 < 64 << 20
    assert judgement.cpu_s is not None


@pytest.mark.parametrize(
    "broken",
    [
        {"compile": ("no-such-compiler", "solution.c")},
        {"compile": ("gcc", "-o", "program", "-include", "no-such-header.h", "solution.c")},
        {"run": ("no-such-shell", "program")},
    ],
    ids=["no compiler", "no headers", "no run-time system"],
)
@pytest.mark.parametrize("source", ['int main(void) { puts("42"); }', "int main(", "main() {}"])
def test_a_language_that_the_box_lacks_is_no_fault_of_the_program(
    broken: dict[str, Any], source: str, provider: SandboxProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        languages.LANGUAGES,  # type: ignore[arg-type]
        "dialect",
        replace(LANGUAGES["c"], needs="a dialect compiler", **broken),
    )
    with pytest.raises(SandboxFault, match=r"dialect programs can't be run.*a dialect compiler"):
        judge(fenced("c", source), stdio("dialect"), provider)


def test_unknown_languages_are_a_bad_reference(provider: SandboxProvider) -> None:
    judgement = judge("x", stdio("cobol"), provider)
    assert judgement.outcome is Outcome.BAD_REFERENCE
    assert "known: python, c, cpp" in judgement.explanation


@pytest.mark.parametrize(
    "params",
    [
        {"mode": "function", "function": "f", "tests": [{"returns": 1}]},
        {"mode": "asserts", "asserts": "assert f()"},
        {"mode": "pytest", "files": {"test_a.py": "def test_a(): pass"}},
    ],
    ids=lambda p: p["mode"],
)
def test_the_other_modes_are_for_python(params: dict[str, Any], provider: SandboxProvider) -> None:
    judgement = judge("x", {**params, "language": "go"}, provider)
    assert judgement.outcome is Outcome.BAD_REFERENCE
    assert "Python alone" in judgement.explanation


def test_the_schema_names_the_languages() -> None:
    shown = str(CodeChecker.Params.model_json_schema())
    assert all(f"'{name}'" in shown for name in LANGUAGES)
