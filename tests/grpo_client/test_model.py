"""Models other than the recipe's own, loaded from a folder as Hugging Face saves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import CohereConfig, CohereForCausalLM, GPT2Config, GPT2LMHeadModel

from grpo_client.config import Config, load_config
from grpo_client.errors import ModelError
from grpo_client.model.load import load_policy
from grpo_client.model.logprobs import Sequences, token_logprobs
from grpo_client.model.reference import Reference
from grpo_client.recipes.arithmetic import tokenizer
from grpo_client.rollout.base import Sampling
from grpo_client.rollout.torch import TorchRollout
from grpo_client.types import Prompt
from tests.grpo_client.conftest import prompt

SIZES = {"vocab_size": 20, "eos_token_id": 2, "pad_token_id": 0, "bos_token_id": 1}


def saved(model: Any, folder: Path) -> Config:
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return load_config(None, ["data.train=unused.jsonl", f"model.path='{folder}'"])


def gpt2(folder: Path, **generation: Any) -> Config:
    model = GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=64, **SIZES))
    for name, value in generation.items():
        setattr(model.generation_config, name, value)
    return saved(model, folder)


def test_absolute_positions_survive_padding_on_the_left(tmp_path: Path) -> None:
    policy = load_policy(gpt2(tmp_path))
    prompts = [prompt("12+34="), prompt("7=", 1)]
    groups = TorchRollout(policy, 64).generate(prompts, 4, Sampling(10), (0,))
    sampled = [(g.prompt_ids, r) for g in groups for r in g.rollouts]
    sequences = Sequences.of([p for p, _ in sampled], [r.token_ids for _, r in sampled], 0)
    forced, _ = token_logprobs(policy.model, sequences, 1.0)
    for row, (_, rollout) in zip(forced.tolist(), sampled, strict=True):
        assert row[: len(rollout.logprobs)] == pytest.approx(rollout.logprobs, abs=1e-5)


def test_a_tied_head_follows_the_reference_and_stays_tied(tmp_path: Path) -> None:
    model = load_policy(gpt2(tmp_path)).model
    ids = torch.tensor([[1, 5, 7]])
    with torch.no_grad():
        start = model(ids).logits
        reference = Reference(model)
        model.get_input_embeddings().weight.add_(0.5)
        with reference.in_place():
            assert torch.equal(model(ids).logits, start)
        assert not torch.equal(model(ids).logits, start)
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


def test_every_end_of_sequence_id_of_the_generation_config_counts(tmp_path: Path) -> None:
    assert load_policy(gpt2(tmp_path, eos_token_id=[5, 7])).eos_ids == (5, 7, 2)


def test_a_model_that_changes_its_logits_after_the_head_is_refused(tmp_path: Path) -> None:
    config = CohereConfig(
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        logit_scale=0.0625,
        **SIZES,
    )
    with pytest.raises(ModelError, match="CohereForCausalLM changes its logits"):
        load_policy(saved(CohereForCausalLM(config), tmp_path))


def test_a_folder_without_a_model_is_refused_by_name(tmp_path: Path) -> None:
    config = load_config(None, ["data.train=unused.jsonl", f"model.path='{tmp_path}'"])
    with pytest.raises(ModelError, match=r"can't load a model from .*model\.path is a"):
        load_policy(config)


def test_messages_need_a_chat_template_and_use_it(tmp_path: Path) -> None:
    policy = load_policy(gpt2(tmp_path))
    chat = Prompt(0, [{"role": "user", "content": "1+2="}], "math", {})
    with pytest.raises(ModelError, match="no chat template"):
        policy.encode(chat)
    opened = "{% if add_generation_prompt %}<think>{% endif %}"
    policy.tokenizer.chat_template = "{{ messages[0]['content'] }}" + opened
    assert policy.tokenizer.decode(policy.encode(chat)).endswith("1+2=<think>")
