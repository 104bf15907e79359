"""A short supervised phase: enough skill that some of a group's completions are right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from grpo_client.config import WarmStartConfig
from grpo_client.model.load import Policy
from grpo_client.model.logprobs import Sequences
from grpo_client.train.optim import Optimizer

_PURPOSE = 10


def warm_start(
    policy: Policy,
    demonstrations: Sequence[tuple[str, str]],
    config: WarmStartConfig,
    seed: int,
    measure_pass_at_1: Callable[[int], float],
) -> None:
    """Trains on (prompt, completion) pairs until held-out pass@1 reaches the goal.

    Args:
        policy: trained in place.
        demonstrations: what to imitate; `<eos>` is added here.
        config: steps, goal and optimiser.
        seed: of the order.
        measure_pass_at_1: measures the policy as it is, given the step; called now and then.
    """
    rows = [_tokens(policy, prompt, completion) for prompt, completion in demonstrations]
    optimizer = Optimizer(
        policy.model,
        learning_rate=config.learning_rate,
        warmup_steps=config.warmup_steps,
        betas=(0.9, 0.999),
        weight_decay=0.0,
        max_grad_norm=config.max_grad_norm,
    )
    for step in range(1, config.max_steps + 1):
        picked = np.random.default_rng([seed, _PURPOSE, step]).integers(
            len(rows), size=config.batch_size
        )
        prompts, completions = zip(*(rows[i] for i in picked), strict=True)
        sequences = Sequences.of(prompts, completions, policy.pad_id, policy.model.device)
        logprobs, _ = policy.logprobs(sequences, 1.0)
        loss = -logprobs.sum() / sequences.mask_NT.sum()
        torch.autograd.backward(loss)
        optimizer.step()
        due = step >= config.evaluate_from and step % config.evaluate_every == 0
        if due and measure_pass_at_1(step) >= config.stop_at_pass_1:
            return


def _tokens(policy: Policy, prompt: str, completion: str) -> tuple[list[int], list[int]]:
    tokenizer = policy.tokenizer
    target = tokenizer(completion, add_special_tokens=False)["input_ids"]
    return list(tokenizer(prompt)["input_ids"]), [*target, policy.eos_ids[0]]
