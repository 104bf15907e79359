"""Checkpoints: a folder that is whole or not there, and that any Hugging Face tool loads.

    step-000110/   model.safetensors, config.json, tokenizer…    the policy (or its adapters)
                   optimizer.safetensors                         AdamW's moments
                   critic.safetensors, critic_optimizer.…        PPO's critic
                   reference.safetensors                         what the KL is measured from
                   trainer.json                                  step, counts, place in the data,
                                                                 groups left over, configuration

Nothing random needs saving: every draw is a function of the seed and the step.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from grpo_client.errors import TrainerError
from grpo_client.train.learner import Learner
from grpo_client.train.loop import Trainer
from grpo_client.types import Prompt

BASE = "base"
"""The folder of the policy that training began with, where no model.path names it."""

_PREFIX = "step-"
_CRITIC, _REFERENCE = "critic", "reference"


def save_checkpoint(trainer: Trainer, out: Path) -> Path:
    """Writes a checkpoint of the step that is finished; returns its folder.

    It is written beside its place and renamed, so that a crash leaves the last one intact.
    A step's checkpoint is a function of the run: one that is there already stays.
    """
    folder = out / f"{_PREFIX}{trainer.step:06d}"
    if folder.exists():
        return folder
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    trainer.policy.save(partial)
    for name, tensors in _tensors(trainer.learner).items():
        save_file(tensors, partial / f"{name}.safetensors")
    state = {
        "step": trainer.step,
        "optimizer_steps": {n: o.steps for n, o in trainer.learner.optimizers().items()},
        "collector": trainer.collector.state(),
        "data_hash": _data_hash(trainer.prompts),
        "config": asdict(trainer.config),
    }
    (partial / "trainer.json").write_text(json.dumps(state, indent=2))
    for path in partial.iterdir():
        _sync(path)
    partial.rename(folder)
    _sync(out)
    return folder


def newest_checkpoint(out: Path) -> Path | None:
    """The checkpoint of the highest step in a run's folder."""
    return max(out.glob(f"{_PREFIX}*"), default=None)


def checkpoint_step(folder: Path) -> int:
    """Training steps that a checkpoint has behind it, by its name."""
    return int(folder.name.removeprefix(_PREFIX))


def delete_checkpoints(out: Path) -> None:
    """Removes every checkpoint of a run's folder."""
    for folder in out.glob(f"{_PREFIX}*"):
        shutil.rmtree(folder)


def restore(trainer: Trainer, folder: Path) -> None:
    """Puts everything but the policy, which is loaded from it, where the checkpoint left it.

    Raises:
        TrainerError: the folder is no checkpoint of such a run, or the data has changed.
    """
    try:
        state = json.loads((folder / "trainer.json").read_text())
        _load_learner(trainer.learner, folder, state)
        trainer.collector.load_state(state["collector"])
        trainer.step = state["step"]
    except (OSError, ValueError, KeyError, SafetensorError, ValidationError) as error:
        raise TrainerError(
            f"{folder} is no checkpoint of such a run: {error}",
            remedy="resume with the run's own configuration, or train without --resume",
        ) from error
    if state["data_hash"] != _data_hash(trainer.prompts):
        raise TrainerError(
            f"the training data is not that of {folder}: a place in it means nothing now",
            remedy="put the data back, or start anew in another out=…",
        )


def _tensors(learner: Learner) -> dict[str, dict[str, Tensor]]:
    files = {name: o.state_tensors() for name, o in learner.optimizers().items()}
    if learner.critic is not None:
        files[_CRITIC] = learner.critic.state_dict()
    if learner.reference is not None:
        files[_REFERENCE] = learner.reference.state_tensors()
    return files


def _load_learner(learner: Learner, folder: Path, state: dict[str, Any]) -> None:
    for name, optimizer in learner.optimizers().items():
        tensors = load_file(folder / f"{name}.safetensors")
        optimizer.load_state_tensors(tensors, state["optimizer_steps"][name])
    if learner.critic is not None:
        learner.critic.load_state_dict(load_file(folder / f"{_CRITIC}.safetensors"))
    if learner.reference is not None:
        learner.reference.load_state_tensors(load_file(folder / f"{_REFERENCE}.safetensors"))


def _data_hash(prompts: Sequence[Prompt]) -> str:
    digest = hashlib.sha256()
    for prompt in prompts:
        digest.update(json.dumps(asdict(prompt), sort_keys=True).encode())
    return digest.hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
