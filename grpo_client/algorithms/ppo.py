"""What PPO has in place of the group: a critic's values, advantages from them, its loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def gae(
    reward: float, values: Sequence[float], gamma: float, lam: float
) -> tuple[list[float], list[float]]:
    """Advantages and returns of one completion, in float64.

    d_t = r_t + gamma V_{t+1} - V_t and A_t = d_t + gamma lam A_{t+1}; returns are A_t + V_t.
    The reward comes with the last token. Nothing follows it, also where the completion was
    cut off at the length limit: what would have come is not known, so no value stands in.

    Args:
        reward: of the whole completion.
        values: [T] the critic's, each from what precedes its token.
        gamma: discount a token.
        lam: λ; with gamma = lam = 1 an advantage is the reward minus the value.

    Source: Schulman et al. 2016 (arXiv 1506.02438) eq. 11-16.
    """
    advantages = [0.0] * len(values)
    following, next_value = 0.0, 0.0
    for t in reversed(range(len(values))):
        earned = reward if t == len(values) - 1 else 0.0
        delta = earned + gamma * next_value - values[t]
        following = delta + gamma * lam * following
        advantages[t], next_value = following, values[t]
    return advantages, [a + v for a, v in zip(advantages, values, strict=True)]


def whiten(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Advantages of a whole step with mean 0 and standard deviation 1 over all its tokens.

    All 0 where they are equal, exactly or to rounding: there is nothing to compare.
    """
    flat: NDArray[np.float64] = np.array([a for row in rows for a in row], dtype=np.float64)
    if not flat.size:
        return []
    mean, std = flat.mean(), flat.std()
    if std <= 1e-12 * (abs(mean) + 1):
        return [[0.0] * len(row) for row in rows]
    return [[float((a - mean) / std) for a in row] for row in rows]


def value_loss(
    values_NT: Tensor,
    old_values_NT: Tensor,
    returns_NT: Tensor,
    mask_NT: Tensor,
    clip: float,
    tokens: int,
) -> Tensor:
    """½ · (1/tokens) Σ m · max((V - R)², (clip(V, V_old ± clip) - R)²); a scalar.

    Args:
        values_NT: of the critic being trained.
        old_values_NT: before the step's first update; constant.
        returns_NT: what the values should have been.
        mask_NT: true where there is a token.
        clip: how far a value may move from the old one before its gradient ends.
        tokens: of the whole optimiser step, so that micro-batches change nothing.

    Source: the released implementation of PPO (Dhariwal et al. 2017, OpenAI Baselines).
    """
    near_NT = old_values_NT + (values_NT - old_values_NT).clamp(-clip, clip)
    worst_NT = torch.maximum((values_NT - returns_NT).square(), (near_NT - returns_NT).square())
    return torch.where(mask_NT, worst_NT, 0.0).sum() / (2 * tokens)
