"""Writes the ledger in the background, so that no verdict waits for a database or fails by it.

What can't be written is kept until it can, up to a bound; beyond it new entries are lost,
counted, and told.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from datetime import UTC, datetime, timedelta

from verifier_server.ledger.entry import Entry
from verifier_server.ledger.store import LedgerFailed, LedgerStore
from verifier_server.telemetry.metrics import LedgerStats

log = logging.getLogger(__name__)

_BATCH = 500
_MOST_ENTRIES, _MOST_BYTES = 50_000, 256 << 20
_RETRY_S = 1.0
_PRUNE_EVERY_S = 3600.0


class LedgerWriter:
    """Records entries in a store, in a thread of its own.

    Args:
        store: where to; closed with this.
        keeps_completion: whether texts are kept, or only their hashes.
        keep_days: entries older than that are let go; 0 keeps all.
    """

    def __init__(self, store: LedgerStore, *, keeps_completion: bool, keep_days: float) -> None:
        self._store = store
        self._keeps_completion = keeps_completion
        self._keep_days = keep_days
        self._waiting: deque[Entry] = deque()
        self._waiting_bytes = 0
        self._written = 0
        self._lost = 0
        self._fails = False
        self._pruned_s = -_PRUNE_EVERY_S
        self._changed = threading.Condition()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="ledger", daemon=True)
        self._thread.start()

    def record(self, entry: Entry) -> None:
        """Takes an entry; returns at once."""
        size = entry.size
        with self._changed:
            full = len(self._waiting) >= _MOST_ENTRIES or self._waiting_bytes > _MOST_BYTES
            if full or self._is_closing:
                self._lost += 1
                return
            self._waiting.append(entry)
            self._waiting_bytes += size
            self._changed.notify()

    def stats(self) -> LedgerStats:
        """How it stands."""
        with self._changed:
            return LedgerStats(self._written, len(self._waiting), self._lost)

    def close(self, timeout_s: float = 5.0) -> None:
        """Writes what waits, if that can be done in time; what is left is lost, and told."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join(timeout_s)
        with self._changed:
            self._lost += len(self._waiting)
            self._waiting.clear()
            lost = self._lost
        if lost:
            log.error("the ledger lacks %d verdicts that were given", lost)

    def _run(self) -> None:
        while batch := self._next():
            rows = [entry.to_row(keeps_completion=self._keeps_completion) for entry in batch]
            try:
                self._store.append(rows)
                self._prune()
            except LedgerFailed as error:
                self._on_failure(error)
            else:
                self._on_success(batch)
        self._store.close()

    def _next(self) -> list[Entry]:
        """The entries to write next, which stay waiting; none when all is done."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closing)
            return [self._waiting[n] for n in range(min(_BATCH, len(self._waiting)))]

    def _on_success(self, batch: list[Entry]) -> None:
        with self._changed:
            for entry in batch:
                if self._waiting:  # but for what `close` gave up
                    self._waiting.popleft()
                    self._waiting_bytes -= entry.size
            self._written += len(batch)
        if self._fails:
            self._fails = False
            log.warning("the ledger is written again")

    def _on_failure(self, error: LedgerFailed) -> None:
        if not self._fails:
            self._fails = True
            log.error("the ledger can't be written, verdicts wait for it: %s", error)
        with self._changed:
            self._changed.wait_for(lambda: self._is_closing, _RETRY_S)
        if self._is_closing:
            time.sleep(_RETRY_S / 10)

    def _prune(self) -> None:
        if not self._keep_days or time.monotonic() - self._pruned_s < _PRUNE_EVERY_S:
            return
        self._pruned_s = time.monotonic()
        before = datetime.now(UTC) - timedelta(days=self._keep_days)
        if gone := self._store.prune(before.isoformat(timespec="microseconds")):
            log.info("%d entries of the ledger were older than %g days", gone, self._keep_days)


__all__ = ["LedgerWriter"]
