"""What a run would do, without loading a model or asking a service."""

from __future__ import annotations

from grpo_client.config import Config, to_toml
from grpo_client.data import load_prompts


def describe(config: Config) -> str:
    """The resolved configuration as TOML, and its batch arithmetic as comments.

    Raises:
        TrainerError: the data can't be read.
    """
    prompts, heldout = load_prompts(config.data)
    rollout, train = config.rollout, config.train
    drawn = rollout.prompts_per_step * train.steps
    sequences = rollout.prompts_per_step * rollout.group_size
    tokens = sequences * rollout.max_new_tokens
    lines = [
        f"data: {len(prompts)} training prompts, {len(heldout)} held out",
        f"a step: {rollout.prompts_per_step} prompts x {rollout.group_size} completions = "
        f"{sequences} sequences, at most {tokens} sampled tokens",
        f"an update: {sequences / train.minibatches:g} sequences in micro-batches of at most "
        f"{train.micro_batch_tokens} tokens; {train.minibatches} update(s) a step",
        f"the run: {train.steps} steps, {train.steps * train.minibatches} updates, "
        f"{sequences * train.steps} verdicts, {drawn} prompts drawn = "
        f"{drawn / len(prompts):.2f} epochs",
    ]
    if config.algorithm.dynamic_sampling:
        lines.append(
            "dynamic sampling: a step samples anew while it lacks groups with a signal, so the "
            f"run may draw up to {config.algorithm.max_rounds} times as much"
        )
    return to_toml(config) + "\n" + "\n".join(f"# {line}" for line in lines)
