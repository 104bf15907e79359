"""The estimators by enumeration: over three tokens every expectation is a sum."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from grpo_client.algorithms.kl import Estimator, kl_estimates, kl_penalty

THETA = torch.tensor([0.3, -1.1, 0.8], dtype=torch.float64)
REFERENCE = torch.tensor([-0.4, 0.5, 0.2], dtype=torch.float64).log_softmax(0)
OLD = torch.tensor([0.9, 0.1, -0.6], dtype=torch.float64).log_softmax(0)
ONE = torch.ones(1, dtype=torch.float64)
MASK = torch.ones(1, 1, dtype=torch.bool)


def reverse_kl(theta: Tensor) -> Tensor:
    log_p = theta.log_softmax(0)
    return (log_p.exp() * (log_p - REFERENCE)).sum()


def forward_kl(theta: Tensor) -> Tensor:
    return (REFERENCE.exp() * (REFERENCE - theta.log_softmax(0))).sum()


def gradient(function: Callable[[Tensor], Tensor]) -> list[float]:
    theta = THETA.clone().requires_grad_()
    return torch.autograd.grad(function(theta), theta)[0].tolist()


def expected(estimator: Estimator, sampler: Tensor | None, weighted: bool) -> Callable[..., Tensor]:
    """The mean of the penalty over what `sampler` (None: the policy itself) would sample."""

    def mean(theta: Tensor) -> Tensor:
        log_p = theta.log_softmax(0)
        source = log_p.detach() if sampler is None else sampler
        terms = [
            source[v].exp()
            * kl_penalty(
                log_p[v].view(1, 1),
                REFERENCE[v].view(1, 1),
                MASK,
                ONE,
                estimator,
                source[v].view(1, 1) if weighted else None,
            )
            for v in range(3)
        ]
        return torch.stack(terms).sum()

    return mean


@pytest.mark.parametrize("estimator", ["k1", "k3"])
def test_k1_and_k3_have_the_kl_as_their_mean(estimator: Estimator) -> None:
    value = expected(estimator, None, False)(THETA)
    assert float(value) == pytest.approx(float(reverse_kl(THETA)))


def test_on_policy_without_the_weight_each_has_the_gradient_that_is_told_of_it() -> None:
    assert gradient(expected("k1", None, False)) == pytest.approx([0, 0, 0], abs=1e-12)
    assert gradient(expected("k2", None, False)) == pytest.approx(gradient(reverse_kl))
    assert gradient(expected("k3", None, False)) == pytest.approx(gradient(forward_kl))


@pytest.mark.parametrize("estimator", ["k1", "k3"])
@pytest.mark.parametrize("sampler", [None, OLD], ids=["on-policy", "off-policy"])
def test_weighted_by_the_ratio_value_and_gradient_are_the_kls(
    estimator: Estimator, sampler: Tensor | None
) -> None:
    mean = expected(estimator, sampler, True)
    assert float(mean(THETA)) == pytest.approx(float(reverse_kl(THETA)))
    assert gradient(mean) == pytest.approx(gradient(reverse_kl))


def test_by_hand() -> None:
    new, reference = torch.tensor([[-1.0]]), torch.tensor([[-1.5]])
    values = [float(kl_estimates(new, reference, MASK, k)) for k in ("k1", "k2", "k3")]
    assert values == pytest.approx([0.5, 0.125, math.exp(-0.5) - 1 + 0.5])


def test_what_is_masked_never_enters_and_a_huge_distance_stays_finite() -> None:
    new = torch.tensor([[-1.0, float("nan")]], requires_grad=True)
    mask = torch.tensor([[True, False]])
    for estimator in ("k1", "k2", "k3"):
        reference = torch.tensor([[500.0, float("-inf")]])
        loss = kl_penalty(new, reference, mask, torch.ones(1), estimator, new.detach())
        assert math.isfinite(float(loss.detach()))
        (grad,) = torch.autograd.grad(loss, new)
        assert grad[0, 1] == 0
        assert math.isfinite(float(grad[0, 0]))
