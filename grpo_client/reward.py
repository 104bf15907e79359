"""The only source of rewards: verdicts of the verifier service.

A verdict without a score is a fault of the task or the service. It stays None here, leaves
the baseline and gets no gradient; it never becomes a 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol

import numpy as np

from grpo_client.config import RewardConfig
from grpo_client.errors import RewardError
from grpo_client.types import Reward, RolloutGroup
from verifier_server.client import Item, Verdict


class Scorer(Protocol):
    """What is used of `verifier_server.client.VerifierClient`."""

    def score(self, items: Sequence[Item]) -> list[Verdict]:
        """A verdict for each item, in order."""


class VerifierReward:
    """Scores groups through the service.

    Args:
        scorer: a `VerifierClient`; groups may be scored by several threads at once.
        config: which component is accuracy, and how many may be unscored.
    """

    def __init__(self, scorer: Scorer, config: RewardConfig) -> None:
        self._scorer = scorer
        self._config = config
        self._threads = ThreadPoolExecutor(config.groups_in_flight, "scoring")

    def score(self, groups: Sequence[RolloutGroup]) -> list[RolloutGroup]:
        """The groups with their rewards, in one request.

        Raises:
            RewardError: an answer is missing, or more than `max_unscored_share` of them have
                no score.
            ClientError: the service can't be reached.
        """
        scored = self._ask(groups)
        self.refuse_unscored(scored)
        return scored

    def submit(self, group: RolloutGroup) -> Future[RolloutGroup]:
        """Scores one group beside whatever else goes on; the result raises as `score`.

        Whether too many are unscored is for the caller to ask, over a whole batch.
        """
        return self._threads.submit(lambda: self._ask([group])[0])

    def close(self) -> None:
        """Begins no further group; those under way end when the client is closed."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ask(self, groups: Sequence[RolloutGroup]) -> list[RolloutGroup]:
        verdicts = self._scorer.score(self._items(groups))
        total = sum(len(group.rollouts) for group in groups)
        if len(verdicts) != total:
            raise RewardError(f"{total} items sent, {len(verdicts)} verdicts received")
        rewards = iter([self._reward(verdict) for verdict in verdicts])
        return [replace(g, rewards=tuple(next(rewards) for _ in g.rollouts)) for g in groups]

    def _items(self, groups: Sequence[RolloutGroup]) -> list[Item]:
        return [
            Item(
                checker=group.prompt.checker,
                params=dict(group.prompt.params),
                prompt=group.prompt.text,
                completion=rollout.text,
                deadline_s=self._config.deadline_s,
            )
            for group in groups
            for rollout in group.rollouts
        ]

    def refuse_unscored(self, groups: Sequence[RolloutGroup]) -> None:
        """Stops a run whose verifier is ill.

        Raises:
            RewardError: more than `max_unscored_share` of the batch have no score.
        """
        rewards = [reward for group in groups for reward in group.rewards]
        unscored = [reward for reward in rewards if reward.value is None]
        limit = self._config.max_unscored_share
        if len(unscored) <= limit * len(rewards):
            return
        counts = Counter(reward.outcome for reward in unscored)
        kinds = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
        raise RewardError(
            f"{len(unscored)} of {len(rewards)} completions came back without a score ({kinds}); "
            f"the first: {unscored[0].explanation or unscored[0].outcome}",
            remedy="mend the service or the data's params; reward.max_unscored_share "
            f"({limit:g}) is the limit",
        )

    def _reward(self, verdict: Verdict) -> Reward:
        return Reward(
            value=verdict.score,
            accuracy=verdict.components.get(self._config.accuracy, verdict.score),
            outcome=verdict.outcome.value,
            answer=verdict.answer,
            explanation=verdict.explanation,
            components=verdict.components,
        )


def shuffle_rewards(groups: Sequence[RolloutGroup], key: tuple[int, ...]) -> list[RolloutGroup]:
    """The control arm: the values of all scored rewards, permuted over the whole batch.

    Their distribution stays, their bond to what was sampled goes. Only `value` moves:
    `accuracy` still tells the truth about each completion.
    """
    values = [r.value for group in groups for r in group.rewards if r.value is not None]
    mixed = iter(np.random.default_rng(list(key)).permutation(values).tolist())
    return [
        replace(
            group,
            rewards=tuple(
                r if r.value is None else replace(r, value=next(mixed)) for r in group.rewards
            ),
        )
        for group in groups
    ]
