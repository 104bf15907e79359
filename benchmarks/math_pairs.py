r"""Pairs per second of the math checker beside Math-Verify, one core, in process.

    python benchmarks/math_pairs.py [--seconds 3] [--http]

Both sides are called as their users call them, on the same completions:

- Math-Verify: `verify(parse(gold), parse(completion))`, all settings at their defaults, its own
  extraction and signal time-outs among them. So do TRL and open-r1.
- ours: params validated, then `MathChecker.check`: gold read, answer extracted and compared.
- worker: the same as a worker of the service does it, `CheckRuntime.judge` around it.
- over HTTP (`--http`): client, service and two workers on the same cores, by the wall clock;
  four batches under way. Math-Verify's rate beside it is still one process's. On a busy
  machine look at the processor time a pair.

No pair occurs twice, for both keep what they have parsed last (repeated pairs would show
Math-Verify many times as fast as it is). In the mix eight completions share a gold, as the
group of a prompt does; ours then reads the gold once. The sides take turns, the clock is
this process's CPU time, and the figure is the median of the rounds: a busy machine weighs
little.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from verifier_server.checkers.base import CheckContext
from verifier_server.checkers.math.checker import MathChecker, MathParams
from verifier_server.checkers.runtime import Task, open_runtime
from verifier_server.client import LocalServer, VerifierClient
from verifier_server.verdict import Judgement

Pair = tuple[str, str]  # gold, completion
Judge = Callable[[str, str], object]

ROUNDS = 3
GROUP = 8
BATCH = 512
_WRONG = 0.25  # share of answers
_PROSE = (
    "Let us count row by row. There are {0} rows with {1} seats each, so ${0} \\cdot {1} = {2}$ "
    "seats, of which {1} are blocked by a pillar. Writing $x$ for the rest we need "
    "$x = {2} - {1}$, and with $\\frac{{x}}{{{0}}}$ per row the plan holds.\n"
)


def integer(rng: random.Random) -> Pair:
    n = rng.randint(-(10**6), 10**6)
    return str(n), f"{n + _off(rng):,}" if rng.random() < 0.3 else str(n + _off(rng))


def fraction(rng: random.Random) -> Pair:
    """A fraction and its decimal, either way round."""
    value = Fraction(rng.randint(1, 9999), 2 ** rng.randint(1, 5) * 5 ** rng.randint(0, 3))
    written = rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    decimal = f"{float(value + _off(rng)):.12f}".rstrip("0")
    return (written, decimal) if rng.random() < 0.5 else (decimal, written)


def tuple_or_set(rng: random.Random) -> Pair:
    a, b, c = sorted(rng.sample(range(-500, 500), 3))
    off = _off(rng)
    match rng.randrange(4):
        case 0:
            return rf"\left(\frac{{{a}}}4,{b},{c}\right)", f"({a / 4}, {b}, {c + off})"
        case 1:
            return rf"\{{{a},{b},{c}\}}", rf"\{{{c},{a},{b + off}\}}"
        case 2:
            return f"({a},{b}]", rf"\left({a},{b + off}\right]"
        case _:
            return f"{a}, {b}", f"{b}, {a + off}"


def polynomial(rng: random.Random) -> Pair:
    a, b, off = rng.randint(1, 60), rng.randint(1, 60), _off(rng)
    match rng.randrange(3):
        case 0:
            return f"x^2-{a + b}x+{a * b + off}", f"(x-{a})(x-{b})"
        case 1:
            return rf"\frac{{x+{a}}}{{x-{b}}}", rf"1+\frac{{{a + b + off}}}{{x-{b}}}"
        case _:
            return f"(x+{a})^3", f"x^3+{3 * a}x^2+{3 * a * a}x+{a**3 + off}"


def root(rng: random.Random) -> Pair:
    a, b = rng.randint(2, 99), rng.choice((2, 3, 5, 6, 7, 10, 11))
    return rf"{a}\sqrt{{{b}}}", rf"\sqrt{{{a * a * b + _off(rng)}}}"


def _off(rng: random.Random) -> int:
    return rng.randint(1, 9) if rng.random() < _WRONG else 0


CLASSES = {
    "integer": integer,
    "fraction and decimal": fraction,
    "tuple, set, interval": tuple_or_set,
    "polynomial": polynomial,
    "root": root,
}


def one_class(kind: Callable[[random.Random], Pair]) -> Iterator[Pair]:
    """Distinct pairs of a class, the answer in a short completion."""
    rng = random.Random(kind.__name__)
    for gold, answer in _distinct(lambda: kind(rng)):
        yield gold, _completion(rng, answer, size_bytes=0)


def mix() -> Iterator[Pair]:
    """What a trainer sends: groups, 1 to 4 KB each, nine in ten answers short and numeric."""
    rng = random.Random("mix")
    kinds = 12 * [integer] + 6 * [fraction] + [tuple_or_set, polynomial]
    for gold, answer in _distinct(lambda: rng.choice(kinds)(rng)):
        for _ in range(GROUP):
            yield gold, _completion(rng, answer, size_bytes=rng.randint(1000, 4000))


def _distinct(draw: Callable[[], Pair]) -> Iterator[Pair]:
    seen: set[Pair] = set()
    while True:
        pair = draw()
        if pair not in seen:
            seen.add(pair)
            yield pair


def _completion(rng: random.Random, answer: str, size_bytes: int) -> str:
    text = ""
    while len(text) < size_bytes:
        a, b = rng.randint(2, 99), rng.randint(2, 99)
        text += _PROSE.format(a, b, a * b)
    return f"{text}\nSo the result is $\\boxed{{{answer}}}$."


def ours() -> Judge:
    checker = MathChecker()
    checker.warm()

    def judge(gold: str, completion: str) -> Judgement:
        params = MathParams.model_validate({"answer": gold})
        return checker.check(completion, params, CheckContext("", None, _unused, _unused))

    return judge


def _unused(*_: object) -> Any:
    raise AssertionError("the math checker needs neither other checkers nor a sandbox")


def worker() -> Judge:
    runtime = open_runtime("bubblewrap")
    return lambda gold, completion: runtime.judge(Task("math", completion, {"answer": gold}))


def math_verify() -> Judge:
    from math_verify import parse, verify

    return lambda gold, completion: verify(parse(f"${gold}$"), parse(completion))


def pairs_per_s(judge: Judge, pairs: Iterator[Pair], seconds: float) -> float:
    """The rate over as many pairs as fit; making them is not timed."""
    spent_s, count = 0.0, 0
    while spent_s < seconds:
        some = list(itertools.islice(pairs, GROUP))
        start_s = time.process_time()
        for gold, completion in some:
            judge(gold, completion)
        spent_s += time.process_time() - start_s
        count += len(some)
    return count / spent_s


def through_http(pairs: Iterator[Pair], seconds: float) -> tuple[float, float]:
    """A whole service with two workers, in batches: pairs per second by the wall clock, and
    processor seconds a pair of client, server and workers together.
    """
    spent_s, cpu_s, count = 0.0, 0.0, 0
    two_workers = {"VERIFIER_CPU_WORKERS": "2"}
    with (
        LocalServer(env=two_workers) as server,
        VerifierClient(server.url, batch_size=BATCH) as client,
    ):
        client.score(_items(pairs))  # connections and workers are warm when it counts
        while spent_s < seconds:
            items = _items(pairs)
            start_s, cpu_start_s = time.perf_counter(), _cpu_s()
            verdicts = client.score(items)
            spent_s += time.perf_counter() - start_s
            cpu_s += _cpu_s() - cpu_start_s
            count += sum(verdict.score is not None for verdict in verdicts)
    return count / spent_s, cpu_s / count


def _items(pairs: Iterator[Pair]) -> list[dict[str, Any]]:
    return [
        {"checker": "math", "completion": completion, "params": {"answer": gold}}
        for gold, completion in itertools.islice(pairs, 4 * BATCH)
    ]


def _cpu_s() -> float:
    """Processor time so far of this process and those below it."""
    below: dict[int, list[tuple[int, float]]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = stat.read_text().rpartition(")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
            entry = (int(stat.parent.name), ticks / os.sysconf("SC_CLK_TCK"))
            below.setdefault(int(fields[1]), []).append(entry)
    total_s, todo = time.process_time(), [os.getpid()]
    while todo:
        for pid, spent_s in below.get(todo.pop(), []):
            total_s += spent_s
            todo.append(pid)
    return total_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="per round, class and side")
    parser.add_argument("--http", action="store_true", help="the mix through a service, too")
    arguments = parser.parse_args()
    seconds = arguments.seconds
    sides = {"ours": ours(), "worker": worker(), "Math-Verify": math_verify()}
    loads: dict[str, Callable[[], Iterator[Pair]]] = {
        name: lambda kind=kind: one_class(kind)  # type: ignore[misc]
        for name, kind in CLASSES.items()
    }
    print("pairs/s".ljust(24) + "".join(f"{side:>14}" for side in sides) + "   ours/MV  worker/MV")
    for name, load in (loads | {"mix of 1-4 KB": mix}).items():
        streams = {side: load() for side in sides}
        rounds = [
            {side: pairs_per_s(judge, streams[side], seconds) for side, judge in sides.items()}
            for _ in range(ROUNDS)
        ]
        a, b, c = (statistics.median(rates[side] for rates in rounds) for side in sides)
        print(f"{name:24}{a:14.0f}{b:14.0f}{c:14.0f}{a / c:10.1f}{b / c:11.1f}", flush=True)
    if arguments.http:
        rate, cpu_s = through_http(mix(), ROUNDS * seconds)
        name = f"mix over HTTP, by {BATCH}"
        print(f"{name:24}{'':14}{rate:14.0f}{c:14.0f}{'':10}{rate / c:11.1f}")
        print(f"processor time a pair over HTTP, all processes: {1e6 * cpu_s:.0f} us")


if __name__ == "__main__":
    main()
