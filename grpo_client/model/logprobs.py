"""Log-probabilities of given completions, without ever holding logits of a whole batch.

Only positions that predict a completion token pass through the output head, in chunks that
are recomputed on the way back where more than one is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

# Logits in float32 that exist at a time: 64 MiB of them.
CHUNK_ELEMENTS = 1 << 24


@dataclass(frozen=True, slots=True)
class Sequences:
    """Prompts with their completions, padded on the right.

    Attributes:
        input_ids_NS: [N, S] prompt then completion then padding.
        prompt_lengths: [N] tokens.
        mask_NT: [N, T] true where a completion has a token; by lengths, never by ids.
    """

    input_ids_NS: Tensor
    prompt_lengths: Tensor
    mask_NT: Tensor

    @classmethod
    def of(
        cls,
        prompts: Sequence[Sequence[int]],
        completions: Sequence[Sequence[int]],
        pad_id: int,
        device: torch.device | str = "cpu",
    ) -> Sequences:
        """Lays out one row for each prompt and completion."""
        rows = [[*p, *c] for p, c in zip(prompts, completions, strict=True)]
        width = max(map(len, rows))
        ids = torch.tensor([row + [pad_id] * (width - len(row)) for row in rows])
        lengths = torch.tensor([len(c) for c in completions])
        mask = torch.arange(int(lengths.max())) < lengths[:, None]
        starts = torch.tensor([len(p) for p in prompts])
        return cls(ids.to(device), starts.to(device), mask.to(device))


def token_logprobs(model: Any, sequences: Sequences, temperature: float) -> tuple[Tensor, Tensor]:
    """Log-probability of every completion token, and the policy's entropy there.

    Args:
        model: a Hugging Face causal LM.
        sequences: what to score; causal attention makes padding on the right harmless.
        temperature: divides the logits, as it did in sampling.

    Returns:
        logprobs_NT (differentiable) and entropy_NT (detached, nats); 0 where masked.
    """
    rows, offsets = sequences.mask_NT.nonzero(as_tuple=True)
    positions = sequences.prompt_lengths[rows] + offsets
    targets_M = sequences.input_ids_NS[rows, positions]
    hidden_NSH = model.base_model(input_ids=sequences.input_ids_NS, use_cache=False)[0]
    # The state at one position predicts the token at the next.
    hidden_MH = hidden_NSH[rows, positions - 1]
    head = model.get_output_embeddings()
    logprobs_M, entropy_M = _in_chunks(head, hidden_MH, targets_M, temperature)
    shape = sequences.mask_NT.shape
    index = (rows, offsets)
    return (
        logprobs_M.new_zeros(shape).index_put(index, logprobs_M),
        entropy_M.new_zeros(shape).index_put(index, entropy_M),
    )


def _in_chunks(
    head: Any, hidden_MH: Tensor, targets_M: Tensor, temperature: float
) -> tuple[Tensor, Tensor]:
    size = max(1, CHUNK_ELEMENTS // head.weight.shape[0])
    if len(targets_M) <= size:
        return _selected(head, hidden_MH, targets_M, temperature)
    chunks = [
        checkpoint(_selected, head, hidden, targets, temperature, use_reentrant=False)
        for hidden, targets in zip(
            torch.split(hidden_MH, size), torch.split(targets_M, size), strict=True
        )
    ]
    logprobs, entropy = zip(*chunks, strict=True)
    return torch.cat(logprobs), torch.cat(entropy)


def _selected(
    head: Any, hidden_MH: Tensor, targets_M: Tensor, temperature: float
) -> tuple[Tensor, Tensor]:
    logits_MV = head(hidden_MH)
    # logsumexp in bfloat16 is not accurate.
    logits_MV = logits_MV.to(torch.promote_types(logits_MV.dtype, torch.float32)) / temperature
    total_M = logits_MV.logsumexp(-1)
    logprobs_M = logits_MV.gather(-1, targets_M[:, None])[:, 0] - total_M
    with torch.no_grad():
        mean_logit_M = (logits_MV.softmax(-1) * logits_MV).sum(-1)
        entropy_M = total_M.detach() - mean_logit_M
    return logprobs_M, entropy_M
