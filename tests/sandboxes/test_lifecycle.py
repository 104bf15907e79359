"""What is left of a box: nothing, however it, its owner or bwrap ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from sandboxes.base import ExitReason, Limits, SandboxBroken, SandboxSpec
from sandboxes.embedded.bubblewrap import BubblewrapProvider
from sandboxes.embedded.cgroups import CgroupParent
from sandboxes.embedded.owner import is_orphaned, kill_orphaned_boxes, owner_mark
from tests.sandboxes.conftest import ROOT, SMALL, OrdinaryUser, until

Find = Callable[[str], list[int]]

OWNER = """
import os
from sandboxes.base import Limits, SandboxSpec
from sandboxes.embedded.bubblewrap import BubblewrapProvider
provider = BubblewrapProvider(os.environ.get("BWRAP"))
with provider.create(SandboxSpec(Limits(time_s=300))) as box:
    program = "import os, time; os.fork(); os.setsid() if os.getpid() != 2 else 0; time.sleep(300)"
    box.exec(["python3", "-c", program, "MARK"])
"""


def test_nothing_survives_an_owner_that_is_killed(processes_with: Find) -> None:
    mark = uuid.uuid4().hex
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    owner = subprocess.Popen([sys.executable, "-c", OWNER.replace("MARK", mark)], env=environment)
    _kill_and_look(owner, mark, processes_with)


def test_nothing_survives_an_ordinary_users_owner(
    processes_with: Find, ordinary_user: OrdinaryUser
) -> None:
    mark = uuid.uuid4().hex
    owner = ordinary_user.start(OWNER.replace("MARK", mark))
    _kill_and_look(owner, mark, processes_with)
    assert owner.stdout is not None
    owner.stdout.close()


def _kill_and_look(owner: subprocess.Popen[bytes], mark: str, processes_with: Find) -> None:
    def in_the_box() -> list[int]:
        return [pid for pid in processes_with(mark) if pid != owner.pid]

    # bwrap, its init, the program and its child
    until(lambda: len(in_the_box()) >= 4, "the box did not start")
    owner.kill()
    owner.wait()
    until(lambda: not in_the_box(), f"still there: {in_the_box()}")


def test_what_owners_leave_that_are_killed_while_they_set_up_is_swept_by_the_next(
    provider: BubblewrapProvider, processes_with: Find
) -> None:
    mark = uuid.uuid4().hex
    provider.probe()
    for delay_ms in range(0, 60, 2):
        owner = os.fork()
        if owner == 0:
            while True:
                with provider.create(SandboxSpec(SMALL)) as box:
                    box.exec(["true", mark])
        time.sleep(delay_ms / 1000)
        os.kill(owner, signal.SIGKILL)
        os.waitpid(owner, 0)

    def swept() -> bool:
        kill_orphaned_boxes()
        return not processes_with(mark)

    until(swept, "left behind")


def test_a_living_owners_box_is_not_swept(provider: BubblewrapProvider) -> None:
    with provider.create(SandboxSpec(SMALL)) as box:
        sweeping = threading.Thread(target=kill_orphaned_boxes)
        sweeping.start()
        assert box.exec(["sleep", "0.3"]).exit == 0
        sweeping.join()


def test_a_mark_is_orphaned_when_its_process_is_gone_or_another() -> None:
    mine = owner_mark()
    namespace, pid, started = mine.split(".")
    assert not is_orphaned(mine)
    assert is_orphaned(f"{namespace}.{pid}.{int(started) - 1}")
    child = subprocess.Popen(["true"])
    theirs = owner_mark(child.pid)
    child.wait()
    assert is_orphaned(theirs)
    assert not is_orphaned(f"{int(namespace) + 1}.{pid}.1")
    assert not is_orphaned("anything")


def test_groups_of_a_killed_owner_are_swept_by_the_next() -> None:
    parent = CgroupParent.find()
    if parent is None:  # an ordinary user: there is nothing to sweep
        return
    program = (
        "import os, signal\n"
        "from sandboxes.embedded.cgroups import CgroupParent\n"
        "CgroupParent.find().make(memory_bytes=1 << 26, pids=9)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    owner = subprocess.Popen([sys.executable, "-c", program], env=environment)
    owner.wait()

    def left() -> list[Path]:
        folders = set(parent.folders.values())
        return [g for f in folders for g in f.iterdir() if f".{owner.pid}." in g.name]

    assert left()
    mine = parent.make(memory_bytes=1 << 26, pids=9)
    parent.sweep()
    assert not left()
    assert all(folder.is_dir() for folder in mine.folders.values())  # of one that lives, nothing
    mine.close()


def test_runs_leave_no_descriptor_process_thread_group_or_file(
    provider: BubblewrapProvider, processes_with: Find, tmp_path: Path
) -> None:
    mark = uuid.uuid4().hex
    programs = [
        ["python3", "-c", "pass", mark],
        ["sh", "-c", "sleep 300 & exit 0", mark],
        ["sh", "-c", "kill -9 $$", mark],
        ["sh", "-c", "yes", mark],
        ["no-such-program", mark],
    ]

    def census() -> dict[str, object]:
        groups = CgroupParent.find()
        own = f".{os.getpid()}."
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        return {
            "descriptors": sorted(os.listdir("/proc/self/fd")),
            "threads": threading.active_count(),
            "children": Path(f"/proc/self/task/{os.getpid()}/children").read_text(),
            "groups": [
                g.name
                for f in set(groups.folders.values() if groups else ())
                for g in f.iterdir()
                if own in g.name
            ],
            # Those of others come and go meanwhile.
            "mounts": [line for line in mounts if "newroot" in line or "/box" in line],
        }

    provider.probe()
    before = census()
    for turn in range(40):
        with provider.create(SandboxSpec(SMALL)) as box:
            box.write({"file": b"x" * 1000})
            box.exec(programs[turn % len(programs)])
            box.close()
    assert census() == before
    assert processes_with(mark) == []


def test_a_box_can_be_closed_twice_and_used_by_with(provider: BubblewrapProvider) -> None:
    with provider.create(SandboxSpec()) as box:
        box.exec(["true"])
        box.close()
    box.close()


@pytest.mark.parametrize("victim", ["bwrap", "program"])
def test_kills_from_outside_are_told_apart(
    victim: str, provider: BubblewrapProvider, processes_with: Find
) -> None:
    mark = uuid.uuid4().hex
    ended: list[object] = []

    def work() -> None:
        with provider.create(SandboxSpec(SMALL)) as box:
            try:
                ended.append(box.exec(["python3", "-c", "import time; time.sleep(60)", mark]))
            except SandboxBroken as error:
                ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: len(_named(processes_with(mark), "python3")) == 1, "the program did not start")
    name = "answerkey-bwrap" if victim == "bwrap" else "python3"
    os.kill(min(_named(processes_with(mark), name)), signal.SIGKILL)
    thread.join()
    if victim == "bwrap":
        assert isinstance(ended[0], SandboxBroken)
    else:
        assert (ended[0].reason, ended[0].signal) == (ExitReason.SIGNALLED, 9)  # type: ignore[attr-defined]
    assert processes_with(mark) == []


def _named(pids: list[int], name: str) -> list[int]:
    return [pid for pid in pids if _program(pid) == name]


def _program(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return command.split(b"\0")[0].decode().partition(":")[0]


def test_a_box_that_failed_can_be_used_again(
    provider: BubblewrapProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider.create(SandboxSpec(SMALL)) as box:
        with monkeypatch.context() as patch:
            patch.setattr(os, "pidfd_open", _no_room)
            with pytest.raises(SandboxBroken, match="Too many open files"):
                box.exec(["true"])
        assert box.exec(["true"]).exit == 0


def _no_room(pid: int) -> int:
    raise OSError(24, "Too many open files")


def test_the_limits_of_a_run_replace_those_of_the_box(provider: BubblewrapProvider) -> None:
    with provider.create(SandboxSpec(Limits(time_s=0.2))) as box:
        assert box.exec(["sleep", "30"]).reason is ExitReason.TIME_LIMIT
        assert box.exec(["sleep", "0.4"], limits=Limits(time_s=30)).exit == 0
