"""Pairs per second of the math checker beside Math-Verify, one core, in process.

    python benchmarks/math_pairs.py [--seconds 3]

Both sides extract from the same short completions. Golds are prepared once on ours, as the
service does; Math-Verify is timed with its gold parsed beforehand, too.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable

from verifier_server.checkers.base import CheckContext
from verifier_server.checkers.math.checker import MathChecker

CLASSES = {
    "integer": [("84", "84"), ("482913605", "482913605"), ("-7", "-7"), ("1140", "1,140")],
    "integer, wrong": [("84", "85"), ("482913605", "482913606"), ("-7", "7"), ("1140", "1,410")],
    "fraction vs decimal": [
        (r"\frac{3}{8}", "0.375"), ("0.045", r"\frac{9}{200}"), (r"\frac{1}{2}", "1/2"),
    ],
    "tuple and set": [
        (r"\left(\frac14,6,0\right)", "(0.25, 6, 0)"), (r"\{2,5,8\}", r"\{8,2,5\}"),
        ("(2,9]", r"\left(2,9\right]"), ("-3, 8", "8, -3"),
    ],
    "polynomial": [
        ("x^2-7x+10", "(x-2)(x-5)"), (r"\frac{x+1}{x-1}", r"1+\frac{2}{x-1}"),
        ("(x+1)^3", "x^3+3x^2+3x+1"),
    ],
    "root": [(r"4\sqrt{5}", r"\sqrt{80}"), (r"\frac{1}{\sqrt3}", r"\frac{\sqrt3}{3}")],
}  # fmt: skip
_PROSE = (
    "Let us count row by row. There are 7 rows with 12 seats each, so $7 \\cdot 12 = 84$ seats. "
    "Two of them are blocked by a pillar, which the plan shows, and 2 more are for staff. "
)


def completion(answer: str, prose_bytes: int) -> str:
    """An RL completion: working, then the answer in a box."""
    return (_PROSE * (prose_bytes // len(_PROSE))) + f"\n\nSo the result is $\\boxed{{{answer}}}$."


def ours(pairs: list[tuple[str, str]]) -> Callable[[int], None]:
    checker = MathChecker()
    checker.warm()
    context = CheckContext("benchmark", None, lambda *_: None, lambda: None)  # type: ignore
    items = [(text, MathChecker.Params.model_validate({"answer": gold})) for gold, text in pairs]

    def run(n: int) -> None:
        text, params = items[n % len(items)]
        checker.check(text, params, context)

    return run


def math_verify(pairs: list[tuple[str, str]]) -> Callable[[int], None]:
    from math_verify import parse, verify

    items = [(text, parse(f"${gold}$", parsing_timeout=None)) for gold, text in pairs]

    def run(n: int) -> None:
        text, gold = items[n % len(items)]
        verify(gold, parse(text, parsing_timeout=None), timeout_seconds=None)

    return run


def pairs_per_s(run: Callable[[int], None], seconds: float) -> float:
    run(0)
    start = time.perf_counter()
    for n in itertools.count(1):
        run(n)
        took_s = time.perf_counter() - start
        if took_s > seconds:
            return n / took_s
    raise AssertionError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="per figure")
    seconds = parser.parse_args().seconds
    common = 9 * CLASSES["integer"] + 2 * CLASSES["fraction vs decimal"] + CLASSES["polynomial"]
    mix = [(gold, completion(text, 1000 * kb)) for kb in (1, 2, 3, 4) for gold, text in common]
    short = {name: [(g, completion(a, 0)) for g, a in rows] for name, rows in CLASSES.items()}
    print(f"{'class':24}{'ours /s':>12}{'Math-Verify /s':>16}{'ratio':>8}")
    for name, pairs in {**short, "mix of 1-4 KB": mix}.items():
        rates = [pairs_per_s(side(pairs), seconds) for side in (ours, math_verify)]
        print(f"{name:24}{rates[0]:12.0f}{rates[1]:16.0f}{rates[0] / rates[1]:8.1f}")


if __name__ == "__main__":
    main()
