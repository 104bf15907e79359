"""PPO's critic: a model of the policy's size that says how the reward will turn out."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from grpo_client.model.load import Policy
from grpo_client.model.logprobs import Sequences


class Critic(nn.Module):
    """A copy of the policy with one output in place of the vocabulary; it starts at 0.

    Args:
        policy: its present weights are copied.
    """

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.body: Any = copy.deepcopy(policy.model.base_model)
        weight = policy.model.get_output_embeddings().weight
        self.head = nn.Linear(weight.shape[1], 1, device=weight.device, dtype=weight.dtype)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        self.eval()

    def forward(self, sequences: Sequences) -> Tensor:
        """values_NT: the value of what precedes each completion token; 0 where masked."""
        rows, offsets = sequences.mask_NT.nonzero(as_tuple=True)
        hidden_NSH = self.body(input_ids=sequences.input_ids_NS, use_cache=False)[0]
        # The value of token t is read where t is not yet known: at the position before it.
        positions = sequences.prompt_lengths[rows] + offsets - 1
        values_M: Tensor = self.head(hidden_NSH[rows, positions])[:, 0].float()
        return values_M.new_zeros(sequences.mask_NT.shape).index_put((rows, offsets), values_M)


@torch.no_grad()
def completion_values(critic: Critic, sequences: Sequences) -> list[list[float]]:
    """The values of each completion's tokens, in the rows' order."""
    lengths = sequences.mask_NT.sum(-1).tolist()
    values = critic(sequences).tolist()
    return [row[:length] for row, length in zip(values, lengths, strict=True)]
