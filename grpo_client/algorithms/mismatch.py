"""Where the sampler is not the policy that trains: another engine, other kernels or precision.

The sampler μ gave a token some log-probability, the trainer's own forward pass of the same
weights π_old another. w = π_old/μ corrects a token's share of the gradient; it is constant,
and multiplies the policy's term alone, never the KL's.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from grpo_client.algorithms.ratio import MAX_LOG_RATIO, masked_log_ratio

Correction = Literal["none", "truncate", "mask", "sequence_mask"]


def mismatch_weights(
    old_logprobs_NT: Tensor,
    sampler_logprobs_NT: Tensor,
    mask_NT: Tensor,
    correction: Correction,
    low: float,
    high: float,
) -> Tensor:
    """[N, T] factors of the policy term, detached; 0 where masked.

    `none`: 1 · `truncate`: min(w_t, high) · `mask`: w_t where low <= w_t <= high, else 0 ·
    `sequence_mask`: w_t in sequences whose geometric mean of w lies in the bounds, else 0.
    What a correction removes stays in the loss's normaliser: the others are not raised for it.

    Args:
        old_logprobs_NT: of the trainer's policy before the step.
        sampler_logprobs_NT: as the engine reported them when it sampled.
        mask_NT: true where there is a token.
        correction: which.
        low: least w that is kept; of no effect in `truncate`.
        high: largest w that is kept, or the cap.

    Source: truncated importance sampling, Yao et al. 2025 ("Your efficient RL framework
    secretly brings you off-policy RL training"); masks, IcePop (Ling team 2025).
    """
    log_w_NT = masked_log_ratio(old_logprobs_NT.detach(), sampler_logprobs_NT, mask_NT)
    w_NT = log_w_NT.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
    if correction == "none":
        w_NT = torch.ones_like(w_NT)
    elif correction == "truncate":
        w_NT = w_NT.clamp(max=high)
    elif correction == "mask":
        w_NT = torch.where((w_NT >= low) & (w_NT <= high), w_NT, 0.0)
    else:
        lengths_N1 = mask_NT.sum(-1, keepdim=True).clamp(min=1)
        mean_N1 = (log_w_NT.sum(-1, keepdim=True) / lengths_N1).exp()
        w_NT = torch.where((mean_N1 >= low) & (mean_N1 <= high), w_NT, 0.0)
    return torch.where(mask_NT, w_NT, 0.0)
