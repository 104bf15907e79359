"""Judgements under way, shared by all who ask for the same thing meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Flights(Generic[T]):
    """Results that are on their way, by key.

    Each who asks has a future of his own. Who leaves takes nothing from the others; when all
    have left, the work is cancelled.
    """

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    def join(
        self, key: Hashable, start: Callable[[], asyncio.Future[T]]
    ) -> tuple[asyncio.Future[T], bool]:
        """The result for a key, which `start` gets if nobody does yet; and if others did."""
        flight = self._flights.get(key)
        if flight is not None and not flight.work.cancelled():
            return flight.seat(), True
        flight = self._flights[key] = _Flight(start())
        flight.work.add_done_callback(lambda _: self._land(key, flight))
        return flight.seat(), False

    def _land(self, key: Hashable, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]


class _Flight(Generic[T]):
    def __init__(self, work: asyncio.Future[T]) -> None:
        self.work = work
        self._taken = 0

    def seat(self) -> asyncio.Future[T]:
        seat: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._taken += 1
        self.work.add_done_callback(lambda work: _pass_on(work, seat))
        seat.add_done_callback(self._leave)
        return seat

    def _leave(self, seat: asyncio.Future[T]) -> None:
        self._taken -= 1
        if not self._taken:
            self.work.cancel()  # does nothing once it is done


def _pass_on(work: asyncio.Future[T], seat: asyncio.Future[T]) -> None:
    if seat.done():
        return
    if work.cancelled():
        seat.cancel()
    elif error := work.exception():
        seat.set_exception(error)
    else:
        seat.set_result(work.result())


__all__ = ["Flights"]
