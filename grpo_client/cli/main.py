"""`grpo-client`: arguments, errors with their remedy, exit codes.

Exit codes: 0 done · 1 the run failed · 2 wrong usage or configuration · 130 Ctrl-C.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from grpo_client.config import load_config
from grpo_client.errors import ConfigError, TrainerError

# torch and transformers take seconds to import, so only a command that needs them does.

app = typer.Typer(
    help="Train a language model by GRPO on the verdicts of a verifier service.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ConfigPath = Annotated[Path, typer.Argument(help="TOML file of the run.", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(help="Settings that win over the file: train.steps=50 …", show_default=False),
]
Sets = Annotated[
    list[str] | None, typer.Option("--set", help="Same as an override; may be repeated.")
]
Url = Annotated[str | None, typer.Option(help="The verifier service (reward.url).")]
Local = Annotated[bool, typer.Option("--local", help="Start a verifier service for this run.")]


@app.command()
def train(
    config: ConfigPath,
    overrides: Overrides = None,
    sets: Sets = None,
    url: Url = None,
    local: Local = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the resolved configuration and stop.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the newest checkpoint in `out`.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Delete the checkpoints of an earlier run in `out`.")
    ] = False,
) -> None:
    """Train a policy: sample, score, compare within groups, update."""
    with _errors_told():
        settings = load_config(config, _all_overrides(overrides, sets, url))
        if dry_run:
            from grpo_client.cli.dry_run import describe

            typer.echo(describe(settings))
            return
        _share_cpus()
        from grpo_client.cli.train import run_training

        run_training(settings, local=local, resume=resume, overwrite=overwrite)


@app.command(name="eval")
def evaluate(
    config: ConfigPath,
    overrides: Overrides = None,
    sets: Sets = None,
    url: Url = None,
    local: Local = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Model folder; default: the newest checkpoint in `out`."),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Beside it, what the run started from.")
    ] = False,
) -> None:
    """Measure pass@k, pass^k and maj@k of a policy on held-out prompts."""
    with _errors_told():
        settings = load_config(config, _all_overrides(overrides, sets, url))
        _share_cpus()
        from grpo_client.cli.evaluate import run_evaluation

        run_evaluation(settings, local=local, checkpoint=checkpoint, compare=compare)


def run() -> None:
    """The console script."""
    app()


def _all_overrides(
    overrides: list[str] | None, sets: list[str] | None, url: str | None
) -> list[str]:
    return [*(overrides or []), *(sets or []), *([f"reward.url='{url}'"] if url else [])]


def _share_cpus() -> None:
    """Before torch is loaded: its idle threads sleep instead of spinning for the next task.

    A thread that spins keeps the CPU from the one it waits for: beside other work that made
    steps ten times slower, while on an idle machine sleeping costs a third.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@contextmanager
def _errors_told() -> Iterator[None]:
    """What a user can mend is told in a sentence; anything else is a bug and shows its trace."""
    from verifier_server.client import ClientError

    try:
        yield
    except (TrainerError, ClientError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2 if isinstance(error, ConfigError) else 1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


if __name__ == "__main__":
    run()
