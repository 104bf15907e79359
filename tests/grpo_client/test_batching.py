from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from grpo_client.algorithms.loss import policy_loss
from grpo_client.config import AlgorithmConfig
from grpo_client.model.load import Policy
from grpo_client.model.logprobs import token_logprobs
from grpo_client.train.batching import (
    MicroBatch,
    Sample,
    deal,
    lay_out,
    length_sorted,
    trainable,
    weighted,
)
from grpo_client.types import RolloutGroup
from tests.grpo_client.conftest import group

GROUPS = [
    group([1, 0, 0, None], [2, 5, 3, 4]),
    group([1, 1, 0, 0], [7, 1, 2, 3], prompt_ids=(1, 5)),
    group([0, 0, 0, 0], [2, 2, 2, 2]),
]


def build_samples(
    groups: Sequence[RolloutGroup], algorithm: AlgorithmConfig, max_new_tokens: int
) -> list[Sample]:
    members = [sample for group in groups for sample in trainable(group, algorithm, 0)]
    return weighted(members, algorithm, max_new_tokens)


def micro_batches(samples: Sequence[Sample], max_tokens: int, pad_id: int) -> list[MicroBatch]:
    return [lay_out(batch, pad_id) for batch in length_sorted(samples, max_tokens)]


def gradients(policy: Policy, samples: list[Sample], max_tokens: int) -> list[torch.Tensor]:
    """Of the step's whole loss, gathered over micro-batches."""
    policy.model.zero_grad()
    for batch in micro_batches(samples, max_tokens, policy.pad_id):
        logprobs, _ = token_logprobs(policy.model, batch.sequences, 1.0)
        part = policy_loss(
            logprobs,
            logprobs.detach() - 0.1,
            batch.sequences.mask_NT,
            batch.advantages_NT,
            batch.weights_N,
            0.2,
            0.2,
        )
        part.loss.backward()
    return [parameter.grad.clone() for parameter in policy.model.parameters()]


@pytest.mark.parametrize("normalize", ["sequence", "token", "constant"])
def test_gradients_do_not_depend_on_micro_batches_or_order(policy: Policy, normalize: str) -> None:
    policy.model.double()
    algorithm = AlgorithmConfig(normalize=normalize)  # type: ignore[arg-type]
    samples = build_samples(GROUPS, algorithm, 12)
    whole = gradients(policy, samples, 10_000)
    shuffled = random.Random(0).sample(samples, len(samples))
    for max_tokens in (1, 11, 20, 33):
        cut = gradients(policy, shuffled, max_tokens)
        torch.testing.assert_close(cut, whole, rtol=1e-6, atol=1e-8)


def test_micro_batches_keep_their_budget_and_every_sample() -> None:
    samples = build_samples(GROUPS, AlgorithmConfig(), 12)
    batches = micro_batches(samples, 16, 0)
    assert len(batches) > 1
    assert all(batch.sequences.input_ids_NS.numel() <= 16 for batch in batches)
    assert sum(len(batch.weights_N) for batch in batches) == len(samples)


def test_unscored_and_equal_samples_carry_no_gradient_at_all() -> None:
    samples = build_samples(GROUPS, AlgorithmConfig(), 12)
    trained = {(s.prompt_ids, s.token_ids) for s in samples}
    unscored = GROUPS[0].rollouts[3].token_ids
    assert (GROUPS[0].prompt_ids, unscored) not in trained
    assert len(samples) == 3 + 4


def test_unscored_samples_leave_the_count_and_equal_ones_stay_in_it() -> None:
    samples = build_samples(GROUPS, AlgorithmConfig(normalize="sequence"), 12)
    # 3 + 4 + 4 scored sequences: the weight of a token is 1 / (11 · its sequence's length).
    for sample in samples:
        assert sample.weight == pytest.approx(1 / (11 * len(sample.token_ids)))


def test_an_unscored_sample_changes_nothing_against_its_absence() -> None:
    holed = group([1, 0, None], [3, 2, 6])
    absent = RolloutGroup(holed.prompt, holed.prompt_ids, holed.rollouts[:2], holed.rewards[:2])
    algorithm = AlgorithmConfig()
    assert build_samples([holed], algorithm, 12) == build_samples([absent], algorithm, 12)


def test_what_was_cut_off_stays_in_the_baseline_and_leaves_the_loss_if_asked() -> None:
    made = group([1, 0, 0], [3, 2, 4])
    cut = replace(made.rollouts[2], finish_reason="length")
    made = replace(made, rollouts=(*made.rollouts[:2], cut))
    kept = build_samples([made], AlgorithmConfig(), 12)
    masked = build_samples([made], AlgorithmConfig(mask_truncated=True), 12)
    assert len(kept) == 3
    assert [s.token_ids for s in masked] == [r.token_ids for r in made.rollouts[:2]]
    # Compared with all three, counted among two.
    assert [s.advantages for s in masked] == [s.advantages for s in kept[:2]]
    assert [s.weight for s in masked] == [1 / (2 * 3), 1 / (2 * 2)]


def test_dealing_keeps_whole_groups_once() -> None:
    groups = [group([1, 0]) for _ in range(7)]
    parts = deal(groups, 3, (0,))
    assert sorted(map(len, parts)) == [2, 2, 3]
    assert {id(g) for part in parts for g in part} == {id(g) for g in groups}


def test_nothing_to_learn_makes_no_sample() -> None:
    assert build_samples([group([0, 0]), group([None, None])], AlgorithmConfig(), 12) == []
