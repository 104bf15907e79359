"""The `verifier-server` command. One file per command; each imports what it needs when run."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from verifier_server.cli import checkers, doctor, ledger, lint, sandbox, score, serve, version
from verifier_server.cli.terminal import stderr
from verifier_server.errors import VerifierError

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


class _Commands(TyperGroup):
    """Ends with a message and a remedy where a command fails as foreseen, quietly on Ctrl-C."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except VerifierError as error:
            stderr().print(f"error: {error}", style="red", markup=False)
            raise typer.Exit(EXIT_ERROR) from error
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_INTERRUPTED) from None


app = typer.Typer(
    name="verifier-server",
    cls=_Commands,
    help="Scores model completions with hardened checkers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("serve")(serve.serve)
app.command("score")(score.score)
app.command("lint")(lint.lint)
app.add_typer(checkers.app, name="checkers")
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(ledger.app, name="ledger")
app.command("doctor")(doctor.doctor)
app.command("version")(version.version)


def run() -> None:
    """The console script."""
    app()


if __name__ == "__main__":
    run()
