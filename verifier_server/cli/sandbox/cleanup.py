"""`verifier-server sandbox cleanup`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from verifier_server.cli.terminal import stdout

if TYPE_CHECKING:
    from collections.abc import Iterator


def cleanup(
    all_images: Annotated[
        bool, typer.Option("--all-images", help="Remove all images of ours as well.")
    ] = False,
) -> None:
    """Remove what killed services left, and images that newer ones have replaced.

    Whatever a running service uses stays, but for `--all-images`: those images must be built
    anew for its next boxes.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table("what", box=None)
    table.add_column("done", overflow="fold")
    for what, done in (*_sweep(), *_remove_images(everything=all_images)):
        table.add_row(Text(what), Text(done))
    stdout().print(table)


def _sweep() -> Iterator[tuple[str, str]]:
    """Each level removes what dead owners left when it is opened and tried."""
    from sandboxes.registry import provider_names
    from verifier_server.cli.host import probe_sandbox

    for name in provider_names():
        if name == "unsafe":
            continue  # what it leaves can't be told from others' files
        probe = probe_sandbox(name)
        if probe.available:
            yield f"leftovers of {name}", "removed"
        else:
            why = next((finding.detail for finding in probe.findings if not finding.ok), "")
            yield f"leftovers of {name}", f"not looked for, it does not run here: {why}"


def _remove_images(*, everything: bool) -> Iterator[tuple[str, str]]:
    from sandboxes.base import SandboxUnavailable
    from sandboxes.images.engine import open_engine
    from sandboxes.images.recipes import recipe, runtimes
    from sandboxes.images.rootfs import remove_all, remove_replaced

    try:
        with open_engine() as engine:
            if everything:
                for tag in (recipe(runtime).tag for runtime in runtimes()):
                    if engine.remove(tag):
                        yield tag, "removed"
            yield "replaced images", f"{engine.remove_replaced()} removed"
    except SandboxUnavailable as error:
        yield "images", f"not looked for: {error.args[0]}"
    removed = remove_all() if everything else remove_replaced()
    yield "unpacked images", f"{removed} removed"
