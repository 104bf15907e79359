"""`grpo-client eval`: held-out estimates of a checkpoint or of the model a run starts from."""

from __future__ import annotations

from pathlib import Path

import typer

from grpo_client.cli.process import prepare_process
from grpo_client.cli.service import open_reward
from grpo_client.config import Config
from grpo_client.data import load_prompts
from grpo_client.evaluate.runner import evaluate
from grpo_client.model.load import load_policy
from grpo_client.monitors.text import eval_line
from grpo_client.rollout.torch import TorchRollout
from grpo_client.train.checkpoint import newest_checkpoint

_PURPOSE = 23


def run_evaluation(config: Config, *, local: bool, checkpoint: Path | None) -> None:
    """Prints pass@k on the held-out prompts, by `config.evaluate`.

    Args:
        config: data, service and sampling.
        local: start a verifier service.
        checkpoint: a model folder; None takes the newest in `config.out`, and where there is
            none, the model of the configuration.

    Raises:
        TrainerError, ClientError: with the remedy.
    """
    prepare_process(config)
    _, heldout = load_prompts(config.data)
    folder = checkpoint or newest_checkpoint(Path(config.out))
    with open_reward(config.reward, heldout, local=local) as reward:
        policy = load_policy(config, folder)
        engine = TorchRollout(policy, config.rollout.max_rows)
        key = (config.seed, _PURPOSE)
        limit = config.rollout.max_new_tokens
        report = evaluate(engine, reward, heldout, config.evaluate, limit, key)
    typer.echo(f"{folder or config.model.path or 'untrained model'}: {eval_line(report)}")
