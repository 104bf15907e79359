"""Puts a training run together: data, service, policy, warm start, loop, what it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from grpo_client.cli.process import prepare_process
from grpo_client.cli.service import open_reward
from grpo_client.config import Config, to_toml
from grpo_client.data import load_prompts
from grpo_client.errors import RewardError, TrainerError
from grpo_client.evaluate.runner import evaluate
from grpo_client.model.load import Policy, load_policy
from grpo_client.monitors.jsonl import FILE_NAME, JsonlMonitor, read_rows
from grpo_client.monitors.plot import plot_run
from grpo_client.monitors.text import eval_line, step_line, terminal_curve
from grpo_client.recipes import find_recipe
from grpo_client.reward import VerifierReward
from grpo_client.rollout.base import RolloutEngine
from grpo_client.rollout.torch import TorchRollout
from grpo_client.train.checkpoint import (
    BASE,
    checkpoint_step,
    delete_checkpoints,
    newest_checkpoint,
    restore,
    save_checkpoint,
)
from grpo_client.train.interrupt import StopRequest, stop_on_interrupt
from grpo_client.train.loop import Trainer, train
from grpo_client.train.metrics import StepMetrics
from grpo_client.train.warmstart import warm_start
from grpo_client.types import Prompt
from verifier_server.client import ClientError

# Evaluations by purpose: fresh samples for each, whatever training draws.
_WARM, _PROBE, _FINAL = 20, 21, 22


def run_training(config: Config, *, local: bool, resume: bool, overwrite: bool) -> None:
    """Trains and evaluates; leaves checkpoints, metrics.jsonl and curve.png in `config.out`.

    Args:
        config: the whole run.
        local: start a verifier service for it.
        resume: go on from the newest checkpoint in `config.out`.
        overwrite: delete the checkpoints of an earlier run there, and start anew.

    Raises:
        TrainerError, ClientError: with the remedy.
        KeyboardInterrupt: the user stopped it; a checkpoint of the last whole step is saved.
    """
    prepare_process(config)
    out = Path(config.out)
    checkpoint = _starting_point(out, resume=resume, overwrite=overwrite)
    prompts, heldout = load_prompts(config.data)
    with open_reward(config.reward, [*prompts, *heldout], local=local) as reward:
        policy = load_policy(config, checkpoint)
        engine = TorchRollout(policy, config.rollout.max_rows)
        _Run(config, policy, engine, reward, prompts, heldout, JsonlMonitor(out)).go(checkpoint)


@dataclass(slots=True)
class _Run:
    config: Config
    policy: Policy
    engine: RolloutEngine
    reward: VerifierReward
    prompts: Sequence[Prompt]
    heldout: Sequence[Prompt]
    monitor: JsonlMonitor

    @property
    def out(self) -> Path:
        return Path(self.config.out)

    def go(self, checkpoint: Path | None) -> None:
        self.monitor.start(checkpoint_step(checkpoint) if checkpoint else 0)
        (self.out / "config.toml").write_text(to_toml(self.config))
        if checkpoint is None:
            self._prepare_policy()
        trainer = Trainer(self.config, self.policy, self.engine, self.reward, self.prompts)
        if checkpoint:
            restore(trainer, checkpoint)
        with stop_on_interrupt(lambda text: typer.echo(text, err=True)) as request:
            try:
                train(trainer, after_step=lambda m: self._after_step(trainer, m, request))
            except (RewardError, ClientError):
                self._save(trainer)  # a step that could not be scored has not touched the policy
                raise
        self._save(trainer)
        if request.asked:
            raise KeyboardInterrupt
        if self.heldout:
            self._evaluate("eval", _FINAL, trainer.step)
            self._show()

    def _prepare_policy(self) -> None:
        """The warm start, the base that the run will be compared with, its first evaluation."""
        config = self.config
        if config.warm_start.max_steps:
            typer.echo(f"warm start: supervised, at most {config.warm_start.max_steps} steps")
            warm_start(
                self.policy,
                find_recipe(config.data.recipe).demonstrations(),
                config.warm_start,
                config.seed,
                lambda step: self._evaluate("warm_start", _WARM, step),
            )
        if not config.model.path:
            base = self.out / BASE
            base.mkdir(exist_ok=True)
            self.policy.save(base)
        if self.heldout:
            self._evaluate("eval", _PROBE, 0)

    def _after_step(self, trainer: Trainer, metrics: StepMetrics, request: StopRequest) -> bool:
        config, row = self.config, metrics.row()
        self.monitor.write("step", row)
        typer.echo(step_line(row, config.train.steps))
        if config.train.save_every and metrics.step % config.train.save_every == 0:
            self._save(trainer)
        every = config.evaluate.every
        reached = False
        if self.heldout and every and metrics.step % every == 0 and not request.asked:
            pass_at_1 = self._evaluate("eval", _PROBE, metrics.step)
            reached = pass_at_1 >= config.evaluate.stop_at_pass_1
        return reached or request.asked

    def _save(self, trainer: Trainer) -> None:
        typer.echo(f"checkpoint: {save_checkpoint(trainer, self.out)}")

    def _evaluate(self, event: str, purpose: int, step: int) -> float:
        config = self.config
        report = evaluate(
            self.engine,
            self.reward,
            self.heldout,
            config.evaluate,
            config.rollout.max_new_tokens,
            (config.seed, purpose, step),
        )
        self.monitor.write(event, {"step": step, **report.row()})
        typer.echo(f"{event} at step {step}: {eval_line(report)}")
        return report.pass_at_1

    def _show(self) -> None:
        rows = read_rows(self.out / FILE_NAME)
        points = [(row["step"], row["pass@1"]) for row in rows if row["event"] == "eval"]
        picture = self.out / "curve.png"
        config = self.config
        shuffled = ", rewards shuffled" if config.reward.shuffle else ""
        plot_run(rows, picture, f"{config.algorithm.preset}, seed {config.seed}{shuffled}")
        typer.echo("\n" + terminal_curve(points, "held-out pass@1"))
        typer.echo(f"\ncurve: {picture}\nmetrics: {self.out / FILE_NAME}")
        typer.echo(f"pass@1 {points[0][1]:.2f} -> {points[-1][1]:.2f}")


def _starting_point(out: Path, *, resume: bool, overwrite: bool) -> Path | None:
    """The checkpoint to go on from, None for a fresh start; never mixes two runs in a folder."""
    newest = newest_checkpoint(out)
    if resume:
        if newest is None:
            raise TrainerError(f"no checkpoint in {out}", remedy="train without --resume")
        return newest
    if newest is not None and not overwrite:
        raise TrainerError(
            f"{out} holds checkpoints of an earlier run",
            remedy="go on with --resume, start over with --overwrite, or set another out=…",
        )
    delete_checkpoints(out)
    return None
