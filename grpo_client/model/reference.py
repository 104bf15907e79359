"""A frozen earlier state of the policy, to measure the distance from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


class Reference:
    """A copy of the trainable weights, put in the model's place for as long as it is asked.

    With adapters the copy is as small as they are, and it is right also where a run starts
    from trained ones; with a whole model it costs what a frozen second one would.

    Args:
        model: its present weights become the reference.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
        self._copies = [p.detach().clone() for _, p in self._named]

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """While entered the model is the reference. No gradient may be taken meanwhile."""
        own = [parameter.data for _, parameter in self._named]
        self._put(self._copies)
        try:
            yield
        finally:
            self._put(own)

    def renew(self) -> None:
        """The present weights become the reference."""
        for (_, parameter), copy in zip(self._named, self._copies, strict=True):
            copy.copy_(parameter.detach())

    def state_tensors(self) -> dict[str, Tensor]:
        """The reference's weights by name."""
        return {name: copy for (name, _), copy in zip(self._named, self._copies, strict=True)}

    def load_state_tensors(self, tensors: dict[str, Tensor]) -> None:
        """The inverse of `state_tensors`."""
        for name, copy in self.state_tensors().items():
            copy.copy_(tensors[name])

    def _put(self, weights: list[Tensor]) -> None:
        for (_, parameter), tensor in zip(self._named, weights, strict=True):
            parameter.data = tensor
