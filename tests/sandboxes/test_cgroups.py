"""Cgroups of version 2 on a tree of plain files, and of version 1 for real where writable."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from sandboxes.base import ExitReason, Limits, SandboxSpec
from sandboxes.embedded import cgroups
from sandboxes.embedded.bubblewrap import BubblewrapProvider
from sandboxes.embedded.cgroups import Cgroup, CgroupParent
from sandboxes.metering import CgroupMeter


class KernelFolder(type(Path())):  # type: ignore[misc]
    """A directory whose groups have the kernel's files from birth, and are removed with them."""

    files: Mapping[str, str] = {
        "cgroup.procs": "",
        "cgroup.subtree_control": "",
        "memory.max": "max",
        "memory.swap.max": "max",
        "pids.max": "max",
        "memory.events": "low 0\noom 0\noom_kill 0\n",
        "memory.current": "1000\n",
        "memory.peak": "1000\n",
        "cpu.stat": "usage_usec 250000\nuser_usec 1\n",
    }

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        super().mkdir(mode, parents, exist_ok)
        for name, content in self.files.items():
            (self / name).write_text(content)

    def rmdir(self) -> None:
        for name in self.files:
            (self / name).unlink()
        super().rmdir()


@pytest.fixture
def version_2(tmp_path: Path) -> CgroupParent:
    folder = KernelFolder(tmp_path / "answerkey")
    folder.mkdir()
    return CgroupParent(2, dict.fromkeys(("memory", "pids", "cpu"), folder))


def _only_group(parent: CgroupParent) -> Path:
    (group,) = [g for g in parent.folders["memory"].iterdir() if g.is_dir()]
    return group


def test_limits_are_written_and_the_group_is_removed(version_2: CgroupParent) -> None:
    group = version_2.make(memory_bytes=1 << 27, pids=33)
    folder = _only_group(version_2)
    assert (folder / "memory.max").read_text() == str(1 << 27)
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "pids.max").read_text() == "33"
    group.add(4711)
    assert (folder / "cgroup.procs").read_text() == "4711"
    assert group.holds(4711)
    assert not group.holds(471)
    group.close()
    assert not folder.exists()


def test_readings_of_version_2(version_2: CgroupParent) -> None:
    group = version_2.make(memory_bytes=1 << 27, pids=33)
    folder = _only_group(version_2)
    meter = CgroupMeter(Limits(cpu_s=1.0), group.accounts())
    assert meter.read().memory_bytes is None  # it did not grow: nothing is known
    (folder / "memory.peak").write_text(f"{1000 + (1 << 20)}\n")
    (folder / "cpu.stat").write_text("usage_usec 1150000\n")
    reading = meter.read()
    assert reading.reason is None
    assert reading.cpu_s == pytest.approx(0.9)  # what the set-up took is not the program's
    assert reading.memory_bytes == 1 << 20
    (folder / "cpu.stat").write_text("usage_usec 1350000\n")
    assert meter.read().reason is ExitReason.TIME_LIMIT
    (folder / "memory.events").write_text("oom 1\noom_kill 1\n")
    assert meter.read().reason is ExitReason.MEMORY_LIMIT


def test_a_kernel_that_keeps_no_peak_is_no_error(version_2: CgroupParent) -> None:
    group = version_2.make(memory_bytes=1 << 27, pids=33)
    (_only_group(version_2) / "memory.peak").unlink()
    assert group.accounts().peak_memory_bytes() is None


def test_a_group_that_cannot_be_limited_is_not_left_behind(
    version_2: CgroupParent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Cgroup, **limits: int) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(Cgroup, "limit", refuse)
    with pytest.raises(PermissionError):
        version_2.make(memory_bytes=1, pids=1)
    assert [g for g in version_2.folders["memory"].iterdir() if g.is_dir()] == []


def test_groups_of_the_living_and_of_strangers_are_not_swept(version_2: CgroupParent) -> None:
    mine = version_2.make(memory_bytes=1, pids=1)
    folder = version_2.folders["memory"]
    (folder / "somebody-else").mkdir()
    dead = folder / f"{os.stat('/proc/self/ns/pid').st_ino}.1.999999999.0"
    dead.mkdir()
    version_2.sweep()
    assert not dead.exists()
    assert (folder / "somebody-else").is_dir()
    mine.close()


def test_a_host_without_a_memory_controller_has_no_place(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /none/cpu cgroup rw,relatime,cpu 0 0\n"
        f"cgroup2 {tmp_path}/none cgroup2 rw 0 0\n"
    )
    assert CgroupParent.find(mounts) is None


@pytest.mark.parametrize("mounted", [("cpu",), ()])
def test_runs_share_the_processors_where_version_1_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounted: tuple[str, ...]
) -> None:
    monkeypatch.setattr(cgroups, "_REMOVE_TRIES", 1)
    controllers = ("memory", "pids", "cpuacct", *mounted)
    for controller in controllers:
        (tmp_path / controller).mkdir()
    mounts = tmp_path / "mounts"
    mounts.write_text("".join(f"cgroup {tmp_path}/{c} cgroup rw,{c} 0 0\n" for c in controllers))
    parent = CgroupParent.find(mounts)
    assert parent is not None
    group = parent.make(memory_bytes=1 << 27, pids=33)
    group.add(4711)
    joined = {file.parts[-4] for file in tmp_path.glob("*/answerkey/*/cgroup.procs")}
    assert joined == set(controllers)


def test_a_mounted_but_unwritable_hierarchy_is_no_place(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "".join(f"cgroup /none/{c} cgroup rw,{c} 0 0\n" for c in ("memory", "pids", "cpuacct"))
    )
    assert CgroupParent.find(mounts) is None


@pytest.mark.skipif(CgroupParent.find() is None, reason="no cgroup is writable here")
def test_limits_can_be_raised_and_lowered_again() -> None:
    parent = CgroupParent.find()
    assert parent is not None
    group = parent.make(memory_bytes=1 << 26, pids=16)
    try:
        for mebibytes, pids in ((256, 40), (32, 8), (512, 99)):
            group.limit(memory_bytes=mebibytes << 20, pids=pids)
            files = {f for folder in group.folders.values() for f in folder.glob("*.max")}
            files |= set(group.folders["memory"].glob("memory.limit_in_bytes"))
            read = {file.name: file.read_text().strip() for file in files}
            assert read["pids.max"] == str(pids)
            assert str(mebibytes << 20) in read.values()
    finally:
        group.close()


def test_a_group_is_found_by_what_it_holds(version_2: CgroupParent) -> None:
    group = version_2.make(memory_bytes=1, pids=1)
    assert isinstance(group, Cgroup)
    assert not group.holds(os.getpid())


def test_many_busy_processes_of_one_run_share_one_processor(provider: BubblewrapProvider) -> None:
    spin = "import os, time\nfor _ in range(3): os.fork()\nend = time.time() + 1\n"
    spin += "while time.time() < end: pass\n"
    if CgroupParent.find() is None:
        pytest.skip("no cgroup is writable here: nothing limits the share of processors")
    with provider.create(SandboxSpec()) as box:
        result = box.exec(["python3", "-c", spin])
    assert result.usage.cpu_s is not None
    assert result.usage.cpu_s <= 1.3 * result.usage.wall_s
