"""The protocol that every way of sampling completions follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from grpo_client.types import Prompt, RolloutGroup


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample. There is no top-p or top-k: a cut distribution biases the ratios.

    Attributes:
        max_new_tokens: a completion is cut off here.
        temperature: divides the logits; 0 takes the likeliest token, with log-probs at 1.
    """

    max_new_tokens: int
    temperature: float = 1.0


OnGroup = Callable[[int, RolloutGroup], None]
"""Takes a group, and its prompt's place in the call, as soon as its last member has ended."""


class RolloutEngine(Protocol):
    """Samples from the policy as it is at the time of the call."""

    def generate(
        self,
        prompts: Sequence[Prompt],
        group_size: int,
        sampling: Sampling,
        key: tuple[int, ...],
        on_group: OnGroup | None = None,
    ) -> list[RolloutGroup]:
        """`group_size` completions of each prompt, unscored, in the prompts' order.

        Args:
            prompts: what to complete.
            group_size: G.
            sampling: lengths and temperature.
            key: seed; with a sample's place it fixes that sample's randomness, whatever else
                is generated beside it.
            on_group: called once for every group, in the order in which they end.
        """
