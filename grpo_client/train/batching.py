"""From scored groups to micro-batches: everything a sequence needs to be trained on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from grpo_client.algorithms.advantage import group_advantages
from grpo_client.algorithms.ppo import gae, whiten
from grpo_client.algorithms.weights import sequence_weights
from grpo_client.config import AlgorithmConfig, CriticConfig
from grpo_client.model.logprobs import Sequences
from grpo_client.types import RolloutGroup

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sequence of an optimiser step.

    Attributes:
        prompt_ids: what the model was given.
        token_ids: [T] what it sampled.
        sampler_logprobs: [T] as the sampler reported them.
        stale: whether a policy before the present one sampled it.
        reward: of the whole completion.
        advantages: [T].
        weight: of each token in the loss.
        values, returns: [T] the critic's and what they should have been; PPO alone has them.
    """

    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    sampler_logprobs: tuple[float, ...]
    stale: bool
    reward: float
    advantages: tuple[float, ...]
    weight: float = 0.0
    values: tuple[float, ...] = ()
    returns: tuple[float, ...] = ()

    @property
    def width(self) -> int:
        """Tokens of prompt and completion."""
        return len(self.prompt_ids) + len(self.token_ids)


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What goes through the model at once; 0 where there is no token."""

    sequences: Sequences
    advantages_NT: Tensor
    weights_N: Tensor
    sampler_logprobs_NT: Tensor
    stale_N1: Tensor
    values_NT: Tensor
    returns_NT: Tensor


def trainable(group: RolloutGroup, algorithm: AlgorithmConfig, policy_step: int) -> list[Sample]:
    """The members of a group that are data, with their advantages in it.

    Unscored ones are none: no baseline, no count, no gradient. With `mask_truncated` those
    that were cut off are part of the baseline and nothing else.

    Args:
        group: scored.
        algorithm: which advantage; a critic's are put in later, by `with_critic`.
        policy_step: steps that the policy about to be trained has behind it.
    """
    values = [reward.value for reward in group.rewards]
    scale = algorithm.advantage
    advantages = [0.0] * len(values) if scale == "gae" else group_advantages(values, scale)
    return [
        Sample(
            group.prompt_ids,
            rollout.token_ids,
            rollout.logprobs,
            group.step < policy_step,
            value,
            (advantage,) * len(rollout.token_ids),
        )
        for rollout, value, advantage in zip(group.rollouts, values, advantages, strict=True)
        if value is not None
        and not (algorithm.mask_truncated and rollout.finish_reason == "length")
    ]


def with_critic(
    samples: Sequence[Sample], values: Sequence[Sequence[float]], config: CriticConfig
) -> list[Sample]:
    """A whole step's samples with advantages by their values, whitened over all tokens."""
    estimates = [
        gae(sample.reward, row, config.gamma, config.lam)
        for sample, row in zip(samples, values, strict=True)
    ]
    whitened = whiten([advantages for advantages, _ in estimates])
    return [
        replace(s, advantages=tuple(a), values=tuple(v), returns=tuple(returns))
        for s, a, v, (_, returns) in zip(samples, whitened, values, estimates, strict=True)
    ]


def deal(units: Sequence[T], count: int, key: tuple[int, ...]) -> list[list[T]]:
    """Units (whole groups) dealt at random into `count` optimiser steps, as evenly as they go."""
    if count == 1:
        return [list(units)]
    order = np.random.default_rng(list(key)).permutation(len(units))
    parts = np.array_split(order, min(count, len(units)))
    return [[units[i] for i in part] for part in parts]


def weighted(
    samples: Sequence[Sample], algorithm: AlgorithmConfig, max_new_tokens: int
) -> list[Sample]:
    """The sequences of one optimiser step that have a gradient, with their weights.

    Those whose advantages are all 0 count in the normaliser and are then left out, since
    they add nothing to the sum; with a KL or a critic they do, and stay.
    """
    if not samples:
        return []
    lengths = [len(sample.token_ids) for sample in samples]
    weights = sequence_weights(lengths, algorithm.normalize, max_new_tokens)
    all_count = algorithm.kl_coef > 0 or algorithm.advantage == "gae"
    return [
        replace(sample, weight=weight)
        for sample, weight in zip(samples, weights, strict=True)
        if all_count or any(sample.advantages)
    ]


def length_sorted(samples: Sequence[Sample], max_tokens: int) -> Iterator[list[Sample]]:
    """The samples by length, in lists of at most `max_tokens` tokens, padding included.

    A single sequence that is longer makes a list of its own.
    """
    batch: list[Sample] = []
    for sample in sorted(samples, key=lambda s: s.width):
        if batch and sample.width * (len(batch) + 1) > max_tokens:
            yield batch
            batch = []
        batch.append(sample)
    if batch:
        yield batch


def lay_out(batch: Sequence[Sample], pad_id: int, device: torch.device | str = "cpu") -> MicroBatch:
    """The samples as tensors."""
    prompts = [sample.prompt_ids for sample in batch]
    completions = [sample.token_ids for sample in batch]
    width = max(map(len, completions))

    def padded(rows: Sequence[Sequence[float]]) -> Tensor:
        filled = [chain(row, [0.0] * (width - len(row))) for row in rows]
        return torch.tensor([list(row) for row in filled], device=device)

    return MicroBatch(
        Sequences.of(prompts, completions, pad_id, device),
        padded([sample.advantages for sample in batch]),
        torch.tensor([sample.weight for sample in batch], device=device),
        padded([sample.sampler_logprobs for sample in batch]),
        torch.tensor([[sample.stale] for sample in batch], device=device),
        padded([sample.values for sample in batch]),
        padded([sample.returns for sample in batch]),
    )
