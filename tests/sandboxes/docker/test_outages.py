"""An engine that goes away, comes back, loses its image and runs out of disk.

Each is told by type and remedy while it lasts, and over without a restart of ours.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from sandboxes.base import SandboxBroken, SandboxError, SandboxSpec, SandboxUnavailable
from sandboxes.docker.engine import Engine
from sandboxes.docker.labels import OWNER
from sandboxes.docker.provider import DockerProvider
from tests.sandboxes.conftest import SMALL, until
from tests.sandboxes.docker.conftest import KINDS
from tests.sandboxes.docker.own_engine import OwnEngine

SPEC = SandboxSpec(SMALL)
Open = Callable[[str], DockerProvider]


@pytest.fixture
def up(own: OwnEngine) -> Iterator[OwnEngine]:
    """Runs before and after, whatever the test did to it."""
    own.restart()
    yield own
    own.restart()
    until(lambda: not Engine(own.url).containers(OWNER), "containers are left")


@pytest.fixture
def open_on(own: OwnEngine) -> Iterator[Open]:
    providers = []

    def opened(kind: str) -> DockerProvider:
        providers.append(KINDS[kind](url=own.url))
        return providers[-1]

    yield opened
    for provider in providers:
        provider.close()


def runs(provider: DockerProvider) -> bool:
    with provider.create(SPEC) as box:
        return box.exec(["true"]).exit == 0


def refusal(provider: DockerProvider) -> SandboxError:
    with pytest.raises(SandboxUnavailable) as caught:
        runs(provider)
    assert caught.value.remedy
    return caught.value


def test_absent_at_first(up: OwnEngine, open_on: Open) -> None:
    up.stop()
    provider = open_on("container")
    assert "start the engine" in refusal(provider).remedy
    assert not provider.probe().available
    up.start()
    assert provider.probe().available
    assert runs(provider)


@pytest.mark.parametrize("manner", ["kill", "stop"])
@pytest.mark.parametrize("kind", KINDS)
def test_gone_in_the_middle_of_a_run(kind: str, manner: str, up: OwnEngine, open_on: Open) -> None:
    provider = open_on(kind)
    told: list[object] = []

    def work() -> None:
        with provider.create(SandboxSpec(replace(SMALL, time_s=900))) as box:
            box.write({"program": b"import time; time.sleep(600)"})
            try:
                told.append(box.exec(["python3", "program"]))
            except SandboxError as error:
                told.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: up.runs_programs("program") == 2, "the programs did not start")
    getattr(up, manner)()
    for thread in threads:
        thread.join()
    for fault in told:
        assert isinstance(fault, (SandboxBroken, SandboxUnavailable)), fault
    assert "start the engine" in refusal(provider).remedy
    up.start()
    assert runs(provider)
    until(lambda: up.runs_programs("program") == 0, "a program outlives its engine")


def test_restarted_while_containers_wait(up: OwnEngine, open_on: Open) -> None:
    provider = open_on("container")
    assert runs(provider)
    until(lambda: provider._pool().ready() > 0, "no container was made ahead")
    up.kill()
    up.start()
    assert runs(provider)


def test_image_removed_and_built_anew(up: OwnEngine, open_on: Open) -> None:
    provider = open_on("container")
    assert runs(provider)
    engine = Engine(up.url)

    def is_idle() -> bool:
        provider._pool().give_up_idle(after_s=0.0)
        return not engine.containers(OWNER)

    until(is_idle, "containers wait for ever")
    engine._client().remove_image("answerkey-sandbox:python", force=True)
    for each in (provider, open_on("container")):  # one that knew it, one that never did
        assert refusal(each).remedy == "verifier-server sandbox build python"
    up.build()
    assert runs(provider)


def test_disk_full(up: OwnEngine, open_on: Open) -> None:
    provider = open_on("container")
    with up.full():
        assert "free space" in refusal(provider).remedy
    assert runs(provider)
