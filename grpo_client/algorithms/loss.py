"""The policy loss: clipped ratios, one weighted sum."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# exp(20) is past any clip, and finite in float32.
_MAX_LOG_RATIO = 20.0


@dataclass(frozen=True, slots=True)
class PolicyLoss:
    """A micro-batch's part of the step's loss, and sums for its metrics.

    Attributes:
        loss: scalar, differentiable.
        clipped: tokens at which the clip is what counts, given the advantage's sign.
        kl: Σ (old - new) log-prob over tokens: an estimate of KL(old ‖ new) when divided.
    """

    loss: Tensor
    clipped: Tensor
    kl: Tensor


def policy_loss(
    logprobs_NT: Tensor,
    old_logprobs_NT: Tensor,
    mask_NT: Tensor,
    advantages_N: Tensor,
    weights_N: Tensor,
    clip_low: float,
    clip_high: float,
) -> PolicyLoss:
    """-Σ w_i · m_it · min(r_it A_i, clip(r_it, 1-clip_low, 1+clip_high) A_i).

    r_it = exp(logprob - old logprob) is the ratio of the new to the sampling policy.

    Args:
        logprobs_NT: of the policy being trained.
        old_logprobs_NT: of the policy that sampled; constant.
        mask_NT: true where there is a token. What is outside never enters, not even as NaN.
        advantages_N: of each sequence.
        weights_N: of each token of a sequence, by `sequence_weights` over the whole step.
        clip_low: how far below 1 the ratio may move before its gradient ends.
        clip_high: how far above 1.

    Source: PPO (arXiv 1707.06347 eq. 7) with DAPO's two bounds (arXiv 2503.14476 eq. 8).
    """
    log_ratio_NT = torch.where(mask_NT, logprobs_NT - old_logprobs_NT, 0.0)
    ratio_NT = log_ratio_NT.clamp(-_MAX_LOG_RATIO, _MAX_LOG_RATIO).exp()
    advantages_N1 = advantages_N[:, None]
    free_NT = ratio_NT * advantages_N1
    bound_NT = ratio_NT.clamp(1 - clip_low, 1 + clip_high) * advantages_N1
    weights_NT = torch.where(mask_NT, weights_N[:, None], 0.0)
    return PolicyLoss(
        loss=-(torch.minimum(free_NT, bound_NT) * weights_NT).sum(),
        clipped=((bound_NT < free_NT) & mask_NT).sum(),
        kl=-log_ratio_NT.detach().sum(),
    )
