"""`verifier-server sandbox build`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from verifier_server.cli.terminal import printable, stderr, stdout

if TYPE_CHECKING:
    from sandboxes.base import SandboxError
    from sandboxes.images.build import Order
    from sandboxes.images.contents import Stamp
    from sandboxes.images.engine import Engine

_ALL = "all"


class From(StrEnum):
    """What an image may be made from."""

    AUTO = "auto"
    REGISTRY = "registry"
    DEBOOTSTRAP = "debootstrap"
    HOST = "host"


def build(
    runtimes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUNTIME]…",
            help="python, c, cpp, node, java, go, rust, bash, or `all`.  [default: python]",
        ),
    ] = None,
    source: Annotated[
        From,
        typer.Option(
            "--from",
            help="registry: Debian's image, by digest. debootstrap: Debian from its archive, as "
            "root. host: this machine's Python and tools, for python and bash alone. auto: the "
            "first of these that works.",
        ),
    ] = From.AUTO,
    base: Annotated[
        str | None,
        typer.Option(help="An image that is here and has the runtime and python3, to build on."),
    ] = None,
    mirror: Annotated[str | None, typer.Option(help="Debian archive for debootstrap.")] = None,
    export: Annotated[
        bool,
        typer.Option(
            "--export",
            help="Unpack the image as well, for the level `oci`. Where no engine answers this "
            "alone is made, from this machine's files.",
        ),
    ] = False,
    if_needed: Annotated[
        bool,
        typer.Option(
            "--if-needed", help="Leave alone what this installation's boxes can run in as it is."
        ),
    ] = False,
) -> None:
    """Make the images that boxes run in.

    Exits with 1 if one can't be made.
    """
    from sandboxes.base import SandboxUnavailable
    from sandboxes.images.build import Order, Way, is_needed
    from sandboxes.images.engine import open_engine
    from sandboxes.images.recipes import recipe
    from sandboxes.images.recipes import runtimes as known
    from verifier_server.checkers.code.pytest_mode import PACKAGES

    names = list(known()) if runtimes and _ALL in runtimes else runtimes or ["python"]
    for name in names:
        recipe(name)  # a wrong name is told before the work
    way = None if source is From.AUTO else Way(source.value)
    orders = [Order(name, PACKAGES, base, way, mirror) for name in names]
    with ExitStack() as stack:
        engine: Engine | None = None
        try:
            engine = stack.enter_context(open_engine())
        except SandboxUnavailable:
            if not export:
                raise
        if if_needed:
            orders = [order for order in orders if is_needed(engine, order, export=export)]
        failures = _build_all(engine, orders, export=export)
    for runtime, error in failures:
        stderr().print(f"{runtime}: {error}", style="red", markup=False)
    if failures:
        raise typer.Exit(1)


def _build_all(
    engine: Engine | None, orders: Sequence[Order], *, export: bool
) -> list[tuple[str, SandboxError]]:
    """Builds each, tells what became of it, and gives back what failed."""
    from rich.table import Table

    from sandboxes.base import SandboxError

    table = Table(box=None)
    for heading in ("runtime", "from", "offers", "seconds", "made of", "where"):
        table.add_column(heading, overflow="fold")
    failures: list[tuple[str, SandboxError]] = []
    for order in orders:
        started = time.monotonic()
        try:
            stamp, places = _build(engine, order, export=export)
        except SandboxError as error:
            failures.append((order.runtime, error))
            continue
        seconds = f"{time.monotonic() - started:.1f}"
        offers = " ".join(stamp.runtimes)
        table.add_row(order.runtime, stamp.base, offers, seconds, stamp.base_image, *places)
    if table.row_count:
        stdout().print(table)
    return failures


def _build(engine: Engine | None, order: Order, *, export: bool) -> tuple[Stamp, list[str]]:
    from sandboxes.images.build import build_image, build_rootfs, export_image
    from sandboxes.images.recipes import recipe

    if engine is None:
        stamp, folder = build_rootfs(order)
        return stamp, [str(folder)]
    console = stderr()
    with console.status(f"{order.runtime}: building") as status:

        def say(line: str) -> None:
            status.update(f"{order.runtime}: {printable(line, 100)}")

        stamp = build_image(engine, order, say)
        places = [recipe(order.runtime).tag]
        if export:
            say("unpacking")
            places.append(str(export_image(engine, order.runtime)))
    return stamp, ["\n".join(places)]
