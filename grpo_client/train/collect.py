"""A step's groups: sampled, scored while others are still being sampled, filtered, refilled.

What is trained on is a function of the seed and of the verdicts, never of the order in which
these arrive.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from pydantic import TypeAdapter

from grpo_client.algorithms.shaping import overlong_penalty
from grpo_client.config import Config
from grpo_client.data import draw
from grpo_client.reward import VerifierReward, shuffle_rewards
from grpo_client.rollout.base import RolloutEngine, Sampling
from grpo_client.types import Prompt, RolloutGroup

# Purposes, so that no two uses of the seed share random numbers.
_SAMPLE, _SHUFFLE, _REFILL = 1, 2, 4
_GROUPS = TypeAdapter(list[RolloutGroup])


@dataclass(slots=True)
class Batch:
    """What one step has to learn from, and what it took to get it.

    Attributes:
        groups: to train on, with shaped rewards.
        sampled: all groups sampled for the step, as scored, before any filter.
        rounds: of sampling.
        carried: groups that an earlier step had left over.
        generate_s: in which the sampler worked.
        score_s: in which nothing was left to do but wait for verdicts.
        scoring_s: from the first completion handed to the verifier to the last verdict, over
            all rounds; what `score_s` doesn't hold of it was hidden.
    """

    groups: list[RolloutGroup] = field(default_factory=list)
    sampled: list[RolloutGroup] = field(default_factory=list)
    rounds: int = 0
    carried: int = 0
    generate_s: float = 0.0
    score_s: float = 0.0
    scoring_s: float = 0.0


class Round:
    """Groups on their way: sampled, and with the verifier."""

    def __init__(self, reward: VerifierReward, policy_step: int) -> None:
        self._reward, self._policy_step = reward, policy_step
        self._futures: dict[int, Future[RolloutGroup]] = {}
        self._first_s = self._last_s = 0.0
        self.generate_s = 0.0

    def submit(self, place: int, group: RolloutGroup) -> None:
        """Hands a group to the verifier."""
        self._first_s = self._first_s or time.perf_counter()
        future = self._reward.submit(replace(group, step=self._policy_step))
        future.add_done_callback(self._note_end)
        self._futures[place] = future

    def wait(self, batch: Batch) -> list[RolloutGroup]:
        """The scored groups, in the prompts' order; raises as `VerifierReward.score`."""
        began_s = time.perf_counter()
        try:
            groups = [self._futures[place].result() for place in sorted(self._futures)]
        finally:
            for future in self._futures.values():
                future.cancel()
        batch.score_s += time.perf_counter() - began_s
        batch.scoring_s += self._last_s - self._first_s
        batch.generate_s += self.generate_s
        return groups

    def _note_end(self, future: Future[RolloutGroup]) -> None:
        self._last_s = max(self._last_s, time.perf_counter())


class Collector:
    """Draws prompts in their order and brings back batches.

    `cursor` is the position in the data up to which prompts have been trained on or thrown
    away; `carry` are scored groups for the next step. Both move only when a batch is whole,
    so that a step which fails is repeated from its beginning.
    """

    def __init__(
        self,
        config: Config,
        engine: RolloutEngine,
        reward: VerifierReward,
        prompts: Sequence[Prompt],
    ) -> None:
        self._config, self._engine, self._prompts = config, engine, prompts
        self.reward = reward
        self.cursor = 0
        self.carry: list[RolloutGroup] = []
        self._drawn = 0

    def begin(self, step: int, policy_step: int) -> Round:
        """Samples a step's first round; its verdicts may still be on their way.

        Args:
            step: that will train on it, from 0.
            policy_step: steps that the present policy has behind it.
        """
        count = self._config.rollout.prompts_per_step - len(self.carry)
        return self._round((self._config.seed, _SAMPLE, step), count, policy_step)

    def collect(self, step: int, policy_step: int, first: Round | None = None) -> Batch:
        """A whole batch; see `begin` for the arguments, `first` is what it returned.

        Raises:
            RewardError, ClientError: the batch can't be scored.
        """
        algorithm, wanted = self._config.algorithm, self._config.rollout.prompts_per_step
        batch = Batch(carried=len(self.carry))
        ready = list(self.carry)
        part = first or self.begin(step, policy_step)
        while True:
            groups = part.wait(batch)
            batch.rounds += 1
            batch.sampled += groups
            self.reward.refuse_unscored(batch.sampled)
            ready += [g for g in groups if not algorithm.dynamic_sampling or tells_apart(g)]
            missing = wanted - len(ready)
            if missing <= 0 or not algorithm.dynamic_sampling:
                break
            if batch.rounds >= algorithm.max_rounds:
                break
            kept = len(ready) - batch.carried
            count = min(wanted, ceil(missing * len(batch.sampled) / max(1, kept)))
            key = (self._config.seed, _REFILL, step, batch.rounds)
            part = self._round(key, count, policy_step)
        batch.groups = self._shaped(ready[:wanted], step)
        self.carry = ready[wanted:]
        self.cursor += len(batch.sampled)
        return batch

    def state(self) -> dict[str, Any]:
        """What a later run needs to go on from here, for JSON."""
        return {"cursor": self.cursor, "carry": _GROUPS.dump_python(self.carry, mode="json")}

    def load_state(self, state: dict[str, Any]) -> None:
        """The inverse of `state`."""
        self.cursor = self._drawn = int(state["cursor"])
        self.carry = _GROUPS.validate_python(state["carry"])

    def _round(self, key: tuple[int, ...], count: int, policy_step: int) -> Round:
        rollout = self._config.rollout
        prompts = draw(self._prompts, self._config.seed, self._drawn, count)
        self._drawn += count
        part = Round(self.reward, policy_step)
        began_s = time.perf_counter()
        sampling = Sampling(rollout.max_new_tokens, rollout.temperature)
        self._engine.generate(prompts, rollout.group_size, sampling, key, part.submit)
        part.generate_s = time.perf_counter() - began_s
        return part

    def _shaped(self, groups: list[RolloutGroup], step: int) -> list[RolloutGroup]:
        """Rewards as they are trained on; filters have looked at the raw ones."""
        limit = self._config.rollout.max_new_tokens
        cache = round(self._config.algorithm.overlong_share * limit)
        if cache:
            groups = [punish_overlong(group, limit, cache) for group in groups]
        if self._config.reward.shuffle:
            groups = shuffle_rewards(groups, (self._config.seed, _SHUFFLE, step))
        return groups


def tells_apart(group: RolloutGroup) -> bool:
    """Whether some scored members are more right than others: raw accuracy, not reward.

    By shaped rewards a group that is all wrong would seem to have something to teach.

    Source: the constraint of DAPO (arXiv 2503.14476) eq. 11.
    """
    return len({r.accuracy for r in group.rewards if r.accuracy is not None}) > 1


def punish_overlong(group: RolloutGroup, max_tokens: int, cache_tokens: int) -> RolloutGroup:
    """The group with `overlong_penalty` added to the values; `accuracy` stays what it was."""
    rewards = []
    for rollout, reward in zip(group.rollouts, group.rewards, strict=True):
        penalty = overlong_penalty(len(rollout.token_ids), max_tokens, cache_tokens)
        value = None if reward.value is None else reward.value + penalty
        rewards.append(replace(reward, value=value))
    return replace(group, rewards=tuple(rewards))
