"""What a step is measured by: one flat row of numbers, the same names everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from torch import Tensor

from grpo_client.algorithms.loss import PolicyLoss
from grpo_client.types import RolloutGroup

Row = dict[str, float]


@dataclass(slots=True)
class UpdateMetrics:
    """Sums over the tokens that were trained on, by the policy that they met."""

    grad_norms: list[float] = field(default_factory=list)
    tokens: int = 0
    entropy: float = 0.0
    clipped: float = 0.0
    kl: float = 0.0

    def add(self, part: PolicyLoss, entropy_NT: Tensor, mask_NT: Tensor) -> None:
        """Takes in one micro-batch."""
        self.tokens += int(mask_NT.sum())
        self.entropy += float(entropy_NT.sum())
        self.clipped += float(part.clipped)
        self.kl += float(part.kl)

    def row(self) -> Row:
        """Means over tokens; the gradient norm is that of the step's last update."""
        count = max(1, self.tokens)
        return {
            "entropy": self.entropy / count,
            "clip_share": self.clipped / count,
            "kl": self.kl / count,
            "grad_norm": self.grad_norms[-1] if self.grad_norms else 0.0,
            "trained_tokens": float(self.tokens),
        }


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """One training step: its number, its rollouts, its update, its seconds by phase."""

    step: int
    rollouts: Row
    update: UpdateMetrics
    seconds: Mapping[str, float]

    def row(self) -> Row:
        """Everything, flat."""
        seconds = {f"{phase}_s": value for phase, value in self.seconds.items()}
        return {"step": float(self.step), **self.rollouts, **self.update.row(), **seconds}


def describe_groups(groups: Sequence[RolloutGroup]) -> Row:
    """A batch before anything is filtered from it; rewards are means over scored samples.

    `zero_signal` is the share of groups that can't teach: all rewards equal, or fewer than
    two of them.
    """
    rewards = [reward for group in groups for reward in group.rewards]
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    row = {
        "reward": _mean(r.value for r in rewards),
        "accuracy": _mean(r.accuracy for r in rewards),
        "tokens": fmean(len(r.token_ids) for r in rollouts),
        "truncated": fmean(r.finish_reason == "length" for r in rollouts),
        "zero_signal": fmean(len(_values(group)) < 2 for group in groups),
        "unscored": float(sum(r.value is None for r in rewards)),
    }
    names = sorted({name for reward in rewards for name in reward.components})
    return row | {f"reward/{n}": _mean(r.components.get(n) for r in rewards) for n in names}


def _values(group: RolloutGroup) -> set[float]:
    return {reward.value for reward in group.rewards if reward.value is not None}


def _mean(values: Iterable[float | None]) -> float:
    present = [value for value in values if value is not None]
    return fmean(present) if present else 0.0
