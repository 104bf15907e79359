"""Slots made ahead, each leased once: what is there when a program comes, and how many wait.

The stock follows demand. For each kind it aims at as many as are in use at once, which sinks
slowly when fewer are; all kinds together never exceed its bound, which the kind that is asked
for takes from the others. Making and removing go on in the background; when nothing waits, a
slot is made in the caller's own time.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sandboxes.base import Limits, SandboxError, SandboxSpec, SandboxUnavailable
from sandboxes.launcher.slot import Slot
from sandboxes.oci.container import Container
from sandboxes.oci.roots import Kind

_SINKS_BY = 0.95
# As many removals may wait; whoever gives back more does it in his own time.
_MOST_TO_REMOVE = 16


def usual_bound() -> int:
    """How many slots wait at most unless it is said otherwise: four a processor, but not many."""
    return min(32, 4 * len(os.sched_getaffinity(0)))


class Stock:
    """See `SlotPool`.

    Args:
        make: a new slot of a kind, and the container it is in.
        isolation: of all of them.
        bound: how many wait at most; 0 for none ahead.
    """

    def __init__(
        self, make: Callable[[Kind], tuple[Slot, Container]], isolation: str, bound: int
    ) -> None:
        self.isolation = isolation
        self._make = make
        self._bound = bound
        self._lock = threading.Lock()
        self._waiting: defaultdict[Kind, deque[tuple[Slot, Container]]] = defaultdict(deque)
        self._making: Counter[Kind] = Counter()
        self._leased: dict[Slot, tuple[Kind, Container]] = {}
        self._peaks: defaultdict[Kind, float] = defaultdict(float)
        self._to_remove = 0
        self._closed = False
        workers = len(os.sched_getaffinity(0))
        self._makers = ThreadPoolExecutor(workers, "oci-make")
        self._removers = ThreadPoolExecutor(1, "oci-remove")

    def add(self, kind: Kind) -> None:
        """Makes one now, to wait. Raises as `lease` does."""
        made = self._make(kind)
        with self._lock:
            self._waiting[kind].append(made)

    def lease(self, spec: SandboxSpec, limits: Limits, laid_bytes: int) -> Slot:
        """See `SlotPool`."""
        kind = Kind(spec.runtime, spec.packages)
        slot, container = self._take(kind) or self._make(kind)
        with self._lock:
            self._leased[slot] = kind, container
        self._refill(kind)
        try:
            container.make_room(limits, laid_bytes)
        except SandboxError:
            self.give_back(slot)
            raise
        return slot

    def give_back(self, slot: Slot) -> None:
        """See `SlotPool`: none is used twice."""
        with self._lock:
            _, container = self._leased.pop(slot)
        container.kill()
        self._remove(slot)

    def close(self) -> None:
        """Destroys what waits, and waits for what is being made or removed. Idempotent."""
        with self._lock:
            self._closed = True
        self._makers.shutdown(cancel_futures=True)
        with self._lock:
            slots = [slot for waiting in self._waiting.values() for slot, _ in waiting]
            slots += self._leased
            self._waiting.clear()
            self._leased.clear()
        self._removers.shutdown()
        for slot in slots:
            slot.close()

    def _take(self, kind: Kind) -> tuple[Slot, Container] | None:
        """The one that has waited longest and still lives."""
        while True:
            with self._lock:
                if self._closed:
                    raise SandboxUnavailable("the sandbox provider is closed")
                if not self._waiting[kind]:
                    return None
                slot, container = self._waiting[kind].popleft()
            if container.is_alive:
                return slot, container
            self._remove(slot)

    def _refill(self, kind: Kind) -> None:
        """Has as many made as are missing."""
        with self._lock:
            used = sum(leased == kind for leased, _ in self._leased.values())
            self._peaks[kind] = max(used, self._peaks[kind] * _SINKS_BY)
            wanted = min(self._bound, round(self._peaks[kind]))
            missing = max(0, wanted - len(self._waiting[kind]) - self._making[kind])
            surplus = self._count() + missing - self._bound
            others = [k for k in self._waiting if k != kind for _ in self._waiting[k]]
            too_many = [self._waiting[k].popleft()[0] for k in others[: max(0, surplus)]]
            missing -= max(0, surplus - len(too_many))
            self._making[kind] += max(0, missing)
        for slot in too_many:
            self._remove(slot)
        for _ in range(missing):
            self._makers.submit(self._make_one, kind)

    def _count(self) -> int:
        return sum(map(len, self._waiting.values())) + self._making.total()

    def _make_one(self, kind: Kind) -> None:
        made = None
        try:
            made = self._make(kind)
        except SandboxError:
            pass  # whoever comes when nothing waits is told why
        finally:
            with self._lock:
                self._making[kind] -= 1
                if made is not None and not self._closed:
                    self._waiting[kind].append(made)
                    made = None
        if made is not None:
            made[0].close()

    def _remove(self, slot: Slot) -> None:
        with self._lock:
            at_once = self._closed or self._to_remove >= _MOST_TO_REMOVE
            self._to_remove += not at_once
        if at_once:
            slot.close()
        else:
            self._removers.submit(self._remove_one, slot)

    def _remove_one(self, slot: Slot) -> None:
        try:
            slot.close()
        finally:
            with self._lock:
                self._to_remove -= 1


__all__ = ["Stock", "usual_bound"]
