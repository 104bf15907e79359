"""What the service sees of a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from verifier_server.telemetry.metrics import LedgerStats

if TYPE_CHECKING:
    from verifier_server.ledger.entry import Entry


class Recorder(Protocol):
    """Takes entries. It never fails, and nobody waits for it."""

    def record(self, entry: Entry) -> None:
        """Takes an entry; returns at once."""

    def stats(self) -> LedgerStats:
        """How it stands."""

    def close(self) -> None:
        """Writes what waits, if that can be done soon."""


class NoLedger:
    """Records nothing."""

    def record(self, entry: Entry) -> None:
        """Drops it."""

    def stats(self) -> LedgerStats:
        """Nothing."""
        return LedgerStats()

    def close(self) -> None:
        """Does nothing."""


__all__ = ["NoLedger", "Recorder"]
