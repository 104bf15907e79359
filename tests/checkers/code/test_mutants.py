"""Mutants are made of tests of ours that pass, and run in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from verifier_server.checkers.code.harness import decoys
from verifier_server.checkers.code.mutants import mutate


def double(x: Any) -> Any:
    if x is None:
        raise ValueError("nothing")
    return x * 2


class Anything:
    """Compares as whatever a test hopes for."""

    def __eq__(self, other: object) -> bool:
        return True

    __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, other: object) -> bool:
        return True


# Bodies of `test_it`, which pass with the true function.
COMPARING = [
    "assert double(2) == 4",
    "assert 4 == double(2)",
    "assert double(-2) == -4",
    "assert double('ab') == 'abab'",
    'assert double("ab") == "abab", "not it"',
    "assert double('') == ''",
    "assert double([1]) == [1, 1]",
    "assert double([]) == []",
    "assert double(()) == ()",
    "assert [double(1), 3] == [2, 3]",
    "assert {'a': double(1)} == {'a': 2}",
    "assert double(0.5) == pytest.approx(1.0)",
    "assert double(10**9) == pytest.approx(2 * 10**9)",
    "assert double(500000000) == pytest.approx(1000000000)",
    "assert double(1) == pytest.approx(1.9, abs=0.2)",
    "assert [double(1)] == pytest.approx([2.0])",
    "assert set(double([3])) == {3}",
    "assert double(True) == 2 and double(1) < 3",
    "assert 1 < double(1) < 3",
    "assert double(1) in (2, 3)",
    "assert double(2) is not None and double(0) is double(0)",
    "want = [2, 2]\nassert double([2]) == want",
    "want = 2 + 2\nassert double(2) == want, f'not {want}'",
    "for n, want in [(1, 2), (2, 4)]:\n    assert double(n) == want",
    "for n, want in ROWS:\n    got = double(n)\n    assert got == want, (n, want)",
    "for n in range(1, 3):\n    assert double(n) == n + n",
    "assert all(double(n) == n + n for n in (1, 2))",
    "check(1, 2)",
    "a = double(3)\nb = double(3)\nassert a == b",
    "assert double(b'x') == b'xx'",
    "assert (double(2)\n        == 4)",
    "s = 'é'; assert double(s) == 'éé'",
]  # fmt: skip
OTHER = [
    "assert double(1)",
    "assert not double(0)",
    "assert double(1) != 3",
    "assert isinstance(double(1), int)",
    "with pytest.raises(ValueError):\n    double(None)",
    "with pytest.raises(ValueError, match='nothing'):\n    double(None)",
    "pytest.raises((ValueError, KeyError), double, None)",
    "if double(1) > 100:\n    assert double(1) == 5",
    "for n in []:\n    assert n == 1",
    "try:\n    double(None)\nexcept ValueError:\n    return\nassert False",
    "double(1)",
    '"""Only words."""',
    "while double(0):\n    assert 1 == 2",
    "def inner():\n    assert 1 == 2",
    "if double(1) == 2:\n    return\nassert double(1) == 9",
    "with swallow():\n    assert double(1) == 2\n    assert double(1) == 3",
    "for n in (1, 2):\n    if n == 1:\n        continue\n    assert double(n) == 4",
    "maybe(5, 6)",
    "later(1)\nassert True",
    "x = float('nan')\nassert not x == x",
    "x = double(1)\nassert x == x",
]
FRAME = """
import contextlib
import pytest
ROWS = [(1, 2), (3, 6)]
def check(n, want):
    assert double(n) == want
def maybe(n, want):
    if n > 100:
        assert double(n) == want
def later(n):
    yield
    assert double(n) == 5
def swallow():
    return contextlib.suppress(AssertionError)
"""


@pytest.fixture(autouse=True)
def _decoys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_judge_decoys", decoys)


def in_function(body: str) -> str:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{FRAME}def test_it():\n{indented}"


def passes(text: str, function: Callable[[Any], Any]) -> bool:
    names: dict[str, Any] = {"double": function}
    exec(compile(text, "test_it.py", "exec"), names)
    try:
        names["test_it"]()
    except (AssertionError, AttributeError, TypeError, ValueError, pytest.fail.Exception):
        return False
    return True


def mutants(text: str, **options: Any) -> Iterator[str]:
    for seed in range(25):
        made = mutate({"test_it.py": text}, Random(seed), **options)
        assert made.functions == {"test_it"}
        yield made.files["test_it.py"]


@pytest.mark.parametrize("body", [*COMPARING, *OTHER])
def test_an_honest_program_fails_every_mutant_of_a_test_it_passes(body: str) -> None:
    text = in_function(body)
    assert passes(text, double)
    for mutant in mutants(text):
        assert not passes(mutant, double), mutant
    assert not any(passes(mutant, double) for mutant in mutants(text, plainly=True))


@pytest.mark.parametrize("body", [b for b in COMPARING if "{'a'" not in b and "set(" not in b])
def test_values_that_equal_everything_pass_mutants(body: str) -> None:
    text = in_function(body)
    if passes(text, lambda _: Anything()):
        assert any(passes(mutant, lambda _: Anything()) for mutant in mutants(text))


PARAMETRIZED = """
import pytest
{before}
@pytest.mark.parametrize("n, want", {rows})
def test_it(n, want):
    assert f(n) == want, f"{{n}}: {{want}}"
"""


ROWS = "[(1, 'one'), pytest.param(2, 'two', id='second')]"


@pytest.mark.parametrize(("before", "rows"), [(f"ROWS = {ROWS}", "ROWS"), ("", ROWS)])
def test_parameters_are_changed_where_they_are_written(before: str, rows: str) -> None:
    text = PARAMETRIZED.format(before=before, rows=rows)
    for mutant in mutants(text):
        assert "_judge_decoys" not in mutant
        assert ("one" in mutant, "two" in mutant) == (False, False)
        assert mutant.count("want") == text.count("want")


def test_all_tests_are_changed_or_a_single_one() -> None:
    text = "".join(f"def test_{n}():\n    assert {n} == {n}\n" for n in range(9))
    assert len(mutate({"test_it.py": text}, Random(0)).functions) == 9
    singles = [mutate({"test_it.py": text}, Random(n), one=True).functions for n in range(50)]
    assert {len(names) for names in singles} == {1}
    assert len(set(singles)) > 3


def test_namesakes_are_changed_together() -> None:
    text = "class TestA:\n    def test_it(self): assert 1 == 1\n"
    files = {"test_a.py": text, "test_b.py": text, "data.txt": "x"}
    made = mutate(files, Random(1), one=True)
    assert all(made.files[name] != files[name] for name in ("test_a.py", "test_b.py"))
