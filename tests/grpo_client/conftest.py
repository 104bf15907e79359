"""A tiny policy over the arithmetic recipe's alphabet, and groups made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch

from grpo_client.config import Config, load_config
from grpo_client.model.load import Policy, load_policy
from grpo_client.types import Prompt, Reward, Rollout, RolloutGroup

TINY = [
    "data.recipe=arithmetic",
    "model.new.hidden_size=32",
    "model.new.layers=2",
    "model.new.heads=2",
    "model.new.feed_forward_size=48",
    "rollout.max_new_tokens=12",
]

MakeConfig = Callable[..., Config]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def make_config() -> MakeConfig:
    return lambda *overrides: load_config(None, [*TINY, *overrides])


@pytest.fixture
def policy(make_config: MakeConfig) -> Policy:
    return load_policy(make_config())


def prompt(text: str = "12+34=", ordinal: int = 0) -> Prompt:
    return Prompt(ordinal, text, "math", {"answer": "46"})


def group(
    values: Sequence[float | None],
    lengths: Sequence[int] | None = None,
    prompt_ids: Sequence[int] = (1, 7, 8),
) -> RolloutGroup:
    """A scored group; token ids and log-probs are arbitrary but distinct."""
    sizes = lengths or [3] * len(values)
    rollouts = tuple(
        Rollout(tuple(4 + (i + t) % 15 for t in range(size)), (-1.0,) * size, "stop", "")
        for i, size in enumerate(sizes)
    )
    rewards = tuple(
        Reward(v, v, "checker_error" if v is None else "accepted", None if v is None else "1")
        for v in values
    )
    return RolloutGroup(prompt(), tuple(prompt_ids), rollouts, rewards)
