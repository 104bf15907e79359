"""What learns: the policy, PPO's critic, the reference, and one batch's way into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from grpo_client.algorithms.kl import kl_penalty
from grpo_client.algorithms.loss import policy_loss
from grpo_client.algorithms.mismatch import mismatch_weights
from grpo_client.algorithms.ppo import value_loss
from grpo_client.config import Config
from grpo_client.model.critic import Critic, completion_values
from grpo_client.model.load import Policy
from grpo_client.model.passes import precision, recomputed
from grpo_client.model.reference import Reference
from grpo_client.train.batching import (
    MicroBatch,
    Sample,
    deal,
    lay_out,
    length_sorted,
    trainable,
    weighted,
    with_critic,
)
from grpo_client.train.metrics import UpdateMetrics
from grpo_client.train.optim import Optimizer, adamw_of
from grpo_client.types import RolloutGroup

_DEAL = 3


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A micro-batch with the constants of its step.

    `old_NT` is the policy before the step's first update; None where that is the policy as
    it is met, because there is one update alone. `reference_NT` is None without a KL.
    """

    batch: MicroBatch
    old_NT: Tensor | None
    reference_NT: Tensor | None


class Learner:
    """Trains the policy in place. Its present weights are what reference and critic start from.

    Args:
        config: algorithm, critic and optimiser.
        policy: what is trained.
    """

    def __init__(self, config: Config, policy: Policy) -> None:
        self._config, self.policy = config, policy
        self.optimizer = adamw_of(policy.model, config.train, config.train.learning_rate)
        self.reference = Reference(policy.model) if config.algorithm.kl_coef else None
        self.critic: Critic | None = None
        self.critic_optimizer: Optimizer | None = None
        if config.algorithm.advantage == "gae":
            self.critic = Critic(policy)
            self.critic_optimizer = adamw_of(self.critic, config.train, config.critic.learning_rate)

    def update(self, groups: Sequence[RolloutGroup], step: int) -> UpdateMetrics:
        """The optimiser steps of one batch.

        Args:
            groups: scored, rewards as they are to be trained on.
            step: training steps that the policy has behind it.

        Raises:
            NotFinite: an update would ruin the policy.
        """
        config = self._config
        units = [trainable(group, config.algorithm, step) for group in groups]
        if self.critic is not None:
            units = self._valued(units, self.critic)
        parts = deal(units, config.train.minibatches, (config.seed, _DEAL, step))
        limit = config.rollout.max_new_tokens
        samples = [weighted(list(chain(*part)), config.algorithm, limit) for part in parts]
        # Constants of the whole step come before its first update.
        prepared = [list(self._prepared(part, len(parts) > 1)) for part in samples]
        metrics = UpdateMetrics()
        for part in prepared:
            if part:  # no group has any signal: an update would be weight decay alone
                self._update_policy(part, step, metrics)
                self._update_critic(part, metrics)
        every = config.algorithm.reference_every
        if self.reference and every and (step + 1) % every == 0:
            self.reference.renew()
        return metrics

    def optimizers(self) -> dict[str, Optimizer]:
        """All optimisers by name."""
        named = {"optimizer": self.optimizer, "critic_optimizer": self.critic_optimizer}
        return {name: optimizer for name, optimizer in named.items() if optimizer}

    def _valued(self, units: list[list[Sample]], critic: Critic) -> list[list[Sample]]:
        samples = list(chain(*units))
        values: dict[int, list[float]] = {}
        for batch in self._batches(samples):
            laid = self._laid_out(batch)
            with precision(self.policy.model, self.policy.autocast):
                rows = completion_values(critic, laid.sequences)
            values |= {id(sample): row for sample, row in zip(batch, rows, strict=True)}
        own = [values[id(sample)] for sample in samples]
        valued = iter(with_critic(samples, own, self._config.critic))
        return [[next(valued) for _ in unit] for unit in units]

    def _batches(self, samples: Sequence[Sample]) -> Iterator[list[Sample]]:
        return length_sorted(samples, self._config.train.micro_batch_tokens)

    def _laid_out(self, batch: Sequence[Sample]) -> MicroBatch:
        return lay_out(batch, self.policy.pad_id, self.policy.model.device)

    @torch.no_grad()
    def _prepared(self, samples: Sequence[Sample], several: bool) -> Iterator[_Prepared]:
        temperature = self._config.rollout.temperature
        for rows in self._batches(samples):
            batch = self._laid_out(rows)
            old = self.policy.logprobs(batch.sequences, temperature)[0] if several else None
            reference = None
            if self.reference:
                with self.reference.in_place():
                    reference = self.policy.logprobs(batch.sequences, temperature)[0]
            yield _Prepared(batch, old, reference)

    def _update_policy(self, part: Sequence[_Prepared], step: int, metrics: UpdateMetrics) -> None:
        if self.critic is not None and step < self._config.critic.warmup_steps:
            return
        for prepared in part:
            self._accumulate(prepared, metrics)
        metrics.grad_norms.append(self.optimizer.step())

    def _accumulate(self, prepared: _Prepared, metrics: UpdateMetrics) -> None:
        algorithm, batch = self._config.algorithm, prepared.batch
        mask_NT = batch.sequences.mask_NT
        logprobs_NT, entropy_NT = self.policy.logprobs(
            batch.sequences, self._config.rollout.temperature
        )
        fresh_NT = logprobs_NT.detach() if prepared.old_NT is None else prepared.old_NT
        # "Old" is the policy that sampled: for a stale sample only its sampler knows it.
        old_NT = torch.where(batch.stale_N1, batch.sampler_logprobs_NT, fresh_NT)
        corrections_NT = mismatch_weights(
            old_NT,
            batch.sampler_logprobs_NT,
            mask_NT,
            algorithm.mismatch,
            algorithm.mismatch_low,
            algorithm.mismatch_high,
        )
        part = policy_loss(
            logprobs_NT,
            old_NT,
            mask_NT,
            batch.advantages_NT,
            batch.weights_N,
            algorithm.clip_low,
            algorithm.clip_high,
            ratio=algorithm.ratio,
            corrections_NT=None if algorithm.mismatch == "none" else corrections_NT,
        )
        loss = part.loss
        if prepared.reference_NT is not None:
            loss = loss + algorithm.kl_coef * kl_penalty(
                logprobs_NT,
                prepared.reference_NT,
                mask_NT,
                batch.weights_N,
                algorithm.kl_estimator,
                old_NT if algorithm.kl_weighted else None,
            )
        loss.backward()  # type: ignore[no-untyped-call]
        metrics.add(part, entropy_NT, mask_NT)
        metrics.add_distances(
            logprobs_NT.detach(), old_NT, batch.sampler_logprobs_NT, prepared.reference_NT, mask_NT
        )
        metrics.dropped += int(((corrections_NT == 0) & mask_NT).sum())

    def _update_critic(self, part: Sequence[_Prepared], metrics: UpdateMetrics) -> None:
        if self.critic is None or self.critic_optimizer is None:
            return
        tokens = sum(int(prepared.batch.sequences.mask_NT.sum()) for prepared in part)
        total = 0.0
        for batch in (prepared.batch for prepared in part):
            with (
                precision(self.policy.model, self.policy.autocast),
                recomputed(self.critic, self.policy.checkpointing),
            ):
                values_NT = self.critic(batch.sequences)
            loss = value_loss(
                values_NT,
                batch.values_NT,
                batch.returns_NT,
                batch.sequences.mask_NT,
                self._config.critic.value_clip,
                tokens,
            )
            torch.autograd.backward(loss)
            total += float(loss.detach())
        metrics.value_losses.append(total)
        self.critic_optimizer.step()
