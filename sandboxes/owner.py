"""Marks that say whose a thing is, so that what a killed owner left can be told and removed."""

from __future__ import annotations

import os
from pathlib import Path


def owner_mark(pid: int | None = None) -> str:
    """Names a process (this one by default) for good: PID namespace, pid, start time.

    Raises:
        OSError: there is no such process.
    """
    pid = pid or os.getpid()
    stat = Path(f"/proc/{pid}/stat").read_text()
    started = stat.rpartition(")")[2].split()[19]  # in clock ticks since boot
    return f"{_pid_namespace()}.{pid}.{started}"


def is_orphaned(mark: str) -> bool:
    """Whether a mark's process is dead; False where we can't see it (another container's)."""
    if not is_seen(mark):
        return False
    _, pid, _ = mark.split(".")
    try:
        return owner_mark(int(pid)) != mark
    except (FileNotFoundError, ProcessLookupError):
        return True


def is_seen(mark: str) -> bool:
    """Whether a mark's process would be in our PID namespace, on this host."""
    namespace, _, rest = mark.partition(".")
    pid, _, started = rest.partition(".")
    return namespace == str(_pid_namespace()) and pid.isdigit() and started.isdigit()


def _pid_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


__all__ = ["is_orphaned", "is_seen", "owner_mark"]
