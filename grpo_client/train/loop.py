"""A training run, one step on a page: sample, score, compare, update.

Everything random is drawn from (seed, purpose, step), so a run is a function of its
configuration and can go on from any step's checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from grpo_client.config import Config
from grpo_client.model.load import Policy
from grpo_client.reward import VerifierReward
from grpo_client.rollout.base import RolloutEngine
from grpo_client.train.collect import Collector, Round
from grpo_client.train.learner import Learner
from grpo_client.train.metrics import StepMetrics, describe_batch
from grpo_client.types import Prompt


class Trainer:
    """What a training step works with. `step` counts the finished ones.

    Args:
        config: the whole run.
        policy: trained in place; its present weights are the run's start.
        engine: samples from it.
        reward: scores what was sampled.
        prompts: to train on.
    """

    def __init__(
        self,
        config: Config,
        policy: Policy,
        engine: RolloutEngine,
        reward: VerifierReward,
        prompts: Sequence[Prompt],
    ) -> None:
        self.config, self.policy, self.prompts = config, policy, prompts
        self.learner = Learner(config, policy)
        self.collector = Collector(config, engine, reward, prompts)
        self.step = 0
        self._next: Round | None = None

    def run_step(self) -> StepMetrics:
        """One batch of rollouts, scored and trained on.

        Raises:
            RewardError, ClientError: the batch can't be scored.
            NotFinite: the update would ruin the policy.
        """
        first = self._next or self.collector.begin(self.step, self.step)
        self._next = None
        if self.config.rollout.ahead and self.step + 1 < self.config.train.steps:
            # By the weights as they are: while it samples, the first batch is being scored.
            self._next = self.collector.begin(self.step + 1, self.step)
        batch = self.collector.collect(self.step, self.step, first)
        began_s = time.perf_counter()
        update = self.learner.update(batch.groups, self.step)
        row = describe_batch(batch, self.step)
        self.step += 1
        return StepMetrics(self.step, row, update, time.perf_counter() - began_s)


def train(
    trainer: Trainer,
    *,
    after_step: Callable[[StepMetrics], bool],
) -> None:
    """Runs the steps that are left; `after_step` ends the run early by returning True."""
    while trainer.step < trainer.config.train.steps:
        if after_step(trainer.run_step()):
            return
