"""Providers of single-use containers, made of the host's files, and what they may leave."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sandboxes.oci.leftovers import HOME
from sandboxes.oci.provider import OciProvider
from sandboxes.oci.runtime import RUNTIMES, Runtime

Open = Callable[..., OciProvider]
CGROUPS = Path("/sys/fs/cgroup")


@pytest.fixture(autouse=True)
def no_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Roots come from the host's files, whatever was unpacked here before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def as_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("containers without Docker take root")


@pytest.fixture(params=RUNTIMES)
def runtime(request: pytest.FixtureRequest, as_root: None) -> str:
    name: str = request.param
    if not is_installed(name):
        pytest.skip(f"{name} is not installed")
    return name


def is_installed(name: str) -> bool:
    return os.access(Runtime(name, f"/usr/bin/{name}").path, os.X_OK) or os.access(
        f"/usr/sbin/{name}", os.X_OK
    )


@pytest.fixture
def open_provider(as_root: None) -> Iterator[Open]:
    """Opens providers, which are closed when the test ends; then nothing of ours may be left."""
    of_others = set(left_by(os.getpid()))  # other levels' boxes that this process holds open
    with ExitStack() as stack:

        def opened(runtime: str | None = None, **options: Any) -> OciProvider:
            return stack.enter_context(OciProvider(runtime, **options))

        yield opened
    assert set(left_by(os.getpid())) <= of_others


def left_by(pid: int) -> list[Path]:
    """Cgroups and directories of containers whose owner is, or was, that process."""
    places = [HOME, *CGROUPS.glob("answerkey"), *CGROUPS.glob("*/answerkey")]
    entries = [entry for place in places if place.is_dir() for entry in place.iterdir()]
    return [entry for entry in entries if entry.name.split(".")[1:2] == [str(pid)]]


def processes_of(pid: int) -> set[int]:
    """Processes in containers whose owner is, or was, that process."""
    found: set[int] = set()
    for group in left_by(pid):
        try:
            found |= set(map(int, (group / "cgroup.procs").read_text().split()))
        except OSError:
            continue
    return found
