"""GRPO, one step on a page: sample, score, compare within groups, update.

Everything random is drawn from (seed, purpose, step), so a run is a function of its
configuration and can go on from any step's checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from grpo_client.algorithms.loss import policy_loss
from grpo_client.config import Config
from grpo_client.data import draw
from grpo_client.model.load import Policy
from grpo_client.model.logprobs import token_logprobs
from grpo_client.reward import VerifierReward, shuffle_rewards
from grpo_client.rollout.base import RolloutEngine, Sampling
from grpo_client.train.batching import (
    MicroBatch,
    Sample,
    build_samples,
    micro_batches,
    minibatches,
)
from grpo_client.train.metrics import StepMetrics, UpdateMetrics, describe_groups
from grpo_client.train.optim import Optimizer
from grpo_client.types import Prompt, RolloutGroup

# Purposes, so that no two uses of the seed share random numbers.
_SAMPLE, _SHUFFLE, _DEAL = 1, 2, 3


@dataclass(slots=True)
class Trainer:
    """What a training step works with. `step` counts the finished ones."""

    config: Config
    policy: Policy
    engine: RolloutEngine
    reward: VerifierReward
    optimizer: Optimizer
    prompts: Sequence[Prompt]
    step: int = 0

    def run_step(self) -> StepMetrics:
        """One batch of rollouts, scored and trained on.

        Raises:
            RewardError, ClientError: the batch can't be scored.
            NotFinite: the update would ruin the policy.
        """
        clock = _Clock()
        groups = self._sample()
        clock.lap("generate")
        groups = self.reward.score(groups)
        clock.lap("score")
        update = self._update(self._control(groups))
        clock.lap("update")
        self.step += 1
        return StepMetrics(self.step, describe_groups(groups), update, clock.laps)

    def _sample(self) -> list[RolloutGroup]:
        rollout = self.config.rollout
        count = rollout.prompts_per_step
        prompts = draw(self.prompts, self.config.seed, self.step * count, count)
        sampling = Sampling(rollout.max_new_tokens, rollout.temperature)
        key = (self.config.seed, _SAMPLE, self.step)
        return self.engine.generate(prompts, rollout.group_size, sampling, key)

    def _control(self, groups: list[RolloutGroup]) -> list[RolloutGroup]:
        if not self.config.reward.shuffle:
            return groups
        return shuffle_rewards(groups, (self.config.seed, _SHUFFLE, self.step))

    def _update(self, groups: Sequence[RolloutGroup]) -> UpdateMetrics:
        config = self.config
        key = (config.seed, _DEAL, self.step)
        parts = [
            build_samples(part, config.algorithm, config.rollout.max_new_tokens)
            for part in minibatches(groups, config.train.minibatches, key)
        ]
        batches = [self._micro_batches(samples) for samples in parts]
        # With several updates, "old" is the policy before the first of them.
        old = [[self._logprobs(b) for b in part] for part in batches] if len(parts) > 1 else None
        metrics = UpdateMetrics()
        for index, part in enumerate(batches):
            if part:  # no group has any signal: an update would be weight decay alone
                self._accumulate(part, old[index] if old else None, metrics)
                metrics.grad_norms.append(self.optimizer.step())
        return metrics

    def _accumulate(
        self,
        batches: Sequence[MicroBatch],
        old: Sequence[torch.Tensor] | None,
        metrics: UpdateMetrics,
    ) -> None:
        algorithm, temperature = self.config.algorithm, self.config.rollout.temperature
        for index, batch in enumerate(batches):
            logprobs, entropy = token_logprobs(self.policy.model, batch.sequences, temperature)
            part = policy_loss(
                logprobs,
                old[index] if old else logprobs.detach(),
                batch.sequences.mask_NT,
                batch.advantages_N,
                batch.weights_N,
                algorithm.clip_low,
                algorithm.clip_high,
            )
            part.loss.backward()  # type: ignore[no-untyped-call]
            metrics.add(part, entropy, batch.sequences.mask_NT)

    def _micro_batches(self, samples: Sequence[Sample]) -> list[MicroBatch]:
        policy = self.policy
        limit = self.config.train.micro_batch_tokens
        return list(micro_batches(samples, limit, policy.pad_id, policy.model.device))

    @torch.no_grad()
    def _logprobs(self, batch: MicroBatch) -> torch.Tensor:
        temperature = self.config.rollout.temperature
        return token_logprobs(self.policy.model, batch.sequences, temperature)[0]


def train(
    trainer: Trainer,
    *,
    after_step: Callable[[StepMetrics], bool],
) -> None:
    """Runs the steps that are left; `after_step` ends the run early by returning True."""
    while trainer.step < trainer.config.train.steps:
        if after_step(trainer.run_step()):
            return


class _Clock:
    """Seconds between laps, by name."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = now - self._last
        self._last = now
