"""What a box costs beside a bare subprocess and a cold `docker run`, and what bounds an item.

    python -m benchmarks.sandbox [--seconds 120] [--levels namespaces,oci,…] [--json FILE]

All in one run, in turns, so that a busy machine slows every side alike and the ratios hold:

- `python3 -c pass`: bare, in a cold container by the Docker SDK, in a box of every level that
  works here; 1, 2, 4 and 8 at once.
- a test file with one test: `pytest` bare, in a bubblewrap box, by a launcher's warm interpreter.
- `POST /score` of a `function` item with one test, every item another, so that none is cached.

Times are from the call to its result, making and removal of the box included. CPU ms are those
of this process, all boxes and the engine for each run, where cgroups tell; the kernel's own
workers (which take network namespaces down) are not in it. On a busy machine boxes, which have
a cgroup's share of it, get more of it than bare processes: believe the ratios of a quiet one.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from benchmarks.cpu_time import CpuTime, cpu_time
from sandboxes.base import SandboxError, SandboxProvider, SandboxSpec
from sandboxes.layout import ENVIRONMENT
from sandboxes.preloads import pytest_modules
from sandboxes.registry import open_provider
from verifier_server.client import LocalServer

LEVELS = ("namespaces", "bubblewrap", "oci", "nested", "container", "container?runtime=runsc")
AT_ONCE = (1, 2, 4, 8)
ROUNDS = 3
PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
TEST = {"test_one.py": b"def test_one():\n    assert 1 + 1 == 2\n"}
TRIVIAL, ONE_TEST, ITEM = "python3 -c pass", "pytest, one test", "POST /score, one test"
# What the levels are to reach: side, workload, whose rate at its best, times what.
TARGETS = (
    (TRIVIAL, "namespaces", TRIVIAL, "bare", 0.9),
    (TRIVIAL, "namespaces", TRIVIAL, "docker run, cold", 20.0),
    (TRIVIAL, "nested", TRIVIAL, "bare", 0.9),
    (TRIVIAL, "nested", TRIVIAL, "docker run, cold", 20.0),
    (TRIVIAL, "oci", TRIVIAL, "docker run, cold", 8.0),
    (TRIVIAL, "container", TRIVIAL, "docker run, cold", 2.0),
    (ONE_TEST, "namespaces, warm", ONE_TEST, "bare", 5.0),
    (ITEM, "namespaces", TRIVIAL, "namespaces", 0.7),
)

Run = Callable[[], None]


@dataclass
class Side:
    """One way to run a workload, and what was measured of it by how many at once."""

    workload: str
    name: str
    run: Run
    at_once: tuple[int, ...]
    cells: dict[int, Cell] = field(default_factory=dict)

    @property
    def best_per_s(self) -> float:
        return max(cell.per_s for cell in self.cells.values())


@dataclass
class Cell:
    """Runs of a side, so many at once."""

    cpu_s: float | None
    seconds: float = 0.0
    waits_s: list[float] = field(default_factory=list)

    @property
    def cpu_ms(self) -> float | None:
        """Of one run."""
        return None if self.cpu_s is None else 1e3 * self.cpu_s / len(self.waits_s)

    @property
    def per_s(self) -> float:
        return len(self.waits_s) / self.seconds

    def percentile_ms(self, percent: int) -> float:
        if len(self.waits_s) < 2:
            return 1e3 * self.waits_s[0]
        return 1e3 * statistics.quantiles(self.waits_s, n=100, method="inclusive")[percent - 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0, help="for all measurements")
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    console = Console()
    with ExitStack() as stack:
        clock = stack.enter_context(cpu_time())
        sides = []
        for make in (_bare, _docker, *(_level(name) for name in arguments.levels.split(","))):
            try:
                sides += make(stack)
            except SandboxError as error:
                console.print(f"not here: {error}", style="yellow", markup=False)
        load = os.getloadavg()[0]
        measure(sides, arguments.seconds, clock)
    report(console, sides, load)
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(sides, load), indent=2) + "\n")


def measure(sides: list[Side], seconds: float, clock: CpuTime | None) -> None:
    """Runs every side in turns."""
    turns = [(side, count) for side in sides for count in side.at_once]
    for side in sides:
        side.run()  # what is made once is not counted
    for _ in range(ROUNDS):
        for side, count in turns:
            _measure(side, count, seconds / (ROUNDS * len(turns)), clock)


def _measure(side: Side, count: int, seconds: float, clock: CpuTime | None) -> None:
    cell = side.cells.setdefault(count, Cell(cpu_s=None if clock is None else 0.0))
    cpu_s = clock.seconds() if clock else 0.0
    started = time.perf_counter()

    def keep_running(_: int) -> list[float]:
        waits: list[float] = []
        while not waits or time.perf_counter() < started + seconds:
            before = time.perf_counter()
            side.run()
            waits.append(time.perf_counter() - before)
        return waits

    with ThreadPoolExecutor(count) as pool:
        for waits in pool.map(keep_running, range(count)):
            cell.waits_s += waits
    cell.seconds += time.perf_counter() - started
    if clock and cell.cpu_s is not None:
        cell.cpu_s += clock.seconds() - cpu_s


def _bare(stack: ExitStack) -> list[Side]:
    python = os.path.realpath(sys.executable)  # what boxes have, without what is installed for us
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    Path(folder, "test_one.py").write_bytes(TEST["test_one.py"])
    environment = {**ENVIRONMENT, "HOME": folder, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def run(*command: str) -> None:
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE)

    pytest = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py")
    return [
        Side(TRIVIAL, "bare", lambda: run(python, "-c", "pass"), AT_ONCE),
        Side(ONE_TEST, "bare", lambda: run(*pytest), (1, 2)),
    ]


def _docker(stack: ExitStack) -> list[Side]:
    import docker

    try:
        engine = docker.from_env(timeout=60)
        stack.callback(engine.close)
        image = next((i for i in engine.images.list() if _is_ours(i.tags)), None)
    except docker.errors.DockerException as error:
        raise SandboxError("docker run: no engine answers", remedy="start one") from error
    if image is None:
        raise SandboxError("docker run: no image", remedy="verifier-server sandbox build python")

    def run() -> None:
        engine.containers.run(
            image.id,
            ["python3", "-c", "pass"],
            remove=True,
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            labels={"answerkey.benchmark": "1"},
        )

    return [Side(TRIVIAL, "docker run, cold", run, AT_ONCE)]


def _is_ours(tags: list[str]) -> bool:
    return "answerkey-sandbox:python" in tags


def _level(name: str) -> Callable[[ExitStack], list[Side]]:
    def make(stack: ExitStack) -> list[Side]:
        provider = open_provider(name)
        stack.callback(provider.close)
        probe = provider.probe()
        if not probe.available:
            raise SandboxError(f"{name}: {'; '.join(f.detail for f in probe.findings if not f.ok)}")
        sides = [Side(TRIVIAL, name, _boxed(provider, ["python3", "-c", "pass"]), AT_ONCE)]
        command = ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"]
        with contextlib.suppress(SandboxError):  # an image without pytest
            for kind, preload in (("", ()), (", warm", pytest_modules())):
                run = _boxed(provider, command, SandboxSpec(packages=PYTEST, preload=preload))
                run()
                if not kind or "bubblewrap" not in name:  # which has no warm interpreters
                    sides.append(Side(ONE_TEST, name + kind, run, (1, 2)))
        if "?" not in name and name != "oci":
            sides.append(_service(stack, name))
        return sides

    return make


def _boxed(provider: SandboxProvider, command: list[str], spec: SandboxSpec | None = None) -> Run:
    spec = spec or SandboxSpec()

    def run() -> None:
        with provider.create(spec) as box:
            box.write(TEST)
            result = box.exec(command, env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
        if result.exit != 0:
            raise SandboxError(f"{provider.name}: {command} ended with {result}")

    return run


def _service(stack: ExitStack, name: str) -> Side:
    server = stack.enter_context(LocalServer(env={"VERIFIER_SANDBOX": name}))
    http = stack.enter_context(httpx.Client(base_url=server.url, trust_env=False, timeout=60))
    numbers = itertools.count()  # which threads may share

    def run() -> None:
        verdict = http.post("/score", json=_item(next(numbers))).raise_for_status().json()
        if verdict["score"] != 1.0:
            raise SandboxError(f"POST /score: {verdict}")

    return Side(ITEM, name, run, AT_ONCE)


def _item(number: int) -> dict[str, object]:
    return {
        "checker": "code",
        "completion": f"```python\ndef add(a, b):\n    return a + b  # {number}\n```",
        "params": {
            "language": "python",
            "mode": "function",
            "function": "add",
            "tests": [{"args": [number, 2], "returns": number + 2}],
        },
    }


def report(console: Console, sides: list[Side], load: float) -> None:
    table = Table("workload", "side", box=None)
    for heading in ("at once", "runs", "runs/s", "p50 ms", "p95 ms", "CPU ms"):
        table.add_column(heading, justify="right")
    for side in sides:
        for count, cell in side.cells.items():
            runs = len(cell.waits_s)
            figures = (cell.per_s, cell.percentile_ms(50), cell.percentile_ms(95))
            cpu_ms = "" if cell.cpu_ms is None else f"{cell.cpu_ms:.1f}"
            numbers = [*(f"{figure:.1f}" for figure in figures), cpu_ms]
            table.add_row(side.workload, side.name, str(count), str(runs), *numbers)
    console.print(table)
    console.print(f"{os.cpu_count()} processors, a load of {load:.1f} before")
    table = Table("workload", "side", "beside")
    for heading in ("target ratio", "found"):
        table.add_column(heading, justify="right")
    for workload, name, other_workload, other, target in TARGETS:
        found = ratio(sides, (workload, name), (other_workload, other))
        if found is not None:
            style = "green" if found >= target else "red"
            beside = other if workload == other_workload else f"{other}, {other_workload}"
            table.add_row(workload, name, beside, f"≥ {target}", f"{found:.2f}", style=style)
    console.print(table)


def ratio(sides: list[Side], one: tuple[str, str], other: tuple[str, str]) -> float | None:
    """Of their best rates; None where one was not measured."""
    best = {(side.workload, side.name): side.best_per_s for side in sides}
    return best[one] / best[other] if one in best and other in best else None


def as_json(sides: list[Side], load: float) -> dict[str, object]:
    rows = [
        {
            "workload": side.workload,
            "side": side.name,
            "at_once": count,
            "runs": len(cell.waits_s),
            "runs_per_s": cell.per_s,
            "p50_ms": cell.percentile_ms(50),
            "p95_ms": cell.percentile_ms(95),
            "cpu_ms": cell.cpu_ms,
        }
        for side in sides
        for count, cell in side.cells.items()
    ]
    return {"processors": os.cpu_count(), "load_before": load, "rows": rows}


if __name__ == "__main__":
    main()
