"""What becomes of containers whose owner is killed, and what is removed for others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sandboxes.docker.engine import Engine
from sandboxes.docker.labels import OWNER, Household
from sandboxes.docker.profile import Profile, Resources
from sandboxes.owner import owner_mark
from tests.sandboxes.conftest import ROOT, until
from tests.sandboxes.docker.conftest import KINDS, TEMPLATE, Open

OWNER_PROGRAM = """
import sys
from sandboxes.base import Limits, SandboxSpec
from sandboxes.docker.provider import ContainerProvider, NestedProvider
kind = {"container": ContainerProvider, "nested": NestedProvider}[sys.argv[1]]
provider = kind(image=sys.argv[2])
with provider.create(SandboxSpec(Limits(time_s=600))) as box:
    box.exec(["true"])
    print("ready", flush=True)
    if sys.argv[3] == "busy":
        box.exec(["sleep", "500"])
    sys.stdin.read()
"""
BOOT, UNTIL, HOUSEHOLD = "answerkey.host", "answerkey.until", "answerkey.household"


@contextmanager
def another_owner(kind: str, manner: str) -> Iterator[subprocess.Popen[bytes]]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER_PROGRAM, kind, TEMPLATE, manner],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"ready\n"
        yield owner
        owner.kill()


@pytest.fixture
def of(engine: Engine) -> Callable[[int], set[str]]:
    def found(pid: int) -> set[str]:
        every = engine.containers(OWNER)
        return {name for name, labels in every.items() if labels[OWNER].split(".")[1] == str(pid)}

    return found


@pytest.mark.parametrize("manner", ["idle", "busy"])
@pytest.mark.parametrize("kind", KINDS)
def test_containers_of_a_killed_owner_are_gone(
    kind: str, manner: str, image: str, of: Callable[[int], set[str]], engine: Engine
) -> None:
    def running(pid: int) -> set[str]:
        listed = engine._client().containers(filters={"label": OWNER})
        return {entry["Names"][0].lstrip("/") for entry in listed if entry["Names"]} & of(pid)

    def swept(pid: int) -> set[str]:
        Household(engine).sweep()
        return of(pid)

    with another_owner(kind, manner) as owner:
        until(lambda: len(of(owner.pid)) >= 2, "too few containers")
        owner.kill()
        owner.wait()
        until(lambda: not running(owner.pid), "containers outlive their owner")
        # Some were made, but not started yet.
        until(lambda: not swept(owner.pid), "what never ran is not swept")


@pytest.fixture
def left_behind(engine: Engine, image: str) -> Iterator[Callable[..., str]]:
    """Makes containers that never ran, with labels changed: only a sweep can remove them."""
    made = []

    def make(**changes: str) -> str:
        household = Household(engine)
        name = household.new_name()
        made.append(name)
        labels = household.labels(600)
        names = {"owner": OWNER, "host": BOOT, "until": UNTIL, "household": HOUSEHOLD}
        labels |= {names[key]: value for key, value in changes.items()}
        profile = Profile(image, ("true",), "runc", Resources(32 << 20, 9), 1 << 20)
        engine.create(name, profile.body({}, labels))
        return name

    yield make
    for name in made:
        engine.remove(name)


def dead_mark() -> str:
    child = subprocess.Popen(["sleep", "60"])
    mark = owner_mark(child.pid)
    child.kill()
    child.wait()
    return mark


FOREIGN = "1.1.1"  # in a PID namespace that is not ours


@pytest.mark.parametrize(
    ("changes", "is_removed"),
    [
        ({}, False),  # another provider of this very process
        ({"owner": dead_mark}, True),
        ({"owner": dead_mark, "host": "another"}, False),
        ({"owner": FOREIGN}, False),
        ({"owner": FOREIGN, "until": str(int(time.time()) - 1)}, True),
        ({"host": "another", "until": str(int(time.time()) - 1)}, True),
        ({"owner": "nonsense", "until": "nonsense"}, True),
    ],
)
def test_only_what_nobody_owns_is_swept(
    changes: dict[str, Any], is_removed: bool, left_behind: Callable[..., str], engine: Engine
) -> None:
    name = left_behind(**{k: v() if callable(v) else v for k, v in changes.items()})
    Household(engine).sweep()
    assert (name not in engine.containers(OWNER)) is is_removed


def test_what_could_not_be_removed_is_swept(
    left_behind: Callable[..., str], engine: Engine
) -> None:
    household = Household(engine)
    name = left_behind(household=household.labels(0)[HOUSEHOLD])
    household.sweep()
    assert name not in engine.containers(OWNER)


def test_opening_a_provider_sweeps(
    left_behind: Callable[..., str], engine: Engine, open_provider: Open
) -> None:
    name = left_behind(owner=dead_mark())
    assert open_provider().probe().available
    assert name not in engine.containers(OWNER)


def test_a_closed_provider_leaves_nothing(
    open_provider: Open, engine: Engine, ours: Callable[[], set[str]]
) -> None:
    for kind in KINDS:
        provider = open_provider(kind)
        assert provider.probe().available
        assert ours()
        provider.close()
        provider.close()
        until(lambda: not ours(), "something is left")
