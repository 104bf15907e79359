"""Launchers in their places, made ahead and used again: the pool of one provider."""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from sandboxes.base import Limits, SandboxError, SandboxSpec
from sandboxes.embedded.place import ProcessPlace
from sandboxes.launcher.slot import Slot

# What a program may have done to a launcher unseen lasts no longer than so many runs.
_RUNS_PER_SLOT = 500
_MOST_IDLE = 8
# Beyond that, whoever brings a spent slot back destroys it: what waits to be destroyed holds
# memory and descriptors.
_MOST_CHORES = 8


@dataclass(frozen=True, slots=True)
class Kind:
    """What tells slots apart: what their programs can import, what has been already, and which
    directories of the host they see.
    """

    packages: tuple[str, ...]
    preload: tuple[str, ...]
    mounts: tuple[tuple[str, str], ...] = ()


class Slots:
    """See `SlotPool`. For threads.

    A slot in which something was killed is replaced in the background; of the kinds for which
    that has happened one is kept in reserve, so that whoever comes next does not wait.

    Args:
        make: a new slot, and its place.
        isolation: the level in force.
    """

    def __init__(self, make: Callable[[Kind], tuple[Slot, ProcessPlace]], isolation: str) -> None:
        self.isolation = isolation
        self._make = make
        self._lock = threading.Lock()
        self._idle: dict[Kind, list[Slot]] = defaultdict(list)
        self._known: dict[Slot, tuple[Kind, ProcessPlace]] = {}
        self._reserved: set[Kind] = set()
        self._closed = False
        self._chores: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None

    def lease(self, spec: SandboxSpec, limits: Limits, laid_bytes: int) -> Slot:
        """See `SlotPool`."""
        kind = Kind(spec.packages, spec.preload, tuple(sorted(spec.mounts.items())))
        slot = self._take(kind) or self._new(kind)
        if kind in self._reserved and not self._idle[kind]:
            self._later(lambda: self._reserve(kind))
        return slot

    def give_back(self, slot: Slot) -> None:
        """See `SlotPool`."""
        kind, _ = self._known[slot]
        if not slot.spent and slot.runs < _RUNS_PER_SLOT:
            slot.forget()
            if self._keep(kind, slot):
                return
        self._reserved.add(kind)
        if not self._later(lambda: self._discard(slot)):
            self._discard(slot)
        self._later(lambda: self._reserve(kind))

    def close(self) -> None:
        """Destroys what is idle now, and what is leased when it comes back. Idempotent."""
        with self._lock:
            self._closed = True
            idle = [slot for slots in self._idle.values() for slot in slots]
            self._idle.clear()
            worker, self._worker = self._worker, None
        if worker is not None:
            self._chores.put(None)
            worker.join()
        for slot in idle:
            self._discard(slot)

    def _take(self, kind: Kind) -> Slot | None:
        """One that is idle and lives."""
        while True:
            with self._lock:
                if not self._idle[kind]:
                    return None
                slot = self._idle[kind].pop()
                _, place = self._known[slot]
            if place.lives:
                return slot
            self._discard(slot)

    def _new(self, kind: Kind) -> Slot:
        slot, place = self._make(kind)
        with self._lock:
            self._known[slot] = (kind, place)
        return slot

    def _keep(self, kind: Kind, slot: Slot) -> bool:
        """Whether there was room for it."""
        with self._lock:
            room = not self._closed and sum(map(len, self._idle.values())) < _MOST_IDLE
            if room:
                self._idle[kind].append(slot)
            return room

    def _discard(self, slot: Slot) -> None:
        with self._lock:
            del self._known[slot]
        slot.close()

    def _reserve(self, kind: Kind) -> None:
        if self._closed or self._idle[kind]:
            return
        try:
            slot = self._new(kind)
        except SandboxError:
            return  # whoever needs it will be told
        if not self._keep(kind, slot):
            self._discard(slot)

    def _later(self, chore: Callable[[], None]) -> bool:
        """Whether it will be done in the background; not if too much is to be done there."""
        with self._lock:
            if self._closed or self._chores.qsize() >= _MOST_CHORES:
                return False
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="slots", daemon=True)
                self._worker.start()
            self._chores.put(chore)
            return True

    def _work(self) -> None:
        while (chore := self._chores.get()) is not None:
            chore()


__all__ = ["Kind", "Slots"]
