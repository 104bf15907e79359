"""Ratios of two policies at the tokens that were sampled."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

# exp(20) is past any clip, and finite in float32.
MAX_LOG_RATIO = 20.0


def masked_log_ratio(new_NT: Tensor, old_NT: Tensor, mask_NT: Tensor) -> Tensor:
    """Log new - log old, and 0 where masked: what padding holds never enters, not even NaN."""
    return torch.where(mask_NT, new_NT - old_NT, 0.0)


def log_ratios(
    new_NT: Tensor, old_NT: Tensor, mask_NT: Tensor, kind: Literal["token", "sequence"]
) -> Tensor:
    """[N, T] logarithms of the importance ratio that each token's loss is built on.

    `token`: log π_new - log π_old of the token itself. `sequence`: its mean over the whole
    completion, (1/|o_i|) Σ_t m_it (…), the same at each of its tokens.

    Source: `sequence` is log s_i of GSPO (arXiv 2507.18071) eq. 7.
    """
    log_ratio_NT = masked_log_ratio(new_NT, old_NT, mask_NT)
    if kind == "token":
        return log_ratio_NT
    mean_N1 = log_ratio_NT.sum(-1, keepdim=True) / mask_NT.sum(-1, keepdim=True).clamp(min=1)
    return torch.where(mask_NT, mean_N1, 0.0)
