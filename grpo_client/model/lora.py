"""Low-rank adapters, by peft, inside the model: it keeps its class and all that it can do.

Saved in peft's own format, which other tools load on top of the base model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from grpo_client.config import LoraConfig
from grpo_client.errors import ModelError

ADAPTER_CONFIG = "adapter_config.json"
_WEIGHTS = "adapter_model.safetensors"
_PREFIX, _NAME = "base_model.model.", ".default"  # what peft adds in a file, and in a model


def add_lora(model: Any, config: LoraConfig, seed: int) -> None:
    """Freezes the model and gives it adapters that are trained instead.

    They begin as the identity.

    Args:
        model: a Hugging Face causal LM; changed in place.
        config: rank, scale, layers.
        seed: of the adapters' weights.

    Raises:
        ModelError: peft is not installed, or no layer has such a name.
    """
    try:
        import peft
    except ImportError:
        raise ModelError(
            "model.lora needs peft", remedy="pip install 'answerkey[lora]', or drop model.lora"
        ) from None
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            peft.inject_adapter_in_model(_peft_config(peft, config), model)
    except ValueError as error:
        raise ModelError(f"can't add adapters: {error}", remedy="see model.lora") from error
    model.eval()


def save_lora(model: Any, config: LoraConfig, base: str, folder: Path) -> None:
    """Writes the adapters alone.

    Args:
        model: has adapters by `add_lora`.
        config: their shape.
        base: the model that they belong to, by folder or hub name; may be empty.
        folder: exists.
    """
    import peft

    settings = _peft_config(peft, config)
    settings.base_model_name_or_path = base
    settings.inference_mode = True
    settings.save_pretrained(str(folder))
    save_file(_adapters(model), folder / _WEIGHTS)


@torch.no_grad()
def load_lora(model: Any, folder: Path) -> None:
    """Puts saved weights into a model that has adapters of the same shape.

    Raises:
        ModelError: the files don't fit.
    """
    try:
        saved = load_file(folder / _WEIGHTS)
        for name, adapter in _adapters(model).items():
            adapter.copy_(saved[name])
    except (OSError, KeyError, RuntimeError, SafetensorError) as error:
        raise ModelError(
            f"the adapters in {folder} don't fit: {error}", remedy="see model.lora"
        ) from error


def _adapters(model: Any) -> dict[str, Tensor]:
    """Every adapter's weights, under the names that they have in a file."""
    return {
        _PREFIX + name.replace(f"{_NAME}.", "."): parameter.detach()
        for name, parameter in model.named_parameters()
        if ".lora_" in name
    }


def _peft_config(peft: Any, config: LoraConfig) -> Any:
    return peft.LoraConfig(
        r=config.rank,
        lora_alpha=config.alpha,
        target_modules=config.targets if config.targets == "all-linear" else list(config.targets),
        lora_dropout=0.0,
        task_type="CAUSAL_LM",
    )
