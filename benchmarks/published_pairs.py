r"""How far `standard` agrees with the test pairs that Math-Verify and latex2sympy2 publish.

    python -m benchmarks.published_pairs --math-verify DIR --latex2sympy DIR [--show]

Both take a checkout of the repository, kept outside this one: huggingface/Math-Verify and
huggingface/latex2sympy2_extended.

- Math-Verify's rows of (gold, prediction, expected) are read from its source, which isn't run.
  That library takes the last expression out of prose, so a prediction in which `standard`
  finds no answer is judged by its last `$…$`, and failing that with `extraction: lenient`.
  Of a gold its answer is taken in the same way.
- latex2sympy2's tests compare what it makes of LaTeX with a sympy expression. They are run,
  with a recorder in place of the comparison. The expression, worked out and printed as LaTeX
  by sympy, is the gold, and the LaTeX of the test the answer.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import sympy

from verifier_server.checkers.base import CheckContext
from verifier_server.checkers.math.checker import MathChecker, MathParams
from verifier_server.checkers.math.extract import extract
from verifier_server.checkers.math.extracted import Extracted
from verifier_server.errors import BadReference

_MATHEMATICS = re.compile(r"\$\$?([^$]+)\$\$?")
_EXPECTED = ("expected", "result")


class Pair(NamedTuple):
    """A published pair: the test it is from, and whether it should be equal."""

    group: str
    gold: str
    prediction: str
    expected: bool


def math_verify_pairs(checkout: Path) -> Iterator[Pair]:
    """The rows of its parametrised tests that have a gold and a prediction."""
    for path in sorted((checkout / "tests").glob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    yield from _rows(f"{path.stem}: {node.name}", decorator)


def _rows(group: str, decorator: ast.expr) -> Iterator[Pair]:
    if not isinstance(decorator, ast.Call) or not decorator.args:
        return
    try:
        names, rows = (ast.literal_eval(argument) for argument in decorator.args[:2])
    except ValueError:
        return  # made by code, not written down
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    expected = next((name for name in _EXPECTED if name in names), None)
    if not {"gold", "pred"} <= set(names) or expected is None:
        return
    for row in rows:
        cells = dict(zip(names, row, strict=True))
        yield Pair(group, _answer(cells["gold"]), _stated(cells["pred"]), bool(cells[expected]))


def _answer(gold: str) -> str:
    found = extract(_stated(gold), "lenient")
    return found.text if isinstance(found, Extracted) else gold


def _stated(text: str) -> str:
    """The text, or its last mathematics if `standard` finds no answer in it."""
    if isinstance(extract(text), Extracted):
        return text
    pieces = _MATHEMATICS.findall(text)
    return f"${pieces[-1].strip()}$" if pieces else text


def latex2sympy_pairs(checkout: Path) -> list[Pair]:
    """What its tests compare, recorded while they run."""
    recorder = _Recorder()
    tests = [str(path) for path in sorted((checkout / "tests").glob("*_test.py"))]
    options = ["-q", "--no-header", "-p", "no:cacheprovider", f"--rootdir={checkout}"]
    pytest.main([*options, "-o", "addopts=", *tests], plugins=[recorder])
    return recorder.pairs


class _Recorder:
    """Takes the place of `assert_equal` in every module of tests."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self.group = ""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        module = getattr(item, "module", None)
        self.group = item.path.stem
        if hasattr(module, "assert_equal"):
            module.assert_equal = self._record  # type: ignore[union-attr]

    def _record(
        self, latex: str, expr: Any, symbolically: bool = False, variables: Any = None
    ) -> None:
        if variables is None:
            gold = sympy.latex(sympy.sympify(expr).doit())
            self.pairs.append(Pair(self.group, gold, f"\\boxed{{{latex}}}", True))


def judged(pair: Pair) -> tuple[bool, str]:
    """Whether we hold them equal, and if not, why."""
    params = MathParams.model_validate({"answer": pair.gold, "extraction": "lenient"})
    try:
        judgement = MathChecker().check(
            pair.prediction, params, CheckContext("", None, _unused, _unused)
        )
    except BadReference as error:
        return False, str(error)
    return judgement.score == 1, judgement.explanation


def _unused(*_: object) -> Any:
    raise AssertionError("the math checker needs neither other checkers nor a sandbox")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--math-verify", type=Path)
    parser.add_argument("--latex2sympy", type=Path)
    parser.add_argument("--show", action="store_true", help="each pair on which we differ")
    arguments = parser.parse_args()
    pairs: list[Pair] = []
    if arguments.math_verify:
        pairs += math_verify_pairs(arguments.math_verify)
    if arguments.latex2sympy:
        pairs += latex2sympy_pairs(arguments.latex2sympy)
    total, agreed = Counter[str](), Counter[str]()
    for pair in pairs:
        is_equal, why = judged(pair)
        total[pair.group] += 1
        agreed[pair.group] += is_equal == pair.expected
        if is_equal != pair.expected and arguments.show:
            print(f"{pair.group}\n  gold  {pair.gold}\n  answer {pair.prediction[-200:]}\n  {why}")
    for group, count in total.items():
        print(f"{group:60}{agreed[group]:5} of {count}")
    print(f"{'all':60}{agreed.total():5} of {total.total()}")


if __name__ == "__main__":
    main()
