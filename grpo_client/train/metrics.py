"""What a step is measured by: one flat row of numbers, the same names everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import torch
from torch import Tensor

from grpo_client.algorithms.loss import PolicyLoss
from grpo_client.train.collect import Batch
from grpo_client.types import RolloutGroup

Row = dict[str, float]


@dataclass(slots=True)
class UpdateMetrics:
    """Sums over the tokens that were trained on, by the policy that they met."""

    grad_norms: list[float] = field(default_factory=list)
    value_losses: list[float] = field(default_factory=list)
    tokens: int = 0
    entropy: float = 0.0
    clipped_low: float = 0.0
    clipped_high: float = 0.0
    kl: float = 0.0
    reference_kl: float = 0.0
    mismatch: float = 0.0
    max_mismatch: float = 0.0
    max_log_ratio: float = 0.0
    dropped: int = 0

    def add(self, part: PolicyLoss, entropy_NT: Tensor, mask_NT: Tensor) -> None:
        """Takes in one micro-batch."""
        self.tokens += int(mask_NT.sum())
        self.entropy += float(entropy_NT.sum())
        self.clipped_low += float(part.clipped_low)
        self.clipped_high += float(part.clipped_high)
        self.kl += float(part.kl)
        self.max_log_ratio = max(self.max_log_ratio, float(part.max_log_ratio))

    def add_distances(
        self,
        logprobs_NT: Tensor,
        old_NT: Tensor,
        sampler_NT: Tensor,
        reference_NT: Tensor | None,
        mask_NT: Tensor,
    ) -> None:
        """Takes in how far apart the policies of one micro-batch are; unclamped."""
        apart_NT = torch.where(mask_NT, old_NT - sampler_NT, 0.0).abs()
        self.mismatch += float(apart_NT.sum())
        self.max_mismatch = max(self.max_mismatch, float(apart_NT.max()))
        if reference_NT is not None:
            self.reference_kl += float(torch.where(mask_NT, logprobs_NT - reference_NT, 0.0).sum())

    def row(self) -> Row:
        """Means over tokens; gradient norm and value loss are those of the last update.

        `clip_share` is `clip_low` + `clip_high`: tokens whose gradient the clip ended. `kl` is
        to the policy that sampled, `reference_kl` to the reference (k1). `mismatch` is the
        mean |log-prob of the trainer - of the sampler| before the step.
        """
        count = max(1, self.tokens)
        row = {
            "entropy": self.entropy / count,
            "clip_share": (self.clipped_low + self.clipped_high) / count,
            "clip_low": self.clipped_low / count,
            "clip_high": self.clipped_high / count,
            "kl": self.kl / count,
            "reference_kl": self.reference_kl / count,
            "max_log_ratio": self.max_log_ratio,
            "mismatch": self.mismatch / count,
            "max_mismatch": self.max_mismatch,
            "mismatch_dropped": self.dropped / count,
            "grad_norm": self.grad_norms[-1] if self.grad_norms else 0.0,
            "trained_tokens": float(self.tokens),
        }
        return row | ({"value_loss": self.value_losses[-1]} if self.value_losses else {})


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """One training step: its number, its batch, its update and that one's seconds."""

    step: int
    batch: Row
    update: UpdateMetrics
    update_s: float

    def row(self) -> Row:
        """Everything, flat."""
        return {
            "step": float(self.step),
            **self.batch,
            **self.update.row(),
            "update_s": self.update_s,
        }


def describe_batch(batch: Batch, policy_step: int) -> Row:
    """A step's groups. Rewards are of all that were sampled, whatever was filtered out.

    `trained_groups` are those that the step learns from, of which `carried` were left over by
    the one before; `staleness` is the mean number of steps between sampling and training.
    """
    ages = [policy_step - group.step for group in batch.groups]
    return describe_groups(batch.sampled) | {
        "sampled_groups": float(len(batch.sampled)),
        "trained_groups": float(len(batch.groups)),
        "carried": float(batch.carried),
        "rounds": float(batch.rounds),
        "staleness": fmean(ages) if ages else 0.0,
        "generate_s": batch.generate_s,
        "score_s": batch.score_s,
        "scoring_s": batch.scoring_s,
    }


def describe_groups(groups: Sequence[RolloutGroup]) -> Row:
    """Groups before anything is filtered from them; rewards are means over scored samples.

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
