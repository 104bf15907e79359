"""Memory, process and CPU accounting of one run in a cgroup, version 1 or 2, where writable.

Runs share the processors evenly, however many processes each has, so that a busy one does
not push its neighbours past their time limits. Version 2 does so by itself, version 1 in its
`cpu` hierarchy, where there is one.

A run's group lives in `answerkey/` below a parent that this process may write to; its name
carries the owner's mark. Sources: kernel docs `cgroup-v1/{memory,pids,cpuacct}`, `cgroup-v2`,
`scheduler/sched-design-CFS`.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandboxes.embedded.owner import is_orphaned, owner_mark
from sandboxes.metering import CgroupFiles

FOLDER = "answerkey"
# All runs together weigh as much as so many processes outside, each of 1024.
_V1_SHARES = 4 * 1024
# One run may keep one processor busy, however many processes it has.
_CPU_PERIOD_US = _CPU_QUOTA_US = 100_000
_REMOVE_TRIES, _REMOVE_PAUSE_S = 100, 0.005
_numbers = itertools.count()


class Cgroup:
    """One run's group. `folders` are its directories by controller (all the same in v2)."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def accounts(self) -> CgroupFiles:
        """What it used, for the caller to close."""
        return CgroupFiles(str(self._folders["memory"]), str(self._folders["cpu"]))

    @property
    def folders(self) -> Mapping[str, Path]:
        """Its directories by controller."""
        return self._folders

    def limit(self, *, memory_bytes: int, pids: int) -> None:
        """Puts limits in force, be they higher or lower than those before.

        Raises:
            OSError: the kernel refuses, for one because more memory is in use already.
        """
        memory = self._folders["memory"]
        if self._is_version_1:
            limit, with_swap = (memory / f"memory.{kind}limit_in_bytes" for kind in ("", "memsw."))
            # The second must not be the lower one, not even in passing.
            rises = limit.exists() and int(limit.read_text()) < memory_bytes
            if rises:
                _write_if_there(with_swap, memory_bytes)
            limit.write_text(str(memory_bytes))
            # Absent where the kernel doesn't account swap.
            _write_if_there(with_swap, memory_bytes)
            # A count of its own in version 1, of UDP's as well; none at all without a limit.
            _write_if_there(memory / "memory.kmem.tcp.limit_in_bytes", memory_bytes // 4)
        else:
            (memory / "memory.max").write_text(str(memory_bytes))
            _write_if_there(memory / "memory.swap.max", 0)
        (self._folders["pids"] / "pids.max").write_text(str(pids))

    def forget_peak(self) -> None:
        """Has the kernel keep the most memory held at once anew; all it can, some can't."""
        name = "memory.max_usage_in_bytes" if self._is_version_1 else "memory.peak"
        with contextlib.suppress(OSError):  # version 2 before Linux 6.12
            (self._folders["memory"] / name).write_text("0")

    def share(self) -> None:
        """Leaves it one processor's time at most. Raises OSError."""
        if not self._is_version_1:
            _write_if_there(self._folders["cpu"] / "cpu.max", f"{_CPU_QUOTA_US} {_CPU_PERIOD_US}")
        elif folder := self._folders.get("share"):
            _write_if_there(folder / "cpu.cfs_quota_us", _CPU_QUOTA_US)

    def add(self, pid: int) -> None:
        """Moves a process in; its descendants follow by birth."""
        for folder in set(self._folders.values()):
            (folder / "cgroup.procs").write_text(str(pid))

    def holds(self, pid: int) -> bool:
        """Whether a process is in, having been born there or moved."""
        folders = set(self._folders.values())
        return all(str(pid) in (f / "cgroup.procs").read_text().split() for f in folders)

    def close(self) -> None:
        """Removes the group; its processes must be dead."""
        for folder in set(self._folders.values()):
            remove_group(folder)

    @property
    def _is_version_1(self) -> bool:
        return len(set(self._folders.values())) > 1


@dataclass(frozen=True)
class CgroupParent:
    """Where groups can be made on this host: a directory by controller."""

    version: int
    folders: Mapping[str, Path]

    @classmethod
    def find(cls, mounts: Path = Path("/proc/self/mounts")) -> CgroupParent | None:
        """The first place where a memory group can really be made, or None."""
        for parent in _candidates(mounts):
            try:
                for folder in set(parent.folders.values()):
                    folder.mkdir(exist_ok=True)
                if "share" in parent.folders:
                    (parent.folders["share"] / "cpu.shares").write_text(str(_V1_SHARES))
                parent.sweep()
                parent.make(memory_bytes=1 << 26, pids=16).close()
            except OSError:
                continue
            return parent
        return None

    def make(self, *, memory_bytes: int, pids: int) -> Cgroup:
        """A new group under these limits.

        Raises:
            OSError: the host does not allow it.
        """
        name = f"{owner_mark()}.{next(_numbers)}"
        group = Cgroup({c: parent / name for c, parent in self.folders.items()})
        try:
            for folder in set(self.folders.values()):
                (folder / name).mkdir()
            group.limit(memory_bytes=memory_bytes, pids=pids)
            group.share()
        except OSError:
            group.close()
            raise
        return group

    def sweep(self) -> None:
        """Removes the empty groups of owners that are dead."""
        for folder in set(self.folders.values()):
            for group in folder.iterdir():
                if group.is_dir() and is_orphaned(group.name.rpartition(".")[0]):
                    with contextlib.suppress(OSError):
                        group.rmdir()


def _candidates(mounts: Path) -> Iterator[CgroupParent]:
    v1: dict[str, Path] = {}
    v2: Path | None = None
    for line in mounts.read_text().splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup":
            v1.update({c: Path(point) for c in options.split(",")})
        elif kind == "cgroup2":
            v2 = Path(point)
    wanted = {"memory": "memory", "pids": "pids", "cpu": "cpuacct"}
    for names in ({**wanted, "share": "cpu"}, wanted):
        if v1.keys() >= set(names.values()):
            yield CgroupParent(1, {ours: v1[theirs] / FOLDER for ours, theirs in names.items()})
    if v2 is not None:
        own = v2 / _own_v2_path().lstrip("/")
        # A group with processes of its own can't have limited children (unless it is the
        # root), so where a service manager put us in a leaf, ours go beside it.
        for base in dict.fromkeys((own, own.parent if own != v2 else v2)):
            if _enable_controllers(base):
                folder = base / FOLDER
                with contextlib.suppress(OSError):
                    folder.mkdir(exist_ok=True)
                    if _enable_controllers(folder):
                        yield CgroupParent(2, dict.fromkeys(("memory", "pids", "cpu"), folder))


def _own_v2_path() -> str:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            return line[3:]
    return "/"


def _enable_controllers(folder: Path) -> bool:
    try:
        (folder / "cgroup.subtree_control").write_text("+memory +pids +cpu")
    except OSError:
        return False
    return True


def remove_group(folder: Path) -> None:
    """Removes a group's directory in one hierarchy, if it is there."""
    for _ in range(_REMOVE_TRIES):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:  # busy for a moment after its last process died
            time.sleep(_REMOVE_PAUSE_S)
        else:
            return


def _write_if_there(file: Path, value: int | str) -> None:
    if file.exists():
        file.write_text(str(value))


__all__ = ["FOLDER", "Cgroup", "CgroupParent", "remove_group"]
