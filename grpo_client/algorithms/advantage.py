"""Group-relative advantages, in float64 on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np


def group_advantages(
    rewards: Sequence[float | None], scale: Literal["population", "sample", "mean"]
) -> list[float]:
    """How much better each member did than its group.

    A_i = (R_i - mean) / std over the scored members; `mean` leaves the division out. A member
    without a score is no part of the baseline and gets 0. All are exactly 0 where the scored
    rewards are equal or fewer than two: there is nothing to compare.

    Args:
        rewards: [G] of one group; None where unscored.
        scale: standard deviation of the population (÷G) or of the sample (÷(G-1)), or none.

    Source: DeepSeekMath (arXiv 2402.03300) §4.1.2, without an ε, since equal rewards are
    told apart exactly; `mean`: Dr. GRPO (arXiv 2503.20783) §3.
    """
    scored = np.array([r for r in rewards if r is not None], dtype=np.float64)
    if len(scored) < 2 or scored.min() == scored.max():
        return [0.0] * len(rewards)
    centred = scored - scored.mean()
    if scale != "mean":
        centred /= np.abs(centred).max()  # or squares of tiny differences underflow
        centred /= centred.std(ddof=int(scale == "sample"))
    values = iter(centred.tolist())
    return [0.0 if r is None else next(values) for r in rewards]
