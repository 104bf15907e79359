"""`verifier-server sandbox shell`: programs in a box, by hand."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from verifier_server.cli.sandbox.options import Level, open_level
from verifier_server.cli.terminal import printable, stderr

if TYPE_CHECKING:
    from sandboxes.base import ExecResult, Sandbox

_BY_SIGNAL = 128
_BY_LIMIT = 124  # as timeout(1) has it
_NEVER_CUT = sys.maxsize


def shell(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND…]",
            help="A program and its arguments.  [default: read lines and run each by sh -c]",
        ),
    ] = None,
    level: Level = None,
    runtime: Annotated[str, typer.Option(help="Whose tools the box has.")] = "python",
    time_s: Annotated[float, typer.Option(help="Seconds after which it is killed.")] = 60.0,
) -> None:
    """Run a program in a box as hostile code is run there.

    Exits with its status, with 128 plus the signal that ended it, or with 124 if a limit did.

    This is no terminal: a program reads what is piped in and is shown when it has ended. Every
    line is a box of its own, so neither files nor variables last from one to the next.
    """
    from sandboxes.base import Limits, SandboxSpec

    spec = SandboxSpec(Limits(time_s=time_s), runtime=runtime)
    with open_level(level) as provider, provider.create(spec) as box:
        if command:
            piped = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
            status = _run(box, command, piped)
        else:
            status = _read_lines(box)
    raise typer.Exit(status)


def _read_lines(box: Sandbox) -> int:
    status = 0
    while True:
        try:
            line = input("box> " if sys.stdin.isatty() else "")
        except EOFError:
            return status
        if line.strip():
            status = _run(box, ["sh", "-c", line], b"")


def _run(box: Sandbox, argv: Sequence[str], stdin: bytes) -> int:
    result = box.exec(argv, stdin=stdin)
    show(result.stdout, sys.stdout)
    show(result.stderr, sys.stderr)
    stderr().print(_summary(result, box.isolation), style="dim", markup=False)
    if result.exit is not None:
        return result.exit
    return _BY_LIMIT if result.signal is None else _BY_SIGNAL + result.signal


def show(wrote: bytes, text: TextIO) -> None:
    """Prints what a program wrote: as it is into a pipe; on a terminal, escapes stay text."""
    if not text.isatty():
        text.buffer.write(wrote)
        text.buffer.flush()
        return
    for line in wrote.decode(errors="backslashreplace").splitlines():
        text.write(printable(line, _NEVER_CUT) + "\n")


def _summary(result: ExecResult, isolation: str) -> str:
    usage = result.usage
    parts = [str(result.reason), f"{usage.wall_s:.3f} s"]
    if result.exit is not None:
        parts[0] += f" {result.exit}"
    if result.signal is not None:
        parts[0] += f" {result.signal}"
    if usage.memory_bytes is not None:
        parts.append(f"{usage.memory_bytes / (1 << 20):.1f} MiB")
    return " · ".join([*parts, isolation])
