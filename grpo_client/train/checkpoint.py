"""Checkpoints: a folder that is whole or not there, and that any Hugging Face tool loads.

    step-000110/   model.safetensors, config.json, tokenizer…    the policy
                   optimizer.safetensors                         AdamW's moments
                   trainer.json                                  step, counts, configuration

Nothing random needs saving: every draw is a function of the seed and the step.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from grpo_client.errors import TrainerError
from grpo_client.train.loop import Trainer

_PREFIX = "step-"


def save_checkpoint(trainer: Trainer, out: Path) -> Path:
    """Writes a checkpoint of the step that is finished; returns its folder.

    It is written beside its place and renamed, so that a crash leaves the last one intact.
    """
    folder = out / f"{_PREFIX}{trainer.step:06d}"
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    trainer.policy.model.save_pretrained(partial)
    trainer.policy.tokenizer.save_pretrained(partial)
    save_file(trainer.optimizer.state_tensors(), partial / "optimizer.safetensors")
    state = {
        "step": trainer.step,
        "optimizer_steps": trainer.optimizer.steps,
        "config": asdict(trainer.config),
    }
    (partial / "trainer.json").write_text(json.dumps(state, indent=2))
    for path in partial.iterdir():
        _sync(path)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    _sync(out)
    return folder


def newest_checkpoint(out: Path) -> Path | None:
    """The checkpoint of the highest step in a run's folder."""
    return max(out.glob(f"{_PREFIX}*"), default=None)


def delete_checkpoints(out: Path) -> None:
    """Removes every checkpoint of a run's folder."""
    for folder in out.glob(f"{_PREFIX}*"):
        shutil.rmtree(folder)


def restore(trainer: Trainer, folder: Path) -> None:
    """Puts optimiser and step where the checkpoint left them; the policy is loaded from it.

    Raises:
        TrainerError: the folder is no checkpoint.
    """
    try:
        state = json.loads((folder / "trainer.json").read_text())
        tensors = load_file(folder / "optimizer.safetensors")
        trainer.optimizer.load_state_tensors(tensors, state["optimizer_steps"])
        trainer.step = state["step"]
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise TrainerError(
            f"{folder} is no checkpoint: {error}", remedy="train without --resume to start anew"
        ) from error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
