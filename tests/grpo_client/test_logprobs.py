from __future__ import annotations

import pytest
import torch

from grpo_client.model import logprobs
from grpo_client.model.load import Policy
from grpo_client.model.logprobs import Sequences, token_logprobs

PROMPTS = [[1, 7, 8], [1, 9], [1, 5, 6, 7]]
COMPLETIONS = [[4, 5, 2], [6], [8, 9, 10, 11, 2]]


@torch.no_grad()
def plain(policy: Policy, temperature: float) -> list[list[float]]:
    """Row by row, without padding, over the whole vocabulary."""
    rows = []
    for prompt, completion in zip(PROMPTS, COMPLETIONS, strict=True):
        logits = policy.model(torch.tensor([[*prompt, *completion]]), use_cache=False).logits[0]
        table = (logits.double() / temperature).log_softmax(-1)
        first = len(prompt) - 1
        rows.append([float(table[first + t, token]) for t, token in enumerate(completion)])
    return rows


def sequences(policy: Policy) -> Sequences:
    return Sequences.of(PROMPTS, COMPLETIONS, policy.pad_id)


@pytest.mark.parametrize("temperature", [1.0, 0.7, 1.9])
def test_equals_a_plain_forward_of_each_row(policy: Policy, temperature: float) -> None:
    values, _ = token_logprobs(policy.model, sequences(policy), temperature)
    for row, expected in zip(values.tolist(), plain(policy, temperature), strict=True):
        assert row[: len(expected)] == pytest.approx(expected, abs=1e-5)
        assert row[len(expected) :] == [0.0] * (len(row) - len(expected))


@torch.no_grad()
def test_entropy_is_that_of_the_tempered_distribution(policy: Policy) -> None:
    _, entropy = token_logprobs(policy.model, sequences(policy), 0.7)
    logits = policy.model(torch.tensor([[1, 9]]), use_cache=False).logits[0, -1]
    expected = torch.distributions.Categorical(logits=logits / 0.7).entropy()
    assert float(entropy[1, 0]) == pytest.approx(float(expected), abs=1e-5)


def test_chunks_change_neither_values_nor_gradients(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> tuple[torch.Tensor, list[torch.Tensor]]:
        policy.model.zero_grad()
        values, _ = token_logprobs(policy.model, sequences(policy), 0.7)
        values.square().sum().backward()
        return values.detach(), [p.grad.clone() for p in policy.model.parameters()]

    whole, whole_gradients = run()
    monkeypatch.setattr(logprobs, "CHUNK_ELEMENTS", 2 * len(policy.tokenizer))
    cut, cut_gradients = run()
    torch.testing.assert_close(cut, whole)
    torch.testing.assert_close(cut_gradients, whole_gradients)


@torch.no_grad()
def test_padding_is_told_by_length_even_where_it_looks_like_a_token(policy: Policy) -> None:
    """A pad id equal to the end of sequence must not hide the end from the loss."""
    eos = policy.eos_ids[0]
    values, _ = token_logprobs(policy.model, Sequences.of(PROMPTS, COMPLETIONS, eos), 1.0)
    expected, _ = token_logprobs(policy.model, sequences(policy), 1.0)
    torch.testing.assert_close(values, expected)
    assert float(values[0, 2]) != 0
