"""How much one hostile item delays 256 honest ones in the same batch.

    python -m benchmarks.neighbours [--rounds 5]

Each round sends the honest batch alone and with each hostile item, in turn, to one server,
and takes the 99th percentile of the time from request to verdict over the honest items.
Printed are medians over the rounds, and the ratio to the batch alone.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.http.test_hostile import HOSTILE, honest
from verifier_server.client import LocalServer, VerifierClient


def honest_p99_s(client: VerifierClient, hostile: dict[str, Any] | None) -> float:
    """The 99th percentile over the honest items; fails if one is judged wrongly."""
    items = honest()
    batch = [item for item, _ in items]
    position = len(batch) // 2
    if hostile is not None:
        batch.insert(position, hostile)
    start_s, waits_s = time.monotonic(), []
    for verdict in client.score_stream(batch):
        if hostile is not None and verdict.index == position:
            continue
        n = verdict.index - (hostile is not None and verdict.index > position)
        assert verdict.score == items[n][1], (n, verdict)
        waits_s.append(time.monotonic() - start_s)
    return statistics.quantiles(waits_s, n=100)[98]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    kinds: dict[str, dict[str, Any] | None] = {"(none)": None}
    kinds |= {kind: item for kind, (item, _) in HOSTILE.items()}
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    with LocalServer() as server, VerifierClient(server.url, batch_size=512) as client:
        honest_p99_s(client, None)
        for _ in range(rounds):
            for kind, item in kinds.items():
                found[kind].append(honest_p99_s(client, item))
    alone_s = statistics.median(found["(none)"])
    table = Table("hostile item", "p99 of the honest, ms", "ratio")
    for kind, waits_s in found.items():
        median_s = statistics.median(waits_s)
        table.add_row(kind, f"{1000 * median_s:.0f}", f"{median_s / alone_s:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
