"""Boxes for tests, and a second, unprivileged home for the package.

As root, some tests run once more as an ordinary user: a child process under another uid,
with the system's Python and a copy of the package that this user can read.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandboxes.base import MIB, Limits, Sandbox, SandboxProvider, SandboxSpec
from sandboxes.embedded.bubblewrap import BubblewrapProvider
from sandboxes.embedded.host import find_bwrap
from sandboxes.registry import open_provider

ROOT = Path(__file__).parent.parent.parent
NOBODY = 65534
# All attacks one after another take minutes on a busy machine.
_PATIENCE_S = 800
EMBEDDED = ("namespaces", "bubblewrap")
SMALL = Limits(
    time_s=20, memory_bytes=128 * MIB, output_bytes=MIB, disk_bytes=16 * MIB, pids=32, open_files=64
)


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


@pytest.fixture(scope="session")
def provider() -> BubblewrapProvider:
    return BubblewrapProvider()


@pytest.fixture(scope="session", params=EMBEDDED)
def embedded(request: pytest.FixtureRequest) -> Iterator[SandboxProvider]:
    """Each of the levels that need no daemon."""
    with contextlib.closing(open_provider(request.param)) as provider:
        yield provider


@pytest.fixture
def box(embedded: SandboxProvider) -> Iterator[Sandbox]:
    with embedded.create(SandboxSpec(SMALL)) as box:
        yield box


class OrdinaryUser:
    """Runs Python text with `sandboxes` importable and `BWRAP` set, as a user who isn't root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(
            ROOT / "sandboxes", folder / "sandboxes", ignore=shutil.ignore_patterns("__pycache__")
        )
        bwrap = Path(find_bwrap())
        if bwrap.parent.name == "_bin":  # the wheel's needs its libraries beside it
            package = bwrap.parent.parent
            shutil.copytree(package, folder / package.name)
            shutil.copytree(f"{package}.libs", folder / f"{package.name}.libs")
            bwrap = folder / package.name / "_bin" / "bwrap"
        self.bwrap = bwrap
        folder.chmod(0o755)

    def start(self, program: str, *prefix: str, **options: Any) -> subprocess.Popen[bytes]:
        as_root = os.geteuid() == 0
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if as_root else {}
        return subprocess.Popen(
            [*prefix, "/usr/bin/python3" if as_root else sys.executable, "-c", program],
            cwd=self.folder,
            env={
                "PYTHONPATH": str(self.folder),
                "PYTHONDONTWRITEBYTECODE": "1",
                "BWRAP": str(self.bwrap),
                "PATH": "/usr/bin:/bin",
            },
            stdout=subprocess.PIPE,
            **{**user, **options},
        )

    def run(self, program: str, *prefix: str, **options: Any) -> Any:
        """What the program printed, as JSON."""
        process = self.start(program, *prefix, **options)
        printed, _ = process.communicate(timeout=_PATIENCE_S)
        assert process.returncode == 0
        return json.loads(printed)


@pytest.fixture(scope="session")
def ordinary_user() -> Iterator[OrdinaryUser]:
    # Not below pytest's own folders, which are closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="ordinary-"))
    yield OrdinaryUser(folder)
    shutil.rmtree(folder)


@pytest.fixture
def processes_with() -> Callable[[str], list[int]]:
    """Pids of the host's processes whose command line has a word."""

    def find(word: str) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and word.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    return find
