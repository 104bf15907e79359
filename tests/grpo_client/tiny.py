"""Whole trainers of a tiny policy, for a task that is learnt in seconds: answer "7" at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from grpo_client.config import load_config
from grpo_client.model.load import load_policy
from grpo_client.reward import VerifierReward
from grpo_client.rollout.torch import TorchRollout
from grpo_client.train.checkpoint import newest_checkpoint, restore, save_checkpoint
from grpo_client.train.loop import Trainer
from tests.grpo_client.conftest import TINY, prompt
from tests.grpo_client.fakes import FakeVerifier, Judge
from verifier_server.client import Item

PROMPTS = [prompt(f"{a}+{b}=", 10 * a + b) for a in range(10) for b in range(10)]
SETTINGS = [
    *TINY,
    "rollout.max_new_tokens=2",
    "rollout.prompts_per_step=8",
    "train.learning_rate=5e-3",
    "train.warmup_steps=2",
    "reward.max_unscored_share=1",
]


def says_seven(item: Item) -> float:
    return float(item.completion_text.startswith("7"))


def make_trainer(*overrides: str, judge: Judge = says_seven, folder: Path | None = None) -> Trainer:
    config = load_config(None, [*SETTINGS, *overrides])
    policy = load_policy(config, folder)
    reward = VerifierReward(FakeVerifier(judge), config.reward)
    return Trainer(config, policy, TorchRollout(policy, 512), reward, PROMPTS)


def resumed(out: Path, *overrides: str, judge: Judge = says_seven) -> Trainer:
    """A new trainer from the newest checkpoint of another."""
    folder = newest_checkpoint(out)
    assert folder is not None
    trainer = make_trainer(*overrides, judge=judge, folder=folder)
    restore(trainer, folder)
    return trainer


def run(trainer: Trainer, steps: int, out: Path | None = None) -> list[dict[str, float]]:
    """The rows of so many steps; with a folder, a checkpoint after each."""
    rows = []
    for _ in range(steps):
        rows.append(trainer.run_step().row())
        if out:
            save_checkpoint(trainer, out)
    return rows


def accuracies(trainer: Trainer, steps: int) -> list[float]:
    return [trainer.run_step().row()["accuracy"] for _ in range(steps)]


def weights(trainer: Trainer) -> list[torch.Tensor]:
    return [p.detach().clone() for p in trainer.policy.model.parameters()]


def same(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
