"""`compare: {"checker_program": …}`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.judging import judge
from verifier_server.checkers.code import checker_program
from verifier_server.verdict import Outcome

# Any order is right. Its faults are those of sloppy checkers: it believes what it reads.
PYTHON = """
import sys
given, output, answer = (open(path).read().split() for path in sys.argv[1:4])
if not output: sys.exit(2)
if output[0] == "crash": raise RuntimeError("no such thing")
if output[0] == "hang":
    while True: pass
if output[0] == "fill": output = ["x"] * 10**9
if output[0] == "fail": sys.exit(3)
if output[0] == "kill": __import__("os").abort()
if output[0] == "status": sys.exit(int(output[1]))
if output[0] == "points":
    print("points", output[1], "in all", file=sys.stderr)
    sys.exit(7)
sys.exit(0 if sorted(output) == sorted(answer) else 1)
"""
CPP = """
#include "testlib.h"
int main(int argc, char **argv) {
    if (argc != 4) return FAIL;
    std::ifstream output(argv[2]), answer(argv[3]);
    long long x, y;
    answer >> y;
    if (!(output >> x)) return PRESENTATION_ERROR;
    std::cerr << "expected something like " << y;
    return x % 10 == y % 10 ? OK : WRONG;
}
"""
HEADER = """
#include <fstream>
#include <iostream>
enum { OK, WRONG, PRESENTATION_ERROR, FAIL };
"""


def item(source: str = PYTHON, language: str = "python", **options: Any) -> dict[str, Any]:
    program = {"language": language, "source": source, **options.pop("program", {})}
    return {
        "mode": "stdio",
        "tests": [{"stdin": "2", "stdout": "1 2"}],
        "compare": {"checker_program": program},
        **options,
    }


def fenced(source: str) -> str:
    return f"```python\n{source}\n```"


@pytest.mark.parametrize(
    ("output", "outcome", "message"),
    [
        ("2 1", Outcome.ACCEPTED, "the test passes"),
        ("1 3", Outcome.WRONG_ANSWER, "the answer is wrong"),
        ("", Outcome.WRONG_ANSWER, "the output is no answer"),
        ("status 4", Outcome.WRONG_ANSWER, "more in the output"),
        ("status 8", Outcome.WRONG_ANSWER, "ends too early"),
        ("points 1", Outcome.ACCEPTED, "the test passes"),
        ("points 0.5", Outcome.WRONG_ANSWER, "0.5 points"),
        ("points 0", Outcome.WRONG_ANSWER, "0 points"),
        ("points 50", Outcome.WRONG_ANSWER, "no points from 0 to 1"),
        ("points none", Outcome.WRONG_ANSWER, "no points from 0 to 1"),
    ],
)
def test_the_program_decides(
    output: str, outcome: Outcome, message: str, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(f"print({output!r})"), item(), provider)
    assert judgement.outcome is outcome, judgement
    assert message in judgement.explanation


@pytest.mark.parametrize(
    "output",
    [
        "crash",
        "hang",
        "fill",
        "fail",
        "kill",
        "status 77",
        "status 3",
        "\\x00\\udcff",
        "crash " * 9,
    ],
)
def test_an_output_that_breaks_the_program_is_wrong_and_never_without_a_score(
    output: str, provider: SandboxProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = replace(checker_program.LIMITS, time_s=0.5)
    monkeypatch.setattr(checker_program, "LIMITS", limits)
    source = f"import sys\nsys.stdout.reconfigure(errors='surrogateescape')\nprint('{output}')"
    judgement = judge(fenced(source), item(), provider)
    assert (judgement.score, judgement.outcome) == (0, Outcome.WRONG_ANSWER), judgement
    assert judgement.explanation


@pytest.mark.parametrize(
    ("source", "language", "why"),
    [
        ("import sys; sys.exit(3)", "python", "status 3"),
        ("import sys; sys.exit(99)", "python", "status 99"),
        ("raise RuntimeError('not mine')", "python", "RuntimeError: not mine"),
        ("import sys; sys.exit((", "python", "doesn't compile"),
        ("int main( {", "cpp", "doesn't compile"),
        ('#include "testlib.h"\nint main() {}', "cpp", "testlib.h: No such file"),
        ("int main() { *(volatile int *)8 = 1; }", "cpp", "signal 11"),
        ("throw new Error('not mine')", "javascript", "status 1"),
        ("const = 3", "javascript", "doesn't compile"),
    ],
)
@pytest.mark.parametrize("output", ["1 2", "3"])
def test_a_broken_program_is_a_bad_reference_whatever_the_output(
    source: str, language: str, why: str, output: str, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(f"print({output!r})"), item(source, language), provider)
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE), judgement
    assert why in judgement.explanation


def test_a_program_that_does_not_compile_is_told_before_the_candidate_s(
    provider: SandboxProvider,
) -> None:
    judgement = judge(fenced("print('"), item("int main( {", "cpp"), provider)
    assert judgement.outcome is Outcome.BAD_REFERENCE, judgement


def test_points_count_where_a_fraction_is_asked_for(provider: SandboxProvider) -> None:
    tests = [{"stdin": word, "stdout": "1"} for word in ("points 0.5", "1", "9")]
    judgement = judge(fenced("print(input())"), item(tests=tests, score="fraction"), provider)
    assert (judgement.score, judgement.outcome) == (0.5, Outcome.PARTIAL), judgement
    assert [case.score for case in judgement.cases] == [0.5, 1, 0]


def test_a_program_may_be_compiled_from_several_files(provider: SandboxProvider) -> None:
    params = item(CPP, "cpp", program={"files": {"testlib.h": HEADER}})
    params["tests"] = [{"stdin": "", "stdout": "7"}]
    assert judge(fenced("print(17)"), params, provider).score == 1
    wrong = judge(fenced("print(18)"), params, provider)
    assert wrong.explanation.endswith("the answer is wrong: expected something like 7")
    assert judge(fenced("print('x')"), params, provider).score == 0


def test_the_program_has_a_box_of_its_own(provider: SandboxProvider) -> None:
    """It sees its files and nothing that the candidate left."""
    source = (
        "import os, sys\nsys.exit(sorted(os.listdir()) != sorted(sys.argv[1:] + ['solution.py']))"
    )
    leaves = "open('left', 'w').close()\nopen('input.txt', 'w').write('mine')\nprint(1)"
    assert judge(fenced(leaves), item(source), provider).outcome is Outcome.ACCEPTED


def test_what_the_program_says_can_be_hidden(provider: SandboxProvider) -> None:
    source = "import sys\nsys.exit('secret')"
    judgement = judge(fenced("print(1)"), item(source, hide_cases=True), provider)
    assert judgement.score == 0
    assert "secret" not in str(judgement)


@pytest.mark.parametrize(
    "program",
    [
        {"files": {"solution.py": "x"}},
        {"files": {"../testlib.h": "x"}},
        {"files": {"a": "x", "a/b": "x"}},
        {"language": "cobol"},
        {"source": "\ud800"},
    ],
)
def test_a_program_that_can_not_be_laid_down_is_a_bad_reference(
    program: dict[str, Any], provider: SandboxProvider
) -> None:
    judgement = judge(fenced("print(1)"), item(program=program), provider)
    assert judgement.outcome is Outcome.BAD_REFERENCE, judgement
