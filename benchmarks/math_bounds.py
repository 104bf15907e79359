r"""How long the math checker takes at worst, and what bombs among honest items cost these.

    python -m benchmarks.math_bounds [--inputs 2000] [--service]

- Without the service: processor time of one check in this process, the worst over the hostile
  corpus of the tests (each bomb against golds of nine forms) and over random inputs of up to
  64 KiB: fragments of mathematics, each over and over. "Exact path" are answers and golds
  that are plain numbers, fractions and lists of them.
- `--service`: 99th percentile of the time from request to verdict of honest items that come
  in singly, with and without bombs as every tenth item. Rounds of both take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import statistics
import time
from collections.abc import Iterator

from tests.checkers.math.conftest import ask
from tests.checkers.math.test_hostile import BOMBS, COMPLETIONS
from verifier_server.checkers.math.checker import MathChecker
from verifier_server.client import AsyncVerifierClient, LocalServer

_BYTES = 65_536
_GOLDS = ("1", r"\sqrt2", "x+1", "1, 2", r"10 \text{ cm}", "x<1", r"x^2+C", "2x+y=7", r"\{1,2\}")
_EXACT_GOLDS = ("1", r"\frac{3}{7}", "0.125", "1, 2, 3", "(1,2)")
_EXACT = ("7", "1/2", ".", ",", "-", r"\frac{1}{2}", "e5", " ", "(", ")", "000", r"\,", "0.1", "%")
_SIGNS = (
    *_EXACT, "x", "^", "^{", "}", "{", "+", "=", "<", r"\sqrt", r"\sqrt{", r"\sin", "!", "|",
    r"\text{", r"\pm", r"\cup", r"\le", "sin(", r"\log_", r"\binom", " or ", "and", "cm",
    r"\sum_{k=1}^", r"\int", "_2", "'", "[", "]", r"\{", r"\}", "$", "\\", "**", "&", r"\\",
)  # fmt: skip
_HONEST, _IN_FLIGHT, _ROUNDS = 400, 8, 3


def worst_ms(pairs: Iterator[tuple[str, str]]) -> tuple[float, str]:
    """The longest check, in milliseconds of processor time, and the start of its completion."""
    worst, which = 0.0, ""
    for gold, completion in pairs:
        start_s = time.process_time()
        ask(completion, gold)
        spent_ms = 1000 * (time.process_time() - start_s)
        if spent_ms > worst:
            worst, which = spent_ms, completion[:30]
    return worst, which


def corpus() -> Iterator[tuple[str, str]]:
    for gold in _GOLDS:
        yield from ((gold, f"\\boxed{{{bomb}}}") for bomb in BOMBS.values())
    yield from (("7", completion) for completion in COMPLETIONS.values())


def repeated(
    signs: tuple[str, ...], golds: tuple[str, ...], count: int
) -> Iterator[tuple[str, str]]:
    rng = random.Random(4)
    for _ in range(count):
        fragment = "".join(rng.choices(signs, k=rng.randint(1, 5)))
        times = rng.randint(1, _BYTES // len(fragment))
        text = fragment * (times if rng.random() < 0.5 else rng.randint(1, 1 + times % 300))
        yield rng.choice(golds), rng.choice((f"\\boxed{{{text}}}", f"The answer is {text}"))


async def honest_p99_ms(client: AsyncVerifierClient, tag: str, *, with_bombs: bool) -> float:
    """The 99th percentile over the honest items of one round."""
    rng = random.Random(tag)
    bombs = [f"\\boxed{{{bomb}}}" for bomb in BOMBS.values()]
    room, waits_s = asyncio.Semaphore(_IN_FLIGHT), []

    async def one(n: int, completion: str, *, is_honest: bool) -> None:
        async with room:
            start_s = time.perf_counter()
            params = {"answer": str(n)}
            [verdict] = await client.score(
                [{"checker": "math", "completion": completion, "params": params}]
            )
            if is_honest:
                assert verdict.score == 1, verdict
                waits_s.append(time.perf_counter() - start_s)

    tasks = []
    for n in range(_HONEST):
        if with_bombs and n % 9 == 0:
            tasks.append(one(rng.randrange(10**9), rng.choice(bombs), is_honest=False))
        number = rng.randrange(10**9)
        tasks.append(one(number, f"{tag} So it is $\\boxed{{{number}}}$.", is_honest=True))
    await asyncio.gather(*tasks)
    return 1000 * statistics.quantiles(waits_s, n=100)[98]


async def through_service() -> None:
    found: dict[bool, list[float]] = {False: [], True: []}
    with LocalServer(env={"VERIFIER_CPU_WORKERS": "2"}) as server:
        async with AsyncVerifierClient(server.url) as client:
            await honest_p99_ms(client, "warm", with_bombs=True)
            for n in range(_ROUNDS):
                for with_bombs in found:
                    p99 = await honest_p99_ms(client, f"{n}{with_bombs}", with_bombs=with_bombs)
                    found[with_bombs].append(p99)
    alone, among = (statistics.median(found[with_bombs]) for with_bombs in (False, True))
    print(f"p99 of honest items: alone {alone:.1f} ms, with 10 % bombs {among:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=2000, help="random ones, of each kind")
    parser.add_argument("--service", action="store_true", help="the latency of neighbours")
    arguments = parser.parse_args()
    if arguments.service:
        asyncio.run(through_service())
        return
    MathChecker().warm()
    gc.collect()
    gc.freeze()  # as the process does that workers are forked from
    kinds = {
        "hostile corpus": corpus(),
        "exact path, to 64 KiB": repeated(_EXACT, _EXACT_GOLDS, arguments.inputs),
        "anything, to 64 KiB": repeated(_SIGNS, _GOLDS, arguments.inputs),
    }
    for kind, pairs in kinds.items():
        worst, which = worst_ms(pairs)
        print(f"{kind:24}{worst:8.1f} ms   {which!r}")


if __name__ == "__main__":
    main()
