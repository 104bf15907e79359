"""The policy: loaded from a folder or built anew, and what must be known about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

from grpo_client.config import Config, LoraConfig, NewModelConfig
from grpo_client.errors import ModelError
from grpo_client.model.logprobs import Sequences, token_logprobs
from grpo_client.model.lora import ADAPTER_CONFIG, add_lora, load_lora, save_lora
from grpo_client.model.passes import precision, recomputed
from grpo_client.recipes import find_recipe
from grpo_client.types import Prompt, Text


@dataclass(frozen=True, slots=True)
class Policy:
    """A causal LM with its tokenizer.

    Attributes:
        model: any Hugging Face causal LM.
        tokenizer: its tokenizer.
        eos_ids: every id that ends a completion.
        autocast: dtype of matrix products, "off" for that of the weights.
        checkpointing: whether layers recompute on the way back.
        template: what the model is shown of a plain prompt, `{prompt}` in it.
        lora: shape of the adapters, if these are what is trained.
        base: folder or hub name of the model below them.
    """

    model: Any
    tokenizer: Any
    eos_ids: tuple[int, ...]
    autocast: str = "off"
    checkpointing: bool = False
    template: str = "{prompt}"
    lora: LoraConfig | None = None
    base: str = ""

    @property
    def pad_id(self) -> int:
        """Fills unused positions; never read, so any valid id will do."""
        pad = self.tokenizer.pad_token_id
        return self.eos_ids[0] if pad is None else int(pad)

    def encode(self, prompt: Prompt) -> tuple[int, ...]:
        """The tokens of a prompt; chat messages go through the model's chat template.

        Raises:
            ModelError: messages, but the tokenizer has no chat template.
        """
        text = prompt.text
        if isinstance(text, str):
            text = self.template.replace("{prompt}", text)
        return tuple(_encode(self.tokenizer, text))

    def save(self, folder: Path) -> None:
        """Writes weights (or the adapters alone) and tokenizer as Hugging Face tools read them."""
        if self.lora:
            save_lora(self.model, self.lora, self.base, folder)
        else:
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def logprobs(self, sequences: Sequences, temperature: float) -> tuple[Tensor, Tensor]:
        """logprobs_NT and entropy_NT of completions; see `token_logprobs`."""
        with precision(self.model, self.autocast), recomputed(self.model, self.checkpointing):
            return token_logprobs(self.model, sequences, temperature)

    def decode(self, token_ids: tuple[int, ...]) -> str:
        """The text of a completion, without the end-of-sequence token.

        Other special tokens stay: a text that hides part of what was sampled could earn a
        reward that the sampled tokens did not.
        """
        ids = token_ids[:-1] if token_ids[-1] in self.eos_ids else token_ids
        return str(
            self.tokenizer.decode(
                list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
            )
        )


def load_policy(config: Config, folder: Path | None = None) -> Policy:
    """The policy that a run starts from; a new one has weights by `config.seed`.

    Args:
        config: model, device, seed.
        folder: weights to take instead of `config.model`'s (a checkpoint), or adapters to
            put into it.

    Raises:
        ModelError: it can't be loaded, or it is not fit to be trained: nothing ends its
            completions, or its logits are not simply its output head's.
    """
    settings = config.model
    adapters = folder if folder and (folder / ADAPTER_CONFIG).exists() else None
    whole = None if adapters else folder
    if whole is None and settings.new is not None:
        tokenizer = find_recipe(config.data.recipe).tokenizer()
        model = _new_llama(settings.new, tokenizer, config.seed)
    else:
        model, tokenizer = _pretrained(str(whole or settings.path))
    device = settings.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device=device, dtype=getattr(torch, settings.dtype))
    model.eval()  # no dropout: log-probs at training must be those at sampling
    _require_plain_head(model)
    if settings.lora:
        add_lora(model, settings.lora, config.seed)
        if adapters:
            load_lora(model, adapters)
    elif adapters:
        raise ModelError(
            f"{adapters} holds adapters alone", remedy="set [model.lora] as they have it"
        )
    return Policy(
        model,
        tokenizer,
        _eos_ids(model, tokenizer),
        settings.autocast,
        settings.checkpointing,
        config.data.template,
        settings.lora,
        settings.path,
    )


def _new_llama(sizes: NewModelConfig, tokenizer: Any, seed: int) -> Any:
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=sizes.hidden_size,
        intermediate_size=sizes.feed_forward_size,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.heads,
        max_position_embeddings=sizes.max_positions,
        tie_word_embeddings=False,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)


def _pretrained(path: str) -> tuple[Any, Any]:
    try:
        return AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"can't load a model from {path!r}: {error}",
            remedy="model.path is a Hugging Face folder or hub name",
        ) from error


@torch.no_grad()
def _require_plain_head(model: Any) -> None:
    """Training takes logits from the head alone; a model may scale or cap them on top."""
    ids = torch.arange(2, device=model.device)[None]
    hidden = model.base_model(input_ids=ids, use_cache=False)[0]
    logits = model(input_ids=ids, use_cache=False).logits
    if not torch.allclose(model.get_output_embeddings()(hidden), logits, rtol=1e-3, atol=1e-3):
        raise ModelError(
            f"{type(model).__name__} changes its logits after the output head (scale or soft "
            "cap), which this trainer does not reproduce",
            remedy="use a model without them",
        )


def _eos_ids(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """All that may end a completion: chat models often list more than the tokenizer's one."""
    listed = getattr(model.generation_config, "eos_token_id", None)
    ids = [] if listed is None else [listed] if isinstance(listed, int) else list(listed)
    if tokenizer.eos_token_id is not None:
        ids.append(int(tokenizer.eos_token_id))
    if not ids:
        raise ModelError(
            "neither the tokenizer nor the generation config names an end-of-sequence token",
            remedy="set eos_token_id in the model's generation_config.json",
        )
    return tuple(dict.fromkeys(ids))


def _encode(tokenizer: Any, text: Text) -> list[int]:
    if isinstance(text, str):
        return list(tokenizer(text)["input_ids"])
    if not tokenizer.chat_template:
        raise ModelError(
            "a prompt has chat messages, but the tokenizer has no chat template",
            remedy="write prompts as plain strings for this model",
        )
    ids = tokenizer.apply_chat_template(text, add_generation_prompt=True, return_dict=False)
    return list(ids)
