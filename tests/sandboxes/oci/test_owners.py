"""What becomes of containers whose owner is killed, and of what it leaves on the host."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandboxes.oci.provider import OciProvider
from sandboxes.owner import owner_mark
from tests.sandboxes.conftest import ROOT, until
from tests.sandboxes.oci.conftest import CGROUPS, Open, left_by, processes_of

OWNER_PROGRAM = """
import sys
from sandboxes.base import Limits, SandboxSpec
from sandboxes.oci.provider import OciProvider
provider = OciProvider(sys.argv[1])
with provider.create(SandboxSpec(Limits(time_s=600))) as box:
    box.exec(["true"])
    print("ready", flush=True)
    if sys.argv[2] == "busy":
        box.exec(["sh", "-c", "trap '' TERM HUP; sleep 500"])
    sys.stdin.read()
"""


@contextmanager
def another_owner(runtime: str, manner: str) -> Iterator[subprocess.Popen[bytes]]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER_PROGRAM, runtime, manner],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with owner:
        try:
            assert owner.stdout is not None
            assert owner.stdout.readline() == b"ready\n"
            yield owner
        finally:
            owner.kill()


def is_asleep(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\x00500\x00"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("manner", ["idle", "busy"])
def test_programs_of_a_killed_owner_die_and_the_next_one_removes_the_rest(
    manner: str, runtime: str
) -> None:
    with another_owner(runtime, manner) as owner:
        if manner == "busy":
            until(lambda: any(map(is_asleep, processes_of(owner.pid))), "no program runs")
        assert processes_of(owner.pid)
        owner.kill()
        owner.wait()
        until(lambda: not processes_of(owner.pid), "containers outlive their owner")
        # Time and again: a container may have been on its way as its owner was killed.
        until(lambda: is_swept(runtime, owner.pid), "its cgroups and directories are left")


def is_swept(runtime: str, pid: int) -> bool:
    with OciProvider(runtime) as provider:
        assert provider.probe().available
    return left_by(pid) == []


def test_nothing_of_a_live_owner_is_swept(runtime: str, open_provider: Open) -> None:
    with another_owner(runtime, "idle") as owner:
        before = left_by(owner.pid)
        assert open_provider(runtime).probe().available
        assert set(before) <= set(left_by(owner.pid))
        assert processes_of(owner.pid)
        assert owner.stdin is not None
        owner.stdin.close()  # lets it end by itself
        owner.wait(timeout=60)


def dead_mark() -> str:
    child = subprocess.Popen(["sleep", "60"])
    mark = owner_mark(child.pid)
    child.kill()
    child.wait()
    return mark


def test_groups_that_only_a_runtime_makes_are_swept_too(open_provider: Open) -> None:
    """A runtime makes a group in every version 1 hierarchy, ours or not."""
    folders = [folder for folder in CGROUPS.glob("*/answerkey") if folder.is_dir()]
    if not folders:
        pytest.skip("no version 1 hierarchies")
    name = f"{dead_mark()}.7"
    for folder in folders:
        (folder / name).mkdir()
    assert open_provider().probe().available
    assert not [folder for folder in folders if (folder / name).exists()]


def test_what_runs_in_the_groups_of_a_dead_owner_is_killed(open_provider: Open) -> None:
    folder = next((f for f in CGROUPS.glob("pids/answerkey") if f.is_dir()), None)
    if folder is None:
        pytest.skip("no version 1 hierarchy for pids")
    group = folder / f"{dead_mark()}.8"
    group.mkdir()
    with subprocess.Popen(["sleep", "600"]) as left:
        try:
            (group / "cgroup.procs").write_text(str(left.pid))
            assert open_provider().probe().available
            assert left.wait(timeout=60) == -9
        finally:
            left.kill()
    assert open_provider().probe().available
    assert not group.exists()
