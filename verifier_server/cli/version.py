"""`verifier-server version`."""

from __future__ import annotations

import typer


def version() -> None:
    """Print the version."""
    from verifier_server import __version__

    typer.echo(f"answerkey {__version__}")
