from __future__ import annotations

from pathlib import Path
from statistics import fmean

import peft
import pytest
import torch

from grpo_client.errors import ModelError
from grpo_client.model.load import Policy, load_policy
from grpo_client.model.logprobs import Sequences
from grpo_client.model.reference import Reference
from grpo_client.rollout.base import Sampling
from grpo_client.rollout.torch import TorchRollout
from tests.grpo_client.conftest import MakeConfig
from tests.grpo_client.tiny import accuracies, make_trainer, run

IDS = torch.tensor([[1, 7, 8, 9]])


@torch.no_grad()
def logits(policy: Policy) -> torch.Tensor:
    return policy.model(input_ids=IDS).logits


def moved(policy: Policy) -> None:
    for name, parameter in policy.model.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(parameter, std=0.1, generator=torch.Generator().manual_seed(3))


def test_new_adapters_change_nothing_and_alone_are_trained(make_config: MakeConfig) -> None:
    plain, adapted = (load_policy(make_config(*o)) for o in ([], ["model.lora.rank=4"]))
    torch.testing.assert_close(logits(adapted), logits(plain))
    trained = [n for n, p in adapted.model.named_parameters() if p.requires_grad]
    assert trained
    assert all("lora_" in name for name in trained)
    assert not any("lm_head" in name for name in trained)


def test_only_the_named_layers_get_one(make_config: MakeConfig) -> None:
    policy = load_policy(make_config("model.lora.targets=['q_proj', 'v_proj']"))
    layers = {n.split(".")[-4] for n, p in policy.model.named_parameters() if p.requires_grad}
    assert layers == {"q_proj", "v_proj"}
    with pytest.raises(ModelError, match="can't add adapters"):
        load_policy(make_config("model.lora.targets=['nowhere']"))


def test_a_step_moves_every_adapter_and_nothing_else() -> None:
    trainer = make_trainer("model.lora.rank=4")
    before = {n: p.detach().clone() for n, p in trainer.policy.model.named_parameters()}
    run(trainer, 2)  # in the first, A has no gradient yet: B is zero
    changed = {
        n for n, p in trainer.policy.model.named_parameters() if not torch.equal(p, before[n])
    }
    assert changed == {n for n in before if "lora_" in n}


def test_adapters_alone_learn_what_is_rewarded() -> None:
    trainer = make_trainer("model.lora.rank=8", "train.learning_rate=0.02")
    with torch.no_grad():  # as it is built, the frozen head can't prefer a token by much
        trainer.policy.model.get_output_embeddings().weight.mul_(20)
    seen = accuracies(trainer, 40)
    assert seen[0] < 0.25
    assert fmean(seen[-5:]) > 0.9


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft's own
def test_what_is_saved_is_what_peft_itself_loads(make_config: MakeConfig, tmp_path: Path) -> None:
    policy = load_policy(make_config("model.lora.rank=4"))
    moved(policy)
    policy.save(tmp_path)
    again = load_policy(make_config("model.lora.rank=4"), tmp_path)
    torch.testing.assert_close(logits(again), logits(policy))
    theirs = peft.PeftModel.from_pretrained(load_policy(make_config()).model, str(tmp_path))
    with torch.no_grad():
        torch.testing.assert_close(theirs(input_ids=IDS).logits, logits(policy))


def test_adapters_of_another_shape_or_without_a_place_are_refused(
    make_config: MakeConfig, tmp_path: Path
) -> None:
    load_policy(make_config("model.lora.rank=4")).save(tmp_path)
    with pytest.raises(ModelError, match="don't fit"):
        load_policy(make_config("model.lora.rank=8"), tmp_path)
    with pytest.raises(ModelError, match="holds adapters alone"):
        load_policy(make_config(), tmp_path)


@pytest.mark.parametrize("override", ["seed=0", "model.lora.rank=4"], ids=["whole", "adapters"])
def test_the_reference_is_the_start_until_it_is_renewed(
    make_config: MakeConfig, override: str
) -> None:
    policy = load_policy(make_config(override))
    moved(policy)  # a run may start from trained adapters: switching them off would be wrong
    start = logits(policy)
    reference = Reference(policy.model)
    with torch.no_grad():
        for parameter in policy.model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.01)
    trained = logits(policy)
    assert not torch.allclose(trained, start)
    with reference.in_place():
        torch.testing.assert_close(logits(policy), start, rtol=0, atol=0)
    torch.testing.assert_close(logits(policy), trained, rtol=0, atol=0)
    reference.renew()
    with reference.in_place():
        torch.testing.assert_close(logits(policy), trained, rtol=0, atol=0)


def sequences(policy: Policy) -> Sequences:
    return Sequences.of([[1, 7, 8], [1, 9]], [[4, 5, 2], [6]], policy.pad_id)


def gradients(policy: Policy) -> list[torch.Tensor]:
    policy.logprobs(sequences(policy), 1.0)[0].sum().backward()
    return [p.grad for p in policy.model.parameters() if p.grad is not None]


def test_recomputing_changes_no_gradient_and_keeps_the_cache_of_sampling(
    make_config: MakeConfig,
) -> None:
    plain, frugal = (load_policy(make_config(*o)) for o in ([], ["model.checkpointing=true"]))
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    frugal.model.base_model.layers[0].mlp.register_forward_pre_hook(count)
    torch.testing.assert_close(gradients(frugal), gradients(plain))
    assert calls == 2  # once forth, and once more on the way back
    assert not any(module.training for module in frugal.model.modules())
    out = frugal.model(input_ids=IDS, use_cache=True)
    assert out.past_key_values.get_seq_length() == IDS.shape[1]


def test_autocast_multiplies_in_bfloat16_and_keeps_weights_and_gradients_in_float32(
    make_config: MakeConfig,
) -> None:
    plain, mixed = (load_policy(make_config(*o)) for o in ([], ["model.autocast=bfloat16"]))
    seen: set[torch.dtype] = set()
    mixed.model.base_model.layers[0].mlp.register_forward_hook(
        lambda m, i, out: seen.add(out.dtype)
    )
    exact, rough = gradients(plain), gradients(mixed)
    assert seen == {torch.bfloat16}
    seen.clear()
    TorchRollout(mixed, 8).generate([make_trainer().prompts[0]], 2, Sampling(2), (0,))
    assert seen == {torch.bfloat16}
    assert {p.dtype for p in mixed.model.parameters()} == {torch.float32}
    assert {g.dtype for g in rough} == {torch.float32}
    torch.testing.assert_close(rough, exact, rtol=0.1, atol=0.1)
    one, other = (p.logprobs(sequences(p), 1.0)[0] for p in (plain, mixed))
    assert other.dtype == torch.float32
    torch.testing.assert_close(other, one, rtol=0.02, atol=0.02)
    assert not torch.equal(other, one)


def test_a_template_surrounds_plain_prompts(make_config: MakeConfig) -> None:
    policy = load_policy(make_config("data.template='{prompt}<think>'"))
    shown = policy.encode(make_trainer().prompts[12])
    assert policy.tokenizer.decode(shown[1:]) == "1+2=<think>"
