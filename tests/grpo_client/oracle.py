"""Every preset's objective in plain loops over float64 numbers, straight from its paper.

Nothing here is shared with the code that trains. A group is a list of completions; each has
its reward, whether it was scored, and its log-probs under the new, old and reference policy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Completion:
    reward: float | None
    new: list[float]
    old: list[float]
    reference: list[float]


Group = Sequence[Completion]


def scored(group: Group) -> list[Completion]:
    return [c for c in group if c.reward is not None]


def standardised(rewards: list[float]) -> list[float]:
    mean = sum(rewards) / len(rewards)
    std = math.sqrt(sum((r - mean) ** 2 for r in rewards) / len(rewards))
    return [0.0 if std == 0 else (r - mean) / std for r in rewards]


def centred(rewards: list[float]) -> list[float]:
    mean = sum(rewards) / len(rewards)
    return [r - mean for r in rewards]


def surrogate(ratio: float, advantage: float, low: float, high: float) -> float:
    return min(ratio * advantage, min(max(ratio, 1 - low), 1 + high) * advantage)


def token_terms(c: Completion, advantage: float, low: float, high: float) -> list[float]:
    return [
        surrogate(math.exp(n - o), advantage, low, high) for n, o in zip(c.new, c.old, strict=True)
    ]


def grpo(groups: Sequence[Group], beta: float = 0.0) -> float:
    """DeepSeekMath eq. 3, with the k3 of eq. 4: 1/G Σ 1/|o| Σ (min(…) - β D_KL)."""
    terms = []
    for group in groups:
        members = scored(group)
        for c, a in zip(members, standardised([c.reward for c in members]), strict=True):
            row = token_terms(c, a, 0.2, 0.2)
            for t, (n, r) in enumerate(zip(c.new, c.reference, strict=True)):
                row[t] -= beta * (math.exp(r - n) - (r - n) - 1)
            terms.append(sum(row) / len(row))
    return -sum(terms) / len(terms)


def dr_grpo(groups: Sequence[Group], max_tokens: int) -> float:
    """1/(G·L_max) Σ Σ min(…), A = R - mean."""
    terms = []
    for group in groups:
        members = scored(group)
        for c, a in zip(members, centred([c.reward for c in members]), strict=True):
            terms.append(sum(token_terms(c, a, 0.2, 0.2)) / max_tokens)
    return -sum(terms) / len(terms)


def dapo(groups: Sequence[Group]) -> float:
    """1/Σ|o| Σ Σ min(…), clipped to [0.8, 1.28]."""
    total, tokens = 0.0, 0
    for group in groups:
        members = scored(group)
        for c, a in zip(members, standardised([c.reward for c in members]), strict=True):
            total += sum(token_terms(c, a, 0.2, 0.28))
            tokens += len(c.new)
    return -total / tokens


def gspo(groups: Sequence[Group]) -> float:
    """1/G Σ min(s A, clip(s) A), s the geometric mean of the tokens' ratios."""
    terms = []
    for group in groups:
        members = scored(group)
        for c, a in zip(members, standardised([c.reward for c in members]), strict=True):
            s = math.exp(sum(n - o for n, o in zip(c.new, c.old, strict=True)) / len(c.new))
            terms.append(surrogate(s, a, 3e-4, 4e-4))
    return -sum(terms) / len(terms)


def ppo(groups: Sequence[Group], values: Sequence[Sequence[Sequence[float]]]) -> float:
    """Token mean of min(…), A = R - V whitened over all tokens (γ = λ = 1)."""  # noqa: RUF002
    rows = [
        (c, [c.reward - v for v in vs])
        for group, group_values in zip(groups, values, strict=True)
        for c, vs in zip(group, group_values, strict=True)
        if c.reward is not None
    ]
    flat = np.array([a for _, row in rows for a in row])
    total = 0.0
    for c, row in rows:
        for n, o, a in zip(c.new, c.old, row, strict=True):
            total += surrogate(math.exp(n - o), (a - flat.mean()) / flat.std(), 0.2, 0.2)
    return -total / len(flat)
