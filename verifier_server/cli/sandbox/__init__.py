"""`verifier-server sandbox …`: the boxes in which hostile code runs, and what they need."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from verifier_server.cli.sandbox import bench, build, cleanup, conformance, doctor, shell
from verifier_server.errors import ConfigError


class _Commands(TyperGroup):
    """Gives the sandbox's errors their place among ours."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        from sandboxes.base import SandboxError

        try:
            return super().invoke(ctx)
        except SandboxError as error:
            raise ConfigError(error.args[0], remedy=error.remedy) from error


app = typer.Typer(
    cls=_Commands,
    help="Look after the boxes in which hostile code runs.",
    no_args_is_help=True,
)
app.command("build")(build.build)
app.command("doctor")(doctor.doctor)
app.command("check")(conformance.check)
app.command("bench")(bench.bench)
app.command("shell")(shell.shell)
app.command("cleanup")(cleanup.cleanup)
