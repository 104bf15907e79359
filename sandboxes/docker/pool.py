"""Slots made ahead: leased, taken back or destroyed, and made anew while nobody waits.

How many are kept of each kind follows demand. Each lease that finds none ready has one more
kept from then on, up to a bound; a kind that nobody asks for is given up. What waits may die
while it does (the engine was restarted), so it is looked at before it is leased, and where
none is left the caller gets one made for it, or the typed reason why there can be none.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from sandboxes.base import Limits, SandboxBroken, SandboxError, SandboxSpec
from sandboxes.docker.crew import Crew
from sandboxes.docker.faults import ImageMissing
from sandboxes.docker.images import Images
from sandboxes.docker.labels import Household
from sandboxes.docker.nets import USED_FOR_S, Net, Nets
from sandboxes.docker.profile import Resources
from sandboxes.docker.slots import ContainerSlot, Kind, Order, SlotMaker
from sandboxes.launcher.slot import Slot

log = logging.getLogger(__name__)

_MAKERS = 2
_CHORE_S = 5.0
_SWEEP_S = 60.0
_IDLE_S = 60.0
_CLOSE_S = 60.0


@dataclass(slots=True)
class _Stock:
    """What is kept of one order.

    Attributes:
        resources: what the last of its programs was given.
        ready: slots that wait.
        making: slots on their way.
        kept: how many there should be of both.
        leased: slots in use.
        asked_at: `time.monotonic()` of the last lease.
    """

    resources: Resources
    ready: list[ContainerSlot] = field(default_factory=list)
    making: int = 0
    kept: int = 1
    leased: int = 0
    asked_at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a pool works with."""

    kind: Kind
    images: Images
    household: Household
    maker: SlotMaker
    nets: Nets


class Pool:
    """See `SlotPool`.

    Args:
        parts: what it works with.
        most_ready: bound of what is kept of one kind.
        most_runs: programs after which a slot is replaced.
    """

    def __init__(self, parts: Parts, *, most_ready: int, most_runs: int) -> None:
        self.isolation = parts.kind.isolation
        self._parts = parts
        self._most_ready = most_ready
        self._most_runs = most_runs
        self._lock = threading.Lock()
        self._stocks: dict[Order, _Stock] = {}
        self._swept_at = time.monotonic()
        self._closed = False
        self._crew = Crew(_MAKERS, self._do_chores, _CHORE_S)

    @property
    def known_gaps(self) -> Mapping[str, str]:
        """See `DeclaresGaps`."""
        return self._parts.kind.known_gaps

    def expect(self, spec: SandboxSpec) -> None:
        """Has something made for a box that was asked for. Raises SandboxUnavailable."""
        order = self._order(spec, spec.limits, 0)
        with self._lock:
            self._stock(order, spec.limits).asked_at = time.monotonic()
        self._refill(order)

    def lease(self, spec: SandboxSpec, limits: Limits, laid_bytes: int) -> Slot:
        """See `SlotPool`."""
        order = self._order(spec, limits, laid_bytes)
        with self._lock:
            stock = self._stock(order, limits)
            stock.asked_at = time.monotonic()
            stock.leased += 1
        try:
            slot = self._from_stock(order) or self._make_now(order)
        except BaseException as error:
            with self._lock:
                stock.leased -= 1
            if isinstance(error, ImageMissing):
                raise self._parts.images.lost(spec) from error
            raise
        self._refill(order)
        return slot

    def give_back(self, slot: Slot) -> None:
        """See `SlotPool`."""
        assert isinstance(slot, ContainerSlot)
        with self._lock:
            stock = self._stocks[slot.order]
            stock.leased -= 1
            stock.resources = slot.resources
            again = not (slot.spent or slot.runs >= self._most_runs or _is_old(slot))
        if slot.net is not None and slot.is_quiet:
            self._parts.nets.free(slot.net)
        if again and not self._closed:
            slot.forget()
            with self._lock:
                stock.ready.append(slot)
        else:
            self._crew.submit(partial(self._destroy, slot))
            self._refill(slot.order)

    def ready(self) -> int:
        """How many slots wait."""
        with self._lock:
            return sum(len(stock.ready) for stock in self._stocks.values())

    def give_up_idle(self, after_s: float) -> None:
        """Removes what nobody has asked for lately, and what has waited for too long."""
        now = time.monotonic()
        with self._lock:
            stocks = list(self._stocks.values())
            for stock in stocks:
                if now - stock.asked_at > after_s:
                    stock.kept = 0
            surplus = [slot for stock in stocks for slot in _surplus(stock)]
            idle = not any(stock.kept or stock.leased for stock in stocks)
        for slot in surplus:
            self._destroy(slot)
        self._parts.nets.trim(idle=idle)

    def close(self) -> None:
        """Removes all that is not leased. Idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            waiting = [slot for stock in self._stocks.values() for slot in stock.ready]
            for stock in self._stocks.values():
                stock.ready = []
        for slot in waiting:
            self._crew.submit(partial(self._destroy, slot))
        self._crew.close(_CLOSE_S)
        try:
            self._parts.nets.close()
            self._catch_up()
        except SandboxError as error:  # the engine is away; others will sweep
            log.warning("containers are left behind: %s", error)

    def _order(self, spec: SandboxSpec, limits: Limits, laid_bytes: int) -> Order:
        image = self._parts.images.find(spec)
        return self._parts.kind.order(image, spec, limits, laid_bytes)

    def _stock(self, order: Order, limits: Limits) -> _Stock:
        if order not in self._stocks:
            self._stocks[order] = _Stock(self._parts.kind.resources(limits))
        return self._stocks[order]

    def _from_stock(self, order: Order) -> ContainerSlot | None:
        while slot := self._pick(order):
            if slot.is_alive() and not _is_old(slot):
                return slot
            self._crew.submit(partial(self._destroy, slot))
        with self._lock:
            stock = self._stocks[order]
            stock.kept = min(self._most_ready, stock.kept + 1)
        return None

    def _pick(self, order: Order) -> ContainerSlot | None:
        with self._lock:
            ready = self._stocks[order].ready
            for slot in ready:
                if slot.net is None or self._parts.nets.take(slot.net):
                    ready.remove(slot)
                    return slot
        return None

    def _make_now(self, order: Order) -> ContainerSlot:
        """Made for a caller who waits, in a network of its own if none is free to join."""
        net = self._parts.nets.join(take=True)
        try:
            return self._make(order, net)
        except SandboxBroken:
            if net is None:
                raise
            return self._make(order, None)  # the net's own container may be gone

    def _make(self, order: Order, net: Net | None) -> ContainerSlot:
        try:
            return self._parts.maker.make(order, self._stocks[order].resources, net)
        except BaseException:
            if net is not None:
                self._parts.nets.free(net)
                self._parts.nets.leave(net)
            raise

    def _refill(self, order: Order) -> None:
        with self._lock:
            stock = self._stocks[order]
            lacking = stock.kept - len(stock.ready) - stock.making
            if self._closed or lacking <= 0:
                return
            stock.making += lacking
            at_once = sum(stock.leased for stock in self._stocks.values())
        if self._parts.nets.wanted(max(1, at_once)):
            self._crew.submit(partial(self._parts.nets.make, order.image))
        for _ in range(lacking):
            self._crew.submit(partial(self._make_ahead, order))

    def _make_ahead(self, order: Order) -> None:
        slot = None
        try:
            slot = self._make(order, self._parts.nets.join(take=False))
        finally:
            with self._lock:
                stock = self._stocks[order]
                stock.making -= 1
                if slot is None:  # whoever asks next is told why
                    stock.kept = 0
                elif not self._closed:
                    stock.ready.append(slot)
                    slot = None
        if slot is not None:
            self._destroy(slot)

    def _destroy(self, slot: ContainerSlot) -> None:
        slot.close()
        if slot.net is not None:
            if not slot.is_quiet:
                self._parts.nets.free(slot.net)
            self._parts.nets.leave(slot.net)

    def _do_chores(self) -> None:
        self.give_up_idle(_IDLE_S)
        if time.monotonic() - self._swept_at > _SWEEP_S:
            self._swept_at = time.monotonic()
            self._parts.household.sweep()
        self._catch_up()

    def _catch_up(self) -> None:
        """Removes what could not be removed while the engine was away."""
        if self._parts.household.is_behind:
            self._parts.household.sweep()


def _surplus(stock: _Stock) -> list[ContainerSlot]:
    """Takes out of a stock what is old, and what is more than is to be kept."""
    old = [slot for slot in stock.ready if _is_old(slot)]
    young = [slot for slot in stock.ready if slot not in old]
    beyond = max(0, len(young) - max(stock.kept, 0))
    stock.ready = young[beyond:]
    return old + young[:beyond]


def _is_old(slot: ContainerSlot) -> bool:
    return time.monotonic() - slot.made_at > USED_FOR_S


__all__ = ["Parts", "Pool"]
