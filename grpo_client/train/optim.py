"""AdamW with its schedule, and the one guard every update passes."""

from __future__ import annotations

from typing import Any

import torch

from grpo_client.config import TrainConfig
from grpo_client.errors import NotFinite


class Optimizer:
    """AdamW with a linear warm-up and, if asked for, a linear decay.

    Args:
        model: whose trainable parameters are updated.
        learning_rate: after the warm-up.
        warmup_steps: optimiser steps until then.
        decay_steps: the optimiser step at which the rate is back at 0; None keeps it.
        betas, weight_decay: of AdamW.
        max_grad_norm: gradients are scaled down to it.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        *,
        learning_rate: float,
        warmup_steps: int,
        decay_steps: int | None = None,
        betas: tuple[float, float],
        weight_decay: float,
        max_grad_norm: float,
    ) -> None:
        self.named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
        self.steps = 0
        self._parameters = [parameter for _, parameter in self.named]
        self._rate, self._max_norm = learning_rate, max_grad_norm
        self._warmup_steps, self._decay_steps = warmup_steps, decay_steps
        self.adamw = torch.optim.AdamW(
            self._parameters, lr=learning_rate, betas=betas, weight_decay=weight_decay
        )

    def step(self) -> float:
        """Updates by the gradients gathered so far, clears them, returns their norm.

        Raises:
            NotFinite: the norm is NaN or infinite; nothing is updated.
        """
        norm = float(torch.nn.utils.clip_grad_norm_(self._parameters, self._max_norm))
        if not norm < float("inf"):
            raise NotFinite(
                f"the gradient norm is {norm} at optimiser step {self.steps + 1}",
                remedy="lower the learning rate, or look for NaN in the model's weights",
            )
        for group in self.adamw.param_groups:
            group["lr"] = self._rate * self._share_of_rate()
        self.steps += 1
        self.adamw.step()
        self.adamw.zero_grad(set_to_none=True)
        return norm

    def _share_of_rate(self) -> float:
        warmed = min(1.0, (self.steps + 1) / max(1, self._warmup_steps))
        if self._decay_steps is None:
            return warmed
        return min(warmed, max(0.0, 1 - self.steps / self._decay_steps))

    def state_tensors(self) -> dict[str, torch.Tensor]:
        """Moments and step counts by `<parameter>/<name>`."""
        state = self.adamw.state
        return {
            f"{name}/{key}": value
            for name, parameter in self.named
            for key, value in state.get(parameter, {}).items()
        }

    def load_state_tensors(self, tensors: dict[str, torch.Tensor], steps: int) -> None:
        """The inverse of `state_tensors`, after `steps` optimiser steps."""
        parameters = dict(self.named)
        for path, value in tensors.items():
            name, _, key = path.rpartition("/")
            state: dict[str, Any] = self.adamw.state[parameters[name]]
            state[key] = value
        self.steps = steps


def adamw_of(model: torch.nn.Module, config: TrainConfig, learning_rate: float) -> Optimizer:
    """The optimiser of a run, at a rate of its own."""
    decays = config.schedule == "linear"
    return Optimizer(
        model,
        learning_rate=learning_rate,
        warmup_steps=config.warmup_steps,
        decay_steps=config.steps * config.minibatches if decays else None,
        betas=(config.beta1, config.beta2),
        weight_decay=config.weight_decay,
        max_grad_norm=config.max_grad_norm,
    )
