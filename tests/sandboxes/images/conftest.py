"""A container engine, and names and folders of the tests' own in it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sandboxes.base import SandboxError
from sandboxes.images import recipes
from sandboxes.images.build import Order, Way, build_image
from sandboxes.images.contents import Stamp
from sandboxes.images.engine import Engine, open_engine

PACKAGES = ("iniconfig",)


def silent(_: str) -> None:
    pass


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    try:
        with open_engine() as engine:
            yield engine
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def repository() -> Iterator[str]:
    """The images' name while tests run, so that none in use is replaced."""
    with pytest.MonkeyPatch.context() as patch:
        name = f"answerkey-test-{secrets.token_hex(4)}"
        patch.setattr(recipes, "REPOSITORY", name)
        yield name


@pytest.fixture(scope="session")
def host_image(engine: Engine, repository: str) -> Iterator[Stamp]:
    """What the image for python, made of this host's files, says of itself."""
    yield build_image(engine, Order("python", PACKAGES, way=Way.HOST), silent)
    engine.remove(f"{repository}:python")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where unpacked images lie in this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "answerkey" / "rootfs"


RunIn = Callable[[str, list[str]], bytes]


@pytest.fixture(scope="session")
def run_in(engine: Engine) -> RunIn:
    """Runs a program of ours in a container of an image: no network, nothing can be written."""

    def run(image: str, argv: list[str]) -> bytes:
        with _client() as client:
            written: bytes = client.containers.run(
                image, argv, network_mode="none", read_only=True, tmpfs={"/tmp": ""}, remove=True
            )
            return written

    return run


@contextmanager
def _client() -> Iterator[Any]:
    import docker

    client = docker.from_env()
    try:
        yield client
    finally:
        client.close()
