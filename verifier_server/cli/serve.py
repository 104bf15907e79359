"""`verifier-server serve`."""

from __future__ import annotations

from typing import Annotated

import typer

UnsafeNoSandbox = Annotated[
    bool,
    typer.Option(
        "--unsafe-no-sandbox",
        help="Run hostile code on the bare host. Every verdict then says so in `isolation`.",
    ),
]


def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to bind.  [default: VERIFIER_HOST or 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="TCP port.  [default: VERIFIER_PORT or 8000]")
    ] = None,
    fd: Annotated[
        int | None, typer.Option(help="Serve on this open, listening socket instead.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Bind a non-loopback address without API keys.")
    ] = False,
    unsafe_no_sandbox: UnsafeNoSandbox = False,
    exit_with_parent: Annotated[
        int | None,
        typer.Option(metavar="PID", help="Stop when the parent process, named here, ends."),
    ] = None,
) -> None:
    """Serve the HTTP API until stopped.

    All else is set by environment variables, VERIFIER_…: see docs/settings.md.
    """
    from verifier_server.cli.configuration import load_settings
    from verifier_server.cli.parent import die_with

    if exit_with_parent is not None:
        die_with(exit_with_parent)
    settings = load_settings(
        host=host,
        port=port,
        insecure=insecure or None,
        unsafe_no_sandbox=unsafe_no_sandbox,
    )
    from verifier_server.bootstrap import serve as run_service

    run_service(settings, fd)
