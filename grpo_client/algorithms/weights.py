"""What a token's loss is multiplied by, computed once for a whole optimiser step.

With the normaliser folded into the weights the loss is one masked sum, and a sum doesn't
change with the way it is cut into micro-batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal


def sequence_weights(
    lengths: Sequence[int], normalize: Literal["sequence", "token", "constant"], max_tokens: int
) -> list[float]:
    """The weight that every token of a sequence has in the loss.

    Args:
        lengths: [N] completion tokens of every scored sequence of the step, those with
            advantage 0 included: they belong to the mean though they add nothing to the sum.
        normalize: `sequence` 1/(N·|o_i|) · `token` 1/Σ|o_i| · `constant` 1/(N·max_tokens).
        max_tokens: the configured length limit, never the width of a padded batch.

    Source: GRPO (DeepSeekMath eq. 3), DAPO (arXiv 2503.14476 eq. 8, over the whole batch),
    Dr. GRPO (arXiv 2503.20783 §3, its released implementation).
    """
    count = len(lengths)
    if normalize == "sequence":
        return [1.0 / (count * length) for length in lengths]
    total = sum(lengths) if normalize == "token" else count * max_tokens
    return [1.0 / total] * count
