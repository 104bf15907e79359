from __future__ import annotations

import math

import pytest
import torch

from grpo_client.algorithms.loss import policy_loss
from grpo_client.algorithms.mismatch import mismatch_weights

OLD = torch.log(torch.tensor([[0.5, 0.5, 0.5], [0.2, 0.3, 1.0]]))
SAMPLER = torch.log(torch.tensor([[0.5, 0.1, 1.0], [0.4, 0.1, 0.7]]))
MASK = torch.tensor([[True, True, True], [True, True, False]])
# w = old / sampler: 1, 5, ½ and ½, 3


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        ("none", [[1, 1, 1], [1, 1, 0]]),
        ("truncate", [[1, 2, 0.5], [0.5, 2, 0]]),
        ("mask", [[1, 0, 0.5], [0.5, 0, 0]]),
        # geometric means: (1 · 5 · ½)^⅓ = 1.357 and (½ · 3)^½ = 1.225
        ("sequence_mask", [[1, 5, 0.5], [0.5, 3, 0]]),
    ],
)
def test_by_hand(correction: str, expected: list[list[float]]) -> None:
    weights = mismatch_weights(OLD, SAMPLER, MASK, correction, 0.5 - 1e-6, 2.0)  # type: ignore[arg-type]
    assert weights.tolist() == [pytest.approx(row) for row in expected]


def test_a_sequence_is_dropped_by_its_geometric_mean_not_by_its_length() -> None:
    """0.012 a token over 200 tokens is a product of 11, and no reason to drop the sequence."""
    sampler = torch.zeros(2, 200)
    old = torch.stack([torch.full((200,), 0.012), torch.full((200,), 0.4)])
    mask = torch.ones(2, 200, dtype=torch.bool)
    weights = mismatch_weights(old, sampler, mask, "sequence_mask", 0.8, 1.25)
    assert bool((weights[0] > 0).all())
    assert bool((weights[1] == 0).all())


def test_no_gradient_flows_through_the_correction_and_none_reaches_a_dropped_token() -> None:
    new = OLD.clone().requires_grad_()
    weights = mismatch_weights(new, SAMPLER, MASK, "mask", 0.4, 2.0)
    assert not weights.requires_grad
    ones = torch.ones(2, 1)
    part = policy_loss(new, new.detach(), MASK, ones, ones[:, 0], 0.2, 0.2, corrections_NT=weights)
    part.loss.backward()
    assert new.grad is not None
    # -A · w: what is dropped has none, and the others are not raised for it.
    assert new.grad.tolist() == [pytest.approx([-1, 0, -0.5]), pytest.approx([-0.5, 0, 0])]


def test_an_enormous_mismatch_stays_finite() -> None:
    one = torch.ones(1, 1, dtype=torch.bool)
    weight = mismatch_weights(torch.zeros(1, 1), torch.full((1, 1), -1e4), one, "mask", 0, 1e30)
    assert math.isfinite(float(weight))
