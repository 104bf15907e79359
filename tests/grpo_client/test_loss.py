"""The production loss against a slow float64 oracle written straight from the formulas."""

from __future__ import annotations

import math
from typing import Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grpo_client.algorithms.loss import policy_loss
from grpo_client.algorithms.weights import sequence_weights

Normalize = Literal["sequence", "token", "constant"]
MAX_TOKENS = 9


def oracle(
    new: list[list[float]],
    old: list[list[float]],
    advantages: list[float],
    normalize: Normalize,
    low: float,
    high: float,
) -> float:
    """-mean of min(r A, clip(r) A), in loops; rows have their own lengths."""
    total = 0.0
    for new_row, old_row, advantage in zip(new, old, advantages, strict=True):
        row = 0.0
        for n, o in zip(new_row, old_row, strict=True):
            ratio = math.exp(n - o)
            clipped = min(max(ratio, 1 - low), 1 + high)
            row += min(ratio * advantage, clipped * advantage)
        total += row / len(new_row) if normalize == "sequence" else row
    if normalize == "sequence":
        return -total / len(new)
    if normalize == "token":
        return -total / sum(map(len, new))
    return -total / (len(new) * MAX_TOKENS)


def production(
    new: list[list[float]],
    old: list[list[float]],
    advantages: list[float],
    normalize: Normalize,
    low: float,
    high: float,
    junk: float,
) -> torch.Tensor:
    """The same by the code that trains; padding holds `junk`."""
    lengths = [len(row) for row in new]
    width = max(lengths) + 1
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]

    def padded(rows: list[list[float]]) -> torch.Tensor:
        filled = [row + [junk] * (width - len(row)) for row in rows]
        return torch.tensor(filled, dtype=torch.float64)

    weights = sequence_weights(lengths, normalize, MAX_TOKENS)
    return policy_loss(
        padded(new),
        padded(old),
        mask,
        torch.tensor(advantages, dtype=torch.float64)[:, None],
        torch.tensor(weights, dtype=torch.float64),
        low,
        high,
    ).loss


LOGPROB = st.floats(-6, 0)


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[list[float]], list[list[float]], list[float]]:
    lengths = draw(st.lists(st.integers(1, MAX_TOKENS), min_size=1, max_size=5))
    new = [draw(st.lists(LOGPROB, min_size=n, max_size=n)) for n in lengths]
    old = [draw(st.lists(LOGPROB, min_size=n, max_size=n)) for n in lengths]
    advantages = [draw(st.floats(-3, 3)) for _ in lengths]
    return new, old, advantages


@given(
    batches(),
    st.sampled_from(["sequence", "token", "constant"]),
    st.floats(0.05, 0.5),
    st.floats(0.05, 0.5),
    st.sampled_from([0.0, -1e30, float("-inf"), float("nan")]),
)
def test_agrees_with_the_oracle_whatever_the_padding_holds(
    batch: tuple[list[list[float]], list[list[float]], list[float]],
    normalize: Normalize,
    low: float,
    high: float,
    junk: float,
) -> None:
    slow = oracle(*batch, normalize, low, high)
    assert float(production(*batch, normalize, low, high, junk)) == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize(
    ("ratio", "advantage", "gradient_flows"),
    [
        (1.3, 1.0, False),  # already raised enough
        (0.7, 1.0, True),  # good, but made less likely: must recover
        (1.3, -1.0, True),  # bad, and made likelier: must fall
        (0.7, -1.0, False),  # already lowered enough
        (1.1, 1.0, True),
    ],
)
def test_the_clip_stops_the_gradient_only_on_the_side_that_has_gone_far_enough(
    ratio: float, advantage: float, gradient_flows: bool
) -> None:
    new = torch.tensor([[math.log(ratio)]], requires_grad=True)
    one = torch.ones(1)
    result = policy_loss(
        new,
        torch.zeros(1, 1),
        torch.ones(1, 1, dtype=torch.bool),
        one[:, None] * advantage,
        one,
        0.2,
        0.2,
    )
    result.loss.backward()
    assert new.grad is not None
    assert bool(new.grad.abs() > 0) == gradient_flows
    assert int(result.clipped_high) == (not gradient_flows and advantage > 0)
    assert int(result.clipped_low) == (not gradient_flows and advantage < 0)


def test_on_policy_the_gradient_is_the_advantage_times_the_weight() -> None:
    new = torch.tensor([[-1.0, -2.0], [-3.0, 0.0]], requires_grad=True)
    mask = torch.tensor([[True, True], [True, False]])
    weights = torch.tensor(sequence_weights([2, 1], "sequence", MAX_TOKENS))
    advantages = torch.tensor([[1.5], [-0.5]])
    policy_loss(new, new.detach(), mask, advantages, weights, 0.2, 0.2).loss.backward()
    # d loss / d logprob = -A_i / (N |o_i|)
    assert new.grad is not None
    assert new.grad.tolist() == [[-0.375, -0.375], [0.25, 0.0]]


def test_an_enormous_ratio_stays_finite() -> None:
    one = torch.ones(1)
    mask = torch.ones(1, 1, dtype=torch.bool)
    result = policy_loss(
        torch.zeros(1, 1), torch.full((1, 1), -1e4), mask, -one[:, None], one, 0.2, 0.2
    )
    assert math.isfinite(float(result.loss))


def test_weights_by_hand() -> None:
    assert sequence_weights([2, 4], "sequence", 10) == [1 / 4, 1 / 8]
    assert sequence_weights([2, 4], "token", 10) == [1 / 6, 1 / 6]
    assert sequence_weights([2, 4], "constant", 10) == [1 / 20, 1 / 20]
