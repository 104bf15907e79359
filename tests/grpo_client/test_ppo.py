from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from grpo_client.algorithms.ppo import gae, value_loss, whiten
from grpo_client.model.critic import Critic, completion_values
from grpo_client.model.load import Policy
from grpo_client.model.logprobs import Sequences


def test_three_tokens_by_hand() -> None:
    # d = .9·.4 - .5, .9·.2 - .4, 1 - .2 = -.14, -.22, .8 and A_t = d_t + .72 A_{t+1}
    advantages, returns = gae(1.0, [0.5, 0.4, 0.2], 0.9, 0.8)
    assert advantages == pytest.approx([0.11632, 0.356, 0.8])
    assert returns == pytest.approx([0.61632, 0.756, 1.0])


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_double_sum(seed: int) -> None:
    rng = random.Random(seed)
    gamma, lam, reward = rng.random(), rng.random(), rng.random()
    values = [rng.uniform(-1, 1) for _ in range(6)]
    following = [*values[1:], 0.0]
    deltas = [gamma * n - v for v, n in zip(values, following, strict=True)]
    deltas[-1] += reward
    expected = [
        sum((gamma * lam) ** (k - t) * deltas[k] for k in range(t, len(values)))
        for t in range(len(values))
    ]
    assert gae(reward, values, gamma, lam)[0] == pytest.approx(expected)


def test_without_discount_an_advantage_is_the_reward_minus_the_value() -> None:
    advantages, returns = gae(1.0, [0.25, 0.5], 1.0, 1.0)
    assert advantages == [0.75, 0.5]
    assert returns == [1.0, 1.0]


def test_whitening_is_over_all_tokens_and_equal_ones_teach_nothing() -> None:
    rows = whiten([[1.0, 2.0, 6.0], [3.0]])
    flat = np.array([a for row in rows for a in row])
    assert flat.mean() == pytest.approx(0)
    assert flat.std() == pytest.approx(1)
    assert [len(row) for row in rows] == [3, 1]
    assert whiten([[0.1 + 0.2], [0.3]]) == [[0.0], [0.0]]
    assert whiten([]) == []


@pytest.mark.parametrize(
    ("value", "loss", "flows"),
    [
        (0.6, 0.5 * 0.4**2, True),  # near the old 0.5
        (0.9, 0.5 * 0.3**2, False),  # past old + 0.2, towards the return: held
        (0.1, 0.5 * 0.9**2, True),  # past old - 0.2, away from it: must come back
    ],
)
def test_a_value_is_held_only_once_it_has_gone_far_enough(
    value: float, loss: float, flows: bool
) -> None:
    values = torch.tensor([[value, 7.0]], requires_grad=True)
    mask = torch.tensor([[True, False]])
    old, returns = torch.tensor([[0.5, 0.0]]), torch.tensor([[1.0, 0.0]])
    result = value_loss(values, old, returns, mask, 0.2, 1)
    assert float(result.detach()) == pytest.approx(loss)
    result.backward()
    assert values.grad is not None
    assert bool(values.grad[0, 0] != 0) == flows
    assert values.grad[0, 1] == 0


def test_a_value_is_read_before_its_token_is_known(policy: Policy) -> None:
    """Of [p p p | a b c] the values of a, b, c are the head's at the third p, at a and at b."""
    critic = Critic(policy)
    torch.nn.init.normal_(critic.head.weight)
    prompts, completions = [[1, 7, 8], [1, 9]], [[4, 5, 2], [6]]
    sequences = Sequences.of(prompts, completions, policy.pad_id)
    rows = completion_values(critic, sequences)
    for prompt, completion, row in zip(prompts, completions, rows, strict=True):
        ids = torch.tensor([[*prompt, *completion]])
        with torch.no_grad():
            plain = critic.head(critic.body(input_ids=ids)[0])[0, :, 0].tolist()
        start = len(prompt) - 1
        assert row == pytest.approx(plain[start : start + len(completion)], abs=1e-5)


def test_a_new_critic_says_nothing_yet_and_shares_no_weight_with_the_policy(policy: Policy) -> None:
    critic = Critic(policy)
    sequences = Sequences.of([[1, 7]], [[4, 5]], policy.pad_id)
    assert completion_values(critic, sequences) == [[0.0, 0.0]]
    own = {p.data_ptr() for p in critic.parameters()}
    assert not own & {p.data_ptr() for p in policy.model.parameters()}
