"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sandboxes.base import SandboxProvider

Level = Annotated[
    str | None,
    typer.Option(
        "--level",
        help="Provider, as in VERIFIER_SANDBOX, maybe with options: container?runtime=runsc.  "
        "[default: the one in force here]",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]


@contextmanager
def open_level(name: str | None) -> Iterator[SandboxProvider]:
    """The provider of that name, or the one that the service would use.

    Raises:
        SandboxUnavailable: there is none of that name, or none that works here.
        ConfigError: the settings can't be used.
    """
    from sandboxes.registry import open_provider
    from verifier_server.cli.configuration import load_settings

    provider = open_provider(name or load_settings().sandbox_address)
    try:
        yield provider
    finally:
        provider.close()
