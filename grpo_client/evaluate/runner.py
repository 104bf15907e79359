"""Held-out evaluation: sample, score by the same service, estimate."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from grpo_client.config import EvaluateConfig
from grpo_client.errors import DataError
from grpo_client.evaluate.metrics import interval, maj_at_k, pass_at_k, pass_hat_k
from grpo_client.reward import VerifierReward
from grpo_client.rollout.base import RolloutEngine, Sampling
from grpo_client.types import Estimate, EvalReport, Prompt, Reward, RolloutGroup

COT = "cot_correct"
"""The verdict's component that says whether the reasoning holds, beside the answer."""


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
    return report(sample(engine, reward, prompts, config, max_new_tokens, key), config.k)


def sample(
    engine: RolloutEngine,
    reward: VerifierReward,
    prompts: Sequence[Prompt],
    config: EvaluateConfig,
    max_new_tokens: int,
    key: tuple[int, ...],
) -> list[RolloutGroup]:
    """The scored samples that `evaluate` reports on; raises the same."""
    if not prompts:
        raise DataError("nothing to evaluate on", remedy="set data.heldout to a JSONL file")
    sampling = Sampling(max_new_tokens, config.temperature)
    chosen = prompts[: config.max_problems]
    return reward.score(engine.generate(chosen, config.samples, sampling, key))


def report(groups: Sequence[RolloutGroup], ks: Sequence[int]) -> EvalReport:
    """The estimates over scored groups. A sample is right if its accuracy is 1.

    An unscored sample is no sample; a problem counts only with max(k) scored ones.
    """
    scored = [[r for r in group.rewards if r.accuracy is not None] for group in groups]
    counted = [rewards for rewards in scored if len(rewards) >= max(ks)]
    if not counted:
        raise DataError(f"no problem has {max(ks)} scored samples", remedy="see the verifier's log")
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    rewards = [reward for group in groups for reward in group.rewards]
    return EvalReport(
        estimates=_estimates(counted, ks),
        reward=fmean(r.value for r in rewards if r.value is not None),
        problems=len(counted),
        dropped_problems=len(groups) - len(counted),
        samples=len(rollouts),
        unscored=sum(r.value is None for r in rewards),
        unextracted=sum(r.value is not None and r.answer is None for r in rewards),
        truncated=sum(r.finish_reason == "length" for r in rollouts),
        tokens=fmean(len(r.token_ids) for r in rollouts),
    )


def _estimates(problems: Sequence[Sequence[Reward]], ks: Sequence[int]) -> dict[str, Estimate]:
    """CoT-Pass@k is there only if every scored sample says whether its reasoning holds."""
    tallies = [(len(rewards), sum(_right(r) for r in rewards)) for rewards in problems]
    by_name: dict[str, list[float]] = {}
    for k in ks:
        by_name[f"pass@{k}"] = [pass_at_k(n, c, k) for n, c in tallies]
    several = [k for k in ks if k > 1]  # of one sample all three say the same
    for k in several:
        by_name[f"pass^{k}"] = [pass_hat_k(n, c, k) for n, c in tallies]
    for k in several:
        by_name[f"maj@{k}"] = [
            maj_at_k([r.answer for r in rewards], [_right(r) for r in rewards], k)
            for rewards in problems
        ]
    if all(r.components.get(COT) is not None for rewards in problems for r in rewards):
        sound = [
            (len(rewards), sum(_right(r) and r.components[COT] == 1 for r in rewards))
            for rewards in problems
        ]
        for k in ks:
            by_name[f"cot_pass@{k}"] = [pass_at_k(n, c, k) for n, c in sound]
    return {
        name: Estimate(fmean(values), *interval(values, (0,))) for name, values in by_name.items()
    }


def _right(reward: Reward) -> bool:
    return reward.accuracy == 1
