"""`verifier-server sandbox bench`: what a box costs here, beside a bare process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from statistics import quantiles
from typing import TYPE_CHECKING, Annotated

import typer

from verifier_server.cli.sandbox.options import AsJson, Level, open_level
from verifier_server.cli.terminal import stderr, stdout

if TYPE_CHECKING:
    from sandboxes.base import SandboxProvider

_PROGRAM = ("python3", "-c", "pass")
_TRIED_S = 60.0


@dataclass(frozen=True, slots=True)
class Rate:
    """Runs of one program: how many, how fast.

    Attributes:
        what: ran it.
        at_once: how many at any time.
        runs: that ended.
        runs_per_s: their rate.
        p50_ms, p95_ms: milliseconds that one took, start and removal included.
    """

    what: str
    at_once: int
    runs: int
    runs_per_s: float
    p50_ms: float
    p95_ms: float


def bench(
    level: Level = None,
    seconds: Annotated[
        float, typer.Option(min=0.5, max=60.0, help="How long to measure each line.")
    ] = 2.5,
    as_json: AsJson = False,
) -> None:
    """Measure how fast `python3 -c pass` runs in boxes and outside, one at a time and more.

    Outside, Python loads what is installed for it at its start; boxes have nothing installed.
    A quick look, on a machine that may be busy: benchmarks/sandbox.py measures with care.
    """
    at_once = sorted({1, len(os.sched_getaffinity(0))})
    rates: list[Rate] = []
    with open_level(level) as provider, stderr().status("measuring"):
        for count in at_once:
            rates.append(_rate("bare process", _bare, count, seconds))
            rates.append(_rate(provider.name, lambda: _boxed(provider), count, seconds))
    if as_json:
        typer.echo(json.dumps([asdict(rate) for rate in rates], indent=2))
    else:
        _print(rates)


def _bare() -> None:
    python = os.path.realpath(sys.executable)
    subprocess.run([python, *_PROGRAM[1:]], check=True)


def _boxed(provider: SandboxProvider) -> None:
    from sandboxes.base import Limits, SandboxBroken, SandboxSpec

    with provider.create(SandboxSpec(Limits(time_s=_TRIED_S))) as box:
        result = box.exec(_PROGRAM)
    if result.exit != 0:
        said = result.stderr.decode(errors="replace").strip()
        raise SandboxBroken(f"{' '.join(_PROGRAM)} ended by {result.reason}: {said}")


def _rate(what: str, run: Callable[[], None], at_once: int, seconds: float) -> Rate:
    run()  # what is made once is not counted
    started = time.monotonic()

    def keep_running(_: int) -> list[float]:
        times: list[float] = []
        while time.monotonic() < started + seconds or len(times) < 2:
            before = time.monotonic()
            run()
            times.append(time.monotonic() - before)
        return times

    with ThreadPoolExecutor(at_once) as pool:
        taken = [each for times in pool.map(keep_running, range(at_once)) for each in times]
    elapsed_s = time.monotonic() - started
    cuts = quantiles(taken, n=20, method="inclusive")
    rate = len(taken) / elapsed_s
    return Rate(what, at_once, len(taken), rate, 1000 * cuts[9], 1000 * cuts[18])


def _print(rates: list[Rate]) -> None:
    from rich.table import Table

    table = Table("what", box=None)
    for heading in ("at once", "runs", "runs/s", "p50 ms", "p95 ms"):
        table.add_column(heading, justify="right")
    for rate in rates:
        numbers = (f"{rate.runs_per_s:.1f}", f"{rate.p50_ms:.1f}", f"{rate.p95_ms:.1f}")
        table.add_row(rate.what, str(rate.at_once), str(rate.runs), *numbers)
    stdout().print(table)
