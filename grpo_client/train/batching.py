"""From scored groups to micro-batches: everything a sequence needs to be trained on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from grpo_client.algorithms.advantage import group_advantages
from grpo_client.algorithms.weights import sequence_weights
from grpo_client.config import AlgorithmConfig
from grpo_client.model.logprobs import Sequences
from grpo_client.types import RolloutGroup


@dataclass(frozen=True, slots=True)
class Sample:
    """One sequence of an optimiser step. `weight` is the loss weight of each of its tokens."""

    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    advantage: float
    weight: float

    @property
    def width(self) -> int:
        """Tokens of prompt and completion."""
        return len(self.prompt_ids) + len(self.token_ids)


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What goes through the model at once."""

    sequences: Sequences
    advantages_N: Tensor
    weights_N: Tensor


def minibatches(
    groups: Sequence[RolloutGroup], count: int, key: tuple[int, ...]
) -> list[list[RolloutGroup]]:
    """Whole groups dealt at random into `count` optimiser steps, as evenly as they go."""
    if count == 1:
        return [list(groups)]
    order = np.random.default_rng(list(key)).permutation(len(groups))
    parts = np.array_split(order, min(count, len(groups)))
    return [[groups[i] for i in part] for part in parts]


def build_samples(
    groups: Sequence[RolloutGroup], algorithm: AlgorithmConfig, max_new_tokens: int
) -> list[Sample]:
    """The sequences of one optimiser step that have a gradient.

    Unscored ones are no data: they count nowhere. Those with advantage 0 count in the
    normaliser and are then left out, since they add nothing to the sum.
    """
    rows = []
    for group in groups:
        values = [reward.value for reward in group.rewards]
        advantages = group_advantages(values, algorithm.advantage)
        for rollout, value, advantage in zip(group.rollouts, values, advantages, strict=True):
            if value is not None:
                rows.append((group.prompt_ids, rollout.token_ids, advantage))
    lengths = [len(token_ids) for _, token_ids, _ in rows]
    weights = sequence_weights(lengths, algorithm.normalize, max_new_tokens) if rows else []
    samples = [Sample(*row, weight) for row, weight in zip(rows, weights, strict=True)]
    return [sample for sample in samples if sample.advantage != 0]


def micro_batches(
    samples: Sequence[Sample], max_tokens: int, pad_id: int, device: torch.device | str = "cpu"
) -> Iterator[MicroBatch]:
    """The samples by length, in batches of at most `max_tokens` tokens, padding included.

    A single sequence that is longer makes a batch of its own.
    """
    batch: list[Sample] = []
    for sample in sorted(samples, key=lambda s: s.width):
        if batch and sample.width * (len(batch) + 1) > max_tokens:
            yield _lay_out(batch, pad_id, device)
            batch = []
        batch.append(sample)
    if batch:
        yield _lay_out(batch, pad_id, device)


def _lay_out(batch: Sequence[Sample], pad_id: int, device: torch.device | str) -> MicroBatch:
    prompts = [sample.prompt_ids for sample in batch]
    completions = [sample.token_ids for sample in batch]
    return MicroBatch(
        Sequences.of(prompts, completions, pad_id, device),
        torch.tensor([sample.advantage for sample in batch], device=device),
        torch.tensor([sample.weight for sample in batch], device=device),
    )
