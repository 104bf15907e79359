"""Estimators over samples of one problem."""

from __future__ import annotations

from math import comb


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """The chance that k of the samples, drawn without replacement, hold a right one.

    1 - C(n-c, k) / C(n, k): unbiased for "at least one of k tries is right".

    Raises:
        ValueError: fewer samples than k, or more right ones than samples.

    Source: Chen et al. 2021 (arXiv 2107.03374) §2.1.
    """
    if not 0 <= correct <= samples or not 1 <= k <= samples:
        raise ValueError(f"pass@{k} of {samples} samples, {correct} right")
    return 1.0 - comb(samples - correct, k) / comb(samples, k)
