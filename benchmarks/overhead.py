"""What the service adds to a check that costs nothing: single items and batches of 512.

python -m benchmarks.overhead [--rounds 10]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import httpx

from verifier_server.client import LocalServer

BATCH = 512
SINGLES = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    items = [
        {"checker": "exact", "completion": str(n), "params": {"answer": str(n)}}
        for n in range(BATCH)
    ]
    with LocalServer() as server, httpx.Client(base_url=server.url, trust_env=False) as http:
        batch_s = [_post_s(http, {"items": items}) for _ in range(rounds + 1)][1:]
        single_s = [_post_s(http, items[n % BATCH]) for n in range(SINGLES)]
    percentiles = statistics.quantiles(single_s, n=100)
    print(f"one item: p50 {1e3 * percentiles[49]:.2f} ms, p99 {1e3 * percentiles[98]:.2f} ms")
    print(f"in a batch of {BATCH}: {1e6 * statistics.median(batch_s) / BATCH:.0f} us an item")


def _post_s(http: httpx.Client, body: object) -> float:
    content = json.dumps(body).encode()
    start_s = time.perf_counter()
    http.post(
        "/score", content=content, headers={"content-type": "application/json"}
    ).raise_for_status()
    return time.perf_counter() - start_s


if __name__ == "__main__":
    main()
