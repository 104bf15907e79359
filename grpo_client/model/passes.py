"""How a forward pass is computed: its precision, and what it keeps for the way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint
from transformers.modeling_layers import GradientCheckpointingLayer


@contextmanager
def precision(model: Any, autocast: str) -> Iterator[None]:
    """Matrix products in bfloat16 if asked for; the weights stay as they are.

    Sampling and training must share it, or their log-probabilities differ.
    """
    if autocast == "off":
        yield
        return
    # No cache of cast weights: they change between the passes.
    with torch.autocast(model.device.type, torch.bfloat16, cache_enabled=False):
        yield


@contextmanager
def recomputed(module: torch.nn.Module, wanted: bool) -> Iterator[None]:
    """If wanted, layers keep their inputs alone and compute the rest anew on the way back.

    The layers must believe that they train, or they don't recompute; their children must not,
    or they drop activations at random.
    """
    layers: list[Any] = [m for m in module.modules() if isinstance(m, GradientCheckpointingLayer)]
    for layer in layers if wanted else ():
        layer._gradient_checkpointing_func = partial(checkpoint, use_reentrant=False)
        layer.gradient_checkpointing = layer.training = True
    try:
        yield
    finally:
        for layer in layers:
            layer.gradient_checkpointing = layer.training = False
