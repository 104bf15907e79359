"""Low-rank adapters, by peft, inside the model: it keeps its class and all that it can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from grpo_client.config import LoraConfig
from grpo_client.errors import ModelError

ADAPTER_FILE = "adapter_config.json"


def add_lora(model: Any, config: LoraConfig, folder: Path | None, seed: int) -> None:
    """Freezes the model and gives it adapters that are trained instead.

    Args:
        model: a Hugging Face causal LM; changed in place.
        config: rank, scale, layers.
        folder: where earlier adapters were saved; without one they begin as the identity.
        seed: of new adapters' weights.

    Raises:
        ModelError: peft is not installed, or no layer has such a name.
    """
    try:
        import peft
    except ImportError:
        raise ModelError(
            "model.lora needs peft", remedy="pip install 'answerkey[lora]', or drop model.lora"
        ) from None
    targets = config.targets if config.targets == "all-linear" else list(config.targets)
    settings = peft.LoraConfig(
        r=config.rank,
        lora_alpha=config.alpha,  # type: ignore[arg-type]  # a float does as well
        target_modules=targets,
        lora_dropout=0.0,
        task_type="CAUSAL_LM",
    )
    try:
        if folder is None:
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                model.add_adapter(settings)
        else:
            model.load_adapter(str(folder), is_trainable=True)
    except (OSError, ValueError) as error:
        raise ModelError(f"can't add adapters: {error}", remedy="see model.lora") from error
    model.eval()
