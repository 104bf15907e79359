"""The distance of the policy from a reference, token by token.

With x = log π_θ - log π_ref at a sampled token, all three estimate KL(π_θ ‖ π_ref) from
samples of π_θ:

    k1 = x                 unbiased; its gradient alone has expectation zero
    k2 = x²/2              biased, low variance; its gradient is that of the KL
    k3 = e^(-x) - 1 + x    unbiased, never negative; its gradient is that of KL(π_ref ‖ π_θ)

Weighted by the ratio π_θ/π_old, through which the gradient flows too, k1 and k3 have the
KL's own gradient, also where another policy sampled.

Source: Schulman 2020, "Approximating KL divergence"; k3 in DeepSeekMath (arXiv 2402.03300)
eq. 4; the weight in DeepSeek-V3.2 (arXiv 2512.02556) §3.1.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from grpo_client.algorithms.ratio import MAX_LOG_RATIO, masked_log_ratio

Estimator = Literal["k1", "k2", "k3"]


def kl_estimates(
    logprobs_NT: Tensor, reference_logprobs_NT: Tensor, mask_NT: Tensor, estimator: Estimator
) -> Tensor:
    """[N, T] estimates, 0 where masked; differentiable in `logprobs_NT`."""
    x_NT = masked_log_ratio(logprobs_NT, reference_logprobs_NT, mask_NT)
    if estimator == "k1":
        return x_NT
    if estimator == "k2":
        return x_NT.square() / 2
    return torch.expm1((-x_NT).clamp(max=MAX_LOG_RATIO)) + x_NT


def kl_penalty(
    logprobs_NT: Tensor,
    reference_logprobs_NT: Tensor,
    mask_NT: Tensor,
    weights_N: Tensor,
    estimator: Estimator,
    old_logprobs_NT: Tensor | None = None,
) -> Tensor:
    """Σ w_i · m_it · k_it, or with old log-probs Σ w_i · m_it · r_it · k_it; a scalar.

    Args:
        logprobs_NT: of the policy being trained.
        reference_logprobs_NT: of the reference; constant.
        mask_NT: true where there is a token.
        weights_N: of each token of a sequence, as in the policy's loss.
        estimator: which k.
        old_logprobs_NT: of the policy that sampled, for the off-policy weight r.
    """
    k_NT = kl_estimates(logprobs_NT, reference_logprobs_NT, mask_NT, estimator)
    if old_logprobs_NT is not None:
        log_ratio_NT = masked_log_ratio(logprobs_NT, old_logprobs_NT, mask_NT)
        k_NT = k_NT * log_ratio_NT.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
    return (k_NT * torch.where(mask_NT, weights_N[:, None], 0.0)).sum()
