"""Estimators over the samples of one problem, and the interval of their mean over problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb

import numpy as np


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """The chance that k of the samples, drawn without replacement, hold a right one.

    1 - C(n-c, k) / C(n, k): unbiased for "at least one of k tries is right".

    Raises:
        ValueError: fewer samples than k, or more right ones than samples.

    Source: Chen et al. 2021 (arXiv 2107.03374) §2.1.
    """
    _require("pass@", samples, correct, k)
    return 1.0 - comb(samples - correct, k) / comb(samples, k)


def pass_hat_k(samples: int, correct: int, k: int) -> float:
    """The chance that k of the samples are all right: C(c, k) / C(n, k).

    Raises:
        ValueError: as `pass_at_k`.

    Source: Yao et al. 2024 (arXiv 2406.12045), τ-bench.
    """
    _require("pass^", samples, correct, k)
    return comb(correct, k) / comb(samples, k)


def maj_at_k(answers: Sequence[str | None], correct: Sequence[bool], k: int) -> float:
    """The chance that the most frequent answer among k of the samples is right.

    The mean over all subsets of size k, exactly. A tie is decided by lot among those that
    lead. Samples without an answer take up a place and never win; with none but them, nobody
    does.

    Args:
        answers: canonical; None where the verifier found none.
        correct: of each sample. The share of right ones among equal answers is that answer's
            worth, should verdicts differ.
        k: voters.

    Raises:
        ValueError: fewer samples than k.

    Source: Wang et al. 2022 (arXiv 2203.11171), self-consistency.
    """
    _require("maj@", len(answers), sum(correct), k)
    counts = Counter(answer for answer in answers if answer is not None)
    silent = len(answers) - sum(counts.values())
    total = 0.0
    for answer, count in counts.items():
        right = sum(c for a, c in zip(answers, correct, strict=True) if a == answer)
        if right:
            others = [n for other, n in counts.items() if other != answer]
            total += right / count * _wins(count, others, silent, k)
    return total / comb(len(answers), k)


def interval(
    values: Sequence[float], key: tuple[int, ...], resamples: int = 2000
) -> tuple[float, float]:
    """95 % bootstrap interval of the mean, over problems.

    Args:
        values: one of each problem.
        key: seed of the resampling.
        resamples: draws of as many problems, with replacement.

    Source: Efron 1979, the percentile method.
    """
    array = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(list(key))
    size = len(array)
    means = [array[generator.integers(size, size=size)].mean() for _ in range(resamples)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _wins(count: int, others: Sequence[int], silent: int, k: int) -> float:
    """Subsets of size k in which an answer leads, each by its share of the lot."""
    total = 0.0
    for votes in range(1, min(count, k) + 1):
        # ways[n, t]: to give n votes to the others, none above `votes`, t of them equal to it.
        ways = {(0, 0): 1}
        for other in others:
            ways = _with_other(ways, other, votes, k - votes)
        for (given, tied), number in ways.items():
            left = k - votes - given  # go to samples without an answer
            total += comb(count, votes) * number * comb(silent, left) / (tied + 1)
    return total


def _with_other(
    ways: dict[tuple[int, int], int], count: int, limit: int, most: int
) -> dict[tuple[int, int], int]:
    grown: Counter[tuple[int, int]] = Counter()
    for (given, tied), number in ways.items():
        for votes in range(min(count, limit, most - given) + 1):
            grown[given + votes, tied + (votes == limit)] += number * comb(count, votes)
    return dict(grown)


def _require(name: str, samples: int, correct: int, k: int) -> None:
    if not 0 <= correct <= samples or not 1 <= k <= samples:
        raise ValueError(f"{name}{k} of {samples} samples, {correct} right")
