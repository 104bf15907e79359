"""A Docker engine, and an image whose launcher is the one that is tested."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sandboxes.base import SandboxSpec, SandboxUnavailable
from sandboxes.docker.engine import About, Engine
from sandboxes.docker.images import Images
from sandboxes.docker.labels import OWNER, Household
from sandboxes.docker.profile import Profile, Resources
from sandboxes.docker.provider import IMAGE, ContainerProvider, DockerProvider, NestedProvider
from tests.sandboxes.docker.own_engine import OwnEngine

Open = Callable[..., DockerProvider]
TEMPLATE = os.environ.get("VERIFIER_SANDBOX_IMAGE", IMAGE)
KINDS = {"container": ContainerProvider, "nested": NestedProvider}
_BUILD_S = 250
_ENGINE_BYTES = 400 << 20


@pytest.fixture(scope="session")
def engine() -> Engine:
    return Engine(request_s=60)


@pytest.fixture(scope="session")
def about(engine: Engine) -> About:
    try:
        return engine.about()
    except SandboxUnavailable as error:
        pytest.skip(f"no Docker engine: {error}")


@pytest.fixture(scope="session")
def image(engine: Engine, about: About) -> str:
    """The id of the image of `python` boxes, built if it is not there or of another launcher."""
    try:
        return Images(engine, TEMPLATE).find(SandboxSpec())
    except SandboxUnavailable:
        command = [str(Path(sys.executable).with_name("verifier-server")), "sandbox", "build"]
        built = subprocess.run(
            [*command, "python", "--from", "host"], capture_output=True, text=True, timeout=_BUILD_S
        )
        if built.returncode != 0:
            pytest.skip(f"no image of boxes: {built.stderr[-500:]}")
    return Images(engine, TEMPLATE).find(SandboxSpec())


@pytest.fixture(scope="session")
def own() -> Iterator[OwnEngine]:
    """An engine that a test may kill, and starts again."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("no dockerd, or not root to start one")
    own = OwnEngine(Path(tempfile.mkdtemp(prefix="engine-")), _ENGINE_BYTES)
    try:
        own.start()
        own.build()
        yield own
    finally:
        own.close()


@pytest.fixture
def open_provider(image: str) -> Iterator[Open]:
    """Opens providers, which are closed when the test ends."""
    with ExitStack() as stack:

        def opened(kind: str = "container", **options: Any) -> DockerProvider:
            provider = KINDS[kind](**{"image": TEMPLATE, **options})
            stack.callback(provider.close)
            return provider

        yield opened


@pytest.fixture
def make_container(engine: Engine, image: str) -> Iterator[Callable[..., str]]:
    """Makes containers of the profile that run a Python program; removed when the test ends."""
    household = Household(engine)
    names = []

    def made(
        program: str, *, memory_bytes: int = 64 << 20, runtime: str = "runc", slot: bool = False
    ) -> str:
        name = household.new_name()
        names.append(name)
        command = ("python3", "-I", "-S", "-c", program)
        resources = Resources(memory_bytes, 300)
        profile = Profile(image, command, runtime, resources, 1 << 20, slot=slot)
        engine.create(name, profile.body({}, household.labels(600)))
        return name

    yield made
    for name in names:
        engine.remove(name)


@pytest.fixture
def ours(engine: Engine) -> Callable[[], set[str]]:
    """Names of this process's containers."""
    mark = Household(engine).labels(0)[OWNER]

    def found() -> set[str]:
        every = engine.containers(OWNER)
        return {name for name, labels in every.items() if labels[OWNER] == mark}

    return found


@pytest.fixture
def no_runtime(about: About) -> Callable[[str], None]:
    """Skips what needs an OCI runtime that the engine does not have, or that can't run here."""

    def need(runtime: str) -> None:
        if runtime not in about.runtimes:
            pytest.skip(f"the engine has no runtime {runtime}")

    return need
