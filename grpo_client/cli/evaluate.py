"""`grpo-client eval`: held-out estimates of a checkpoint, beside those of its base if asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from grpo_client.cli.process import prepare_process
from grpo_client.cli.service import open_reward
from grpo_client.config import Config
from grpo_client.data import load_prompts
from grpo_client.errors import ConfigError
from grpo_client.evaluate.compare import crossover, table, write_samples
from grpo_client.evaluate.runner import report, sample
from grpo_client.model.load import load_policy
from grpo_client.monitors.plot import plot_pass_at_k
from grpo_client.monitors.text import eval_line
from grpo_client.reward import VerifierReward
from grpo_client.rollout.torch import TorchRollout
from grpo_client.train.checkpoint import BASE, newest_checkpoint
from grpo_client.types import EvalReport, Prompt

_PURPOSE = 23
_TRAINED, _BASE = "trained", "base"


def run_evaluation(
    config: Config, *, local: bool, checkpoint: Path | None, compare: bool = False
) -> None:
    """Prints the estimates by `config.evaluate`; leaves every sample in `config.out`.

    Args:
        config: data, service and sampling.
        local: start a verifier service.
        checkpoint: a model folder; None takes the newest in `config.out`, and where there is
            none, the model of the configuration.
        compare: also measure what the run started from, and plot both.

    Raises:
        TrainerError, ClientError: with the remedy.
    """
    prepare_process(config)
    _, heldout = load_prompts(config.data)
    out = Path(config.out)
    folder = checkpoint or newest_checkpoint(out)
    base = _base(config, out) if compare else None
    with open_reward(config.reward, heldout, local=local) as reward:
        run = _Evaluation(config, reward, heldout, out)
        trained = run.measure(folder, _TRAINED)
        typer.echo(f"{folder or config.model.path or 'untrained model'}: {eval_line(trained)}")
        if not compare:
            return
        reports = {_BASE: run.measure(base, _BASE), _TRAINED: trained}
    typer.echo("\n" + table(reports))
    k = crossover(reports[_BASE], trained)
    typer.echo(f"\nthe base is ahead {f'from k = {k}' if k else 'at no k that was measured'}")
    picture = out / "pass_at_k.png"
    plot_pass_at_k(reports, picture, f"{config.algorithm.preset}, seed {config.seed}")
    typer.echo(f"curves: {picture}")


@dataclass(frozen=True, slots=True)
class _Evaluation:
    config: Config
    reward: VerifierReward
    heldout: Sequence[Prompt]
    out: Path

    def measure(self, folder: Path | None, name: str) -> EvalReport:
        config = self.config
        engine = TorchRollout(load_policy(config, folder), config.rollout.max_rows)
        limit, key = config.rollout.max_new_tokens, (config.seed, _PURPOSE)
        groups = sample(engine, self.reward, self.heldout, config.evaluate, limit, key)
        self.out.mkdir(parents=True, exist_ok=True)
        write_samples(groups, self.out / f"samples-{name}.jsonl")
        return report(groups, config.evaluate.k)


def _base(config: Config, out: Path) -> Path | None:
    """Where the run's start lies; None is the configuration's own model."""
    if config.model.path:
        return None
    if not (out / BASE).is_dir():
        raise ConfigError(
            f"{out} does not hold the policy that its run started from",
            remedy="train first, or leave --compare out",
        )
    return out / BASE
