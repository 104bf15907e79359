"""The one policy loss: clipped ratios in a weighted sum. Presets differ in its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from grpo_client.algorithms.ratio import MAX_LOG_RATIO, log_ratios


@dataclass(frozen=True, slots=True)
class PolicyLoss:
    """A micro-batch's part of the step's loss, and sums for its metrics.

    Attributes:
        loss: scalar, differentiable.
        clipped_low: tokens whose gradient the lower bound ended, given the advantage's sign.
        clipped_high: tokens whose gradient the upper bound ended.
        kl: Σ (old - new) log-prob over tokens: an estimate of KL(old ‖ new) when divided.
        max_log_ratio: the largest |log r| of all tokens.
    """

    loss: Tensor
    clipped_low: Tensor
    clipped_high: Tensor
    kl: Tensor
    max_log_ratio: Tensor


def policy_loss(
    logprobs_NT: Tensor,
    old_logprobs_NT: Tensor,
    mask_NT: Tensor,
    advantages_NT: Tensor,
    weights_N: Tensor,
    clip_low: float,
    clip_high: float,
    *,
    ratio: Literal["token", "sequence"] = "token",
    corrections_NT: Tensor | None = None,
) -> PolicyLoss:
    """-Σ w_i · m_it · c_it · min(r_it A_it, clip(r_it, 1-clip_low, 1+clip_high) A_it).

    r_it is the ratio of the new policy to the one that sampled, of the token or of the whole
    sequence; the latter is the same at each token, so that a sequence's weights add up to
    one term of min(s_i A_i, …).

    Args:
        logprobs_NT: of the policy being trained.
        old_logprobs_NT: of the policy that sampled; constant.
        mask_NT: true where there is a token. What is outside never enters, not even as NaN.
        advantages_NT: of each token, or [N, 1] of each sequence.
        weights_N: of each token of a sequence, by `sequence_weights` over the whole step.
        clip_low: how far below 1 the ratio may move before its gradient ends.
        clip_high: how far above 1.
        ratio: of the `token` (PPO, GRPO, Dr. GRPO, DAPO) or the `sequence` (GSPO).
        corrections_NT: c, by `mismatch_weights`; None is 1.

    Source: PPO (arXiv 1707.06347 eq. 7) with DAPO's two bounds (arXiv 2503.14476 eq. 8);
    `sequence`: GSPO (arXiv 2507.18071 eq. 5).
    """
    log_ratio_NT = log_ratios(logprobs_NT, old_logprobs_NT, mask_NT, ratio)
    ratio_NT = log_ratio_NT.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
    advantages_NT = torch.where(mask_NT, advantages_NT, 0.0)
    free_NT = ratio_NT * advantages_NT
    bound_NT = ratio_NT.clamp(1 - clip_low, 1 + clip_high) * advantages_NT
    weights_NT = torch.where(mask_NT, weights_N[:, None], 0.0)
    if corrections_NT is not None:
        weights_NT = weights_NT * corrections_NT
    held_NT = (bound_NT < free_NT) & mask_NT
    detached_NT = log_ratio_NT.detach()
    return PolicyLoss(
        loss=-(torch.minimum(free_NT, bound_NT) * weights_NT).sum(),
        clipped_low=(held_NT & (advantages_NT < 0)).sum(),
        clipped_high=(held_NT & (advantages_NT > 0)).sum(),
        kl=-detached_NT.sum(),
        max_log_ratio=detached_NT.abs().max(),
    )
