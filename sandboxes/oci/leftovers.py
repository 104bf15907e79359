"""What containers leave on a host, and how it is removed: cgroups, state, directories.

A runtime's own `delete` would do the same in a process of its own, for 6 to 18 ms of processor
time each; and it knows nothing of an owner that was killed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

from sandboxes.embedded.cgroups import FOLDER, CgroupParent, remove_group
from sandboxes.owner import is_orphaned

# On every Linux a file system that does not outlive a boot.
HOME = Path("/run/answerkey/oci")
STATE, BUNDLES, ROOTS = "state", "bundles", "roots"
_PASSABLE = 0o711


class Hierarchies:
    """All cgroup hierarchies where runtimes make a group for a container.

    Args:
        parent: where we make groups ourselves; runtimes do so in every other one, too.
    """

    def __init__(self, parent: CgroupParent) -> None:
        folders = {*parent.folders.values(), *_version_1_folders(Path("/proc/self/mounts"))}
        self._folders = sorted(folders)

    def kill(self, name: str) -> None:
        """Kills what is in a container's groups."""
        for pid in self._members(name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def remove(self, name: str) -> None:
        """Removes a container's groups; its processes must be dead."""
        for folder in self._folders:
            if (folder / name).is_dir():
                remove_group(folder / name)

    def sweep(self) -> None:
        """Kills and removes what owners that are dead left in their groups."""
        for name in {entry.name for folder in self._folders for entry in _folders_in(folder)}:
            if is_orphaned(_owner(name)):
                self.kill(name)
                self.remove(name)

    def _members(self, name: str) -> set[int]:
        pids: set[int] = set()
        for folder in self._folders:
            with contextlib.suppress(OSError):
                pids |= set(map(int, (folder / name / "cgroup.procs").read_text().split()))
        return pids - {0}  # 0: of a PID namespace that we don't see


def sweep_homes(home: Path = HOME) -> None:
    """Removes the directories of owners that are dead."""
    for folder in _folders_in(home):
        if is_orphaned(_owner(folder.name)):
            remove_home(folder)


def make_home(folder: Path) -> None:
    """Makes an owner's directory. The runtime's init passes through it as nobody."""
    for part in (folder, *(folder / name for name in (STATE, BUNDLES, ROOTS))):
        part.mkdir(mode=_PASSABLE, parents=True)
        part.chmod(_PASSABLE)


def remove_home(folder: Path) -> None:
    """Removes an owner's directory."""
    for name in (STATE, BUNDLES):
        shutil.rmtree(folder / name, ignore_errors=True)
    # Never what is in a root: were anything mounted there, it would be the host's.
    for empty in (*_folders_in(folder / ROOTS), folder / ROOTS, folder):
        with contextlib.suppress(OSError):
            empty.rmdir()


def _owner(name: str) -> str:
    """The mark in a name: all but the number at its end."""
    return name.rpartition(".")[0]


def _folders_in(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from [entry for entry in folder.iterdir() if entry.is_dir()]


def _version_1_folders(mounts: Path) -> Iterator[Path]:
    for line in mounts.read_text().splitlines():
        _, point, kind, *_ = line.split()
        if kind == "cgroup":
            yield Path(point) / FOLDER


__all__ = [
    "BUNDLES",
    "HOME",
    "ROOTS",
    "STATE",
    "Hierarchies",
    "make_home",
    "remove_home",
    "sweep_homes",
]
