from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from grpo_client.model.load import Policy
from grpo_client.model.logprobs import Sequences, token_logprobs
from grpo_client.rollout.base import Sampling
from grpo_client.rollout.torch import TorchRollout
from grpo_client.types import Prompt, Rollout, RolloutGroup
from tests.grpo_client.conftest import prompt

# Lengths differ, so prompts are padded on the left.
UNEVEN = [prompt("12+34="), prompt("1+2=", 1), prompt("7=", 2)]


def generate(
    policy: Policy,
    prompts: Sequence[Prompt] = UNEVEN,
    *,
    temperature: float = 1.0,
    group_size: int = 8,
    tokens: int = 12,
    max_rows: int = 512,
) -> list[RolloutGroup]:
    engine = TorchRollout(policy, max_rows)
    return engine.generate(prompts, group_size, Sampling(tokens, temperature), (0, 1, 2))


def rollouts(groups: Sequence[RolloutGroup]) -> list[Rollout]:
    return [rollout for group in groups for rollout in group.rollouts]


@pytest.mark.parametrize("temperature", [1.0, 0.6])
@pytest.mark.parametrize("prompts", [UNEVEN, UNEVEN[:1]], ids=["padded", "unpadded"])
def test_its_logprobs_are_those_of_a_teacher_forced_pass(
    policy: Policy, prompts: list[Prompt], temperature: float
) -> None:
    groups = generate(policy, prompts, temperature=temperature)
    sampled = rollouts(groups)
    sequences = Sequences.of(
        [group.prompt_ids for group in groups for _ in group.rollouts],
        [rollout.token_ids for rollout in sampled],
        policy.pad_id,
    )
    forced, _ = token_logprobs(policy.model, sequences, temperature)
    for row, rollout in zip(forced.tolist(), sampled, strict=True):
        assert row[: len(rollout.logprobs)] == pytest.approx(rollout.logprobs, abs=1e-5)


def test_greedy_generation_with_the_cache_equals_generation_without_it(policy: Policy) -> None:
    for group in generate(policy, temperature=0, group_size=2):
        ids = list(group.prompt_ids)
        for token in group.rollouts[0].token_ids:
            logits = policy.model(torch.tensor([ids]), use_cache=False).logits[0, -1]
            assert token == int(logits.argmax())
            ids.append(token)
        assert group.rollouts[0].token_ids == group.rollouts[1].token_ids


def test_a_completion_ends_with_its_first_end_of_sequence_token(policy: Policy) -> None:
    sampled = rollouts(generate(policy, group_size=64))
    stopped = [r for r in sampled if r.finish_reason == "stop"]
    cut = [r for r in sampled if r.finish_reason == "length"]
    assert stopped
    assert cut
    for rollout in stopped:
        assert rollout.token_ids[-1] in policy.eos_ids
        assert not set(rollout.token_ids[:-1]) & set(policy.eos_ids)
    for rollout in cut:
        assert len(rollout.token_ids) == 12
        assert not set(rollout.token_ids) & set(policy.eos_ids)


def test_every_listed_end_of_sequence_id_ends_a_completion(policy: Policy) -> None:
    several = Policy(policy.model, policy.tokenizer, (2, 7, 8, 9))
    ends = {r.token_ids[-1] for r in rollouts(generate(several, group_size=32))}
    assert {2, 7, 8, 9} <= ends


def test_a_sample_depends_on_its_place_alone(policy: Policy) -> None:
    together = generate(policy)
    in_parts = generate(policy, max_rows=8)
    assert [r.token_ids for r in rollouts(together)] == [r.token_ids for r in rollouts(in_parts)]
    smaller = generate(policy, UNEVEN[:2], group_size=4)
    for few, many in zip(smaller, together, strict=False):
        assert [r.token_ids for r in few.rollouts] == [r.token_ids for r in many.rollouts[:4]]


def test_every_group_is_handed_over_once_and_as_soon_as_it_has_ended(policy: Policy) -> None:
    handed: list[tuple[int, RolloutGroup]] = []
    engine = TorchRollout(policy, 8)  # two groups at a time
    groups = engine.generate(
        UNEVEN, 4, Sampling(40), (0, 5), lambda place, group: handed.append((place, group))
    )
    assert sorted(place for place, _ in handed) == [0, 1, 2]
    assert all(groups[place] is group for place, group in handed)
    longest = [max(len(r.token_ids) for r in group.rollouts) for _, group in handed[:2]]
    assert longest == sorted(longest)


def test_samples_of_a_group_differ(policy: Policy) -> None:
    for group in generate(policy):
        assert len({r.token_ids for r in group.rollouts}) > 4


def test_tokens_come_with_the_frequency_that_the_policy_gives_them(policy: Policy) -> None:
    count = 4000
    sampled = rollouts(generate(policy, UNEVEN[:1], group_size=count, tokens=1, max_rows=count))
    ids = policy.encode(UNEVEN[0])
    expected = policy.model(torch.tensor([ids])).logits[0, -1].softmax(-1)
    seen = torch.bincount(torch.tensor([r.token_ids[0] for r in sampled]), minlength=len(expected))
    # Five standard deviations of a binomial share.
    allowed = 5 * (expected * (1 - expected) / count).sqrt()
    assert bool(((seen / count - expected).abs() <= allowed).all())


def test_the_text_hides_nothing_that_was_sampled(policy: Policy) -> None:
    bos, eos = policy.tokenizer.bos_token_id, policy.eos_ids[0]
    six, box, close = policy.tokenizer("6\\boxed{}", add_special_tokens=False)["input_ids"]
    assert policy.decode((box, six, bos, six, close, eos)) == "\\boxed{6<bos>6}"
