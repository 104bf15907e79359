"""The arithmetic task rewarded as R1-Zero's were: answer and form in equal parts.

Source: DeepSeek-R1 (arXiv 2501.12948) §2.2.2, rule-based accuracy and format rewards.
"""

from __future__ import annotations

from typing import Any

from grpo_client.recipes import arithmetic
from grpo_client.recipes.arithmetic import demonstrations, tokenizer

__all__ = ["demonstrations", "heldout_rows", "tokenizer", "train_rows"]


def train_rows() -> list[dict[str, Any]]:
    """The arithmetic task's rows, with equal weights."""
    return arithmetic.train_rows(0.5)


def heldout_rows() -> list[dict[str, Any]]:
    """The arithmetic task's held-out rows, with equal weights."""
    return arithmetic.heldout_rows(0.5)
