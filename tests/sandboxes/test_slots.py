"""The pool of launchers: what is used again, what is destroyed, and by whom."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, cast

from sandboxes.base import SandboxSpec
from sandboxes.embedded.slots import Kind, Slots
from tests.sandboxes.conftest import until

SPEC = SandboxSpec()


@dataclass(eq=False)
class FakeSlot:
    spent: bool = False
    runs: int = 0
    closed: bool = False
    may_close: threading.Event = field(default_factory=threading.Event)

    def forget(self) -> None:
        pass

    def close(self) -> None:
        self.may_close.wait(30)
        self.closed = True


class FakePlace:
    lives = True


class Maker:
    """Makes slots, and knows them all."""

    def __init__(self, *, quick: bool = True) -> None:
        self.quick = quick
        self.made: list[FakeSlot] = []

    def __call__(self, kind: Kind) -> tuple[Any, Any]:
        slot = FakeSlot()
        if self.quick:
            slot.may_close.set()
        self.made.append(slot)
        return slot, FakePlace()


def lease(slots: Slots, spec: SandboxSpec = SPEC) -> FakeSlot:
    return cast(FakeSlot, slots.lease(spec, spec.limits, 0))


def give_back(slots: Slots, slot: FakeSlot) -> None:
    slots.give_back(cast(Any, slot))


def test_a_slot_is_used_again_by_its_kind_alone() -> None:
    slots = Slots(Maker(), "fake")
    first = lease(slots)
    give_back(slots, first)
    warm = lease(slots, SandboxSpec(preload=("json",)))
    assert warm is not first
    assert lease(slots) is first
    give_back(slots, first)
    give_back(slots, warm)
    slots.close()
    assert first.closed
    assert warm.closed


def test_a_slot_that_is_spent_is_replaced_before_it_is_asked_for() -> None:
    make = Maker()
    slots = Slots(make, "fake")
    slot = lease(slots)
    slot.spent = True
    give_back(slots, slot)
    until(lambda: slot.closed and len(make.made) == 2, "not replaced")
    until(lambda: not slots._chores.qsize(), "still busy")
    slots.close()
    assert all(slot.closed for slot in make.made)


def test_what_waits_to_be_destroyed_stays_few_however_slow_that_is() -> None:
    make = Maker(quick=False)
    slots = Slots(make, "fake")

    def spend_many() -> None:
        for _ in range(40):
            slot = lease(slots)
            slot.spent = True
            give_back(slots, slot)

    spender = threading.Thread(target=spend_many)
    spender.start()
    spender.join(1)
    assert spender.is_alive()  # it destroys one by itself now
    assert len(make.made) < 15
    while spender.is_alive():
        for slot in list(make.made):
            slot.may_close.set()
        spender.join(0.01)
    make.quick = True
    for slot in make.made:
        slot.may_close.set()
    slots.close()
    assert all(slot.closed for slot in make.made)


def test_what_comes_back_after_the_end_is_destroyed() -> None:
    slots = Slots(Maker(), "fake")
    slot = lease(slots)
    slots.close()
    give_back(slots, slot)
    assert slot.closed
