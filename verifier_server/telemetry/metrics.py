"""Every metric of the service in one table; scraped at `GET /metrics`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from verifier_server.verdict import Tampering, Verdict

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


@dataclass(frozen=True, slots=True)
class QueueStats:
    """The state of one queue, and what became of its workers since the start."""

    queued: int
    running: int
    workers: int
    killed: int
    crashed: int


@dataclass(frozen=True, slots=True)
class LedgerStats:
    """Entries since the start: in the database, waiting for it, never to get there."""

    written: int = 0
    waiting: int = 0
    lost: int = 0


class Metrics:
    """Counts verdicts. Numbers of `queues` and `ledger` are read when scraped."""

    def __init__(
        self,
        queues: Callable[[], Mapping[str, QueueStats]],
        ledger: Callable[[], LedgerStats] = LedgerStats,
    ) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_QueueCollector(queues))
        self._registry.register(_LedgerCollector(ledger))
        self._verdicts = Counter(
            "verifier_verdicts",
            "Verdicts given",
            ("checker", "outcome", "fault"),
            registry=self._registry,
        )
        self._run_s = Histogram(
            "verifier_run_seconds",
            "Time that a check ran",
            ("checker",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._queue_s = Histogram(
            "verifier_queue_seconds",
            "Time that an item waited",
            ("checker",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._tampering = Counter(
            "verifier_tampering",
            "Verdicts before which the candidate was seen to tamper with its judge",
            ("checker", "kind"),
            registry=self._registry,
        )
        self._refused = Counter(
            "verifier_refused_requests",
            "Requests answered 429 because a queue was full",
            registry=self._registry,
        )
        lookups = Counter(
            "verifier_cache_lookups",
            "Items looked up among earlier judgements (hit, miss), or judged already (shared)",
            ("result",),
            registry=self._registry,
        )
        self._lookups = {result: lookups.labels(result) for result in ("hit", "miss", "shared")}
        self._cache_failures = Counter(
            "verifier_cache_failures",
            "Times that the cache could not be asked or written to",
            registry=self._registry,
        )
        # Looking a series up takes longer than counting; checkers and outcomes are few.
        self._series = cache(
            lambda checker, outcome, fault: (
                self._verdicts.labels(checker, outcome, fault),
                self._run_s.labels(checker),
                self._queue_s.labels(checker),
            )
        )

    def count(self, verdict: Verdict, tampering: Iterable[Tampering] = ()) -> None:
        """Counts one verdict. A checker that does not exist is counted as `unknown`."""
        checker = verdict.checker if verdict.version else "unknown"
        for kind in tampering:
            self._tampering.labels(checker, kind).inc()
        verdicts, run_s, queue_s = self._series(checker, verdict.outcome, verdict.fault)
        verdicts.inc()
        if not verdict.cached:
            run_s.observe(verdict.usage.run_s)
            queue_s.observe(verdict.usage.queue_s)

    def count_refusal(self) -> None:
        """Counts one request that was refused."""
        self._refused.inc()

    def count_lookup(self, result: Literal["hit", "miss", "shared"]) -> None:
        """Counts what the cache had for an item."""
        self._lookups[result].inc()

    def count_cache_failure(self) -> None:
        """Counts one failure of the cache."""
        self._cache_failures.inc()

    def render(self) -> bytes:
        """The Prometheus text format."""
        return generate_latest(self._registry)


class _QueueCollector(Collector):
    def __init__(self, queues: Callable[[], Mapping[str, QueueStats]]) -> None:
        self._queues = queues

    def collect(self) -> Iterator[Metric]:
        queued = GaugeMetricFamily("verifier_queued_items", "Items waiting", labels=["resource"])
        running = GaugeMetricFamily("verifier_running_items", "Items held", labels=["resource"])
        workers = GaugeMetricFamily("verifier_workers", "Worker processes", labels=["resource"])
        ended = CounterMetricFamily(
            "verifier_workers_replaced",
            "Workers that were killed by the service or died by themselves",
            labels=["resource", "how"],
        )
        for resource, state in self._queues().items():
            queued.add_metric([resource], state.queued)
            running.add_metric([resource], state.running)
            workers.add_metric([resource], state.workers)
            ended.add_metric([resource, "killed"], state.killed)
            ended.add_metric([resource, "crashed"], state.crashed)
        yield from (queued, running, workers, ended)


class _LedgerCollector(Collector):
    def __init__(self, ledger: Callable[[], LedgerStats]) -> None:
        self._ledger = ledger

    def collect(self) -> Iterator[Metric]:
        stats = self._ledger()
        entries = CounterMetricFamily(
            "verifier_ledger_entries",
            "Verdicts recorded, and lost because the ledger could not be written",
            labels=["what"],
        )
        entries.add_metric(["written"], stats.written)
        entries.add_metric(["lost"], stats.lost)
        yield entries
        yield GaugeMetricFamily(
            "verifier_ledger_waiting_entries", "Verdicts to be recorded", value=stats.waiting
        )
