"""Held-out evaluation: sample, score by the same service, estimate."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from grpo_client.config import EvaluateConfig
from grpo_client.errors import DataError
from grpo_client.evaluate.metrics import pass_at_k
from grpo_client.reward import VerifierReward
from grpo_client.rollout.base import RolloutEngine, Sampling
from grpo_client.types import EvalReport, Prompt, RolloutGroup


def evaluate(
    engine: RolloutEngine,
    reward: VerifierReward,
    prompts: Sequence[Prompt],
    config: EvaluateConfig,
    max_new_tokens: int,
    key: tuple[int, ...],
) -> EvalReport:
    """Samples each prompt `config.samples` times and reports.

    Raises:
        DataError: there are no prompts, or none of them got scores enough to count.
        RewardError, ClientError: the samples can't be scored.
    """
    if not prompts:
        raise DataError("nothing to evaluate on", remedy="set data.heldout to a JSONL file")
    sampling = Sampling(max_new_tokens, config.temperature)
    chosen = prompts[: config.max_problems]
    groups = engine.generate(chosen, config.samples, sampling, key)
    return report(reward.score(groups), config.k)


def report(groups: Sequence[RolloutGroup], ks: Sequence[int]) -> EvalReport:
    """The estimates over scored groups. A sample is right if its accuracy is 1.

    An unscored sample is no sample; a problem counts only with max(k) scored ones.
    """
    scored = [[r for r in group.rewards if r.accuracy is not None] for group in groups]
    counted = [rewards for rewards in scored if len(rewards) >= max(ks)]
    if not counted:
        raise DataError(f"no problem has {max(ks)} scored samples", remedy="see the verifier's log")
    tallies = [(len(rewards), sum(r.accuracy == 1 for r in rewards)) for rewards in counted]
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    rewards = [reward for group in groups for reward in group.rewards]
    return EvalReport(
        pass_at={k: fmean(pass_at_k(n, c, k) for n, c in tallies) for k in ks},
        reward=fmean(r.value for r in rewards if r.value is not None),
        problems=len(counted),
        dropped_problems=len(groups) - len(counted),
        samples=len(rollouts),
        unscored=sum(r.value is None for r in rewards),
        unextracted=sum(r.value is not None and r.answer is None for r in rewards),
        truncated=sum(r.finish_reason == "length" for r in rollouts),
        tokens=fmean(len(r.token_ids) for r in rollouts),
    )
