"""Marks that say whose a box is, so that what a killed owner left can be told and removed.

An owner killed at the wrong moment can leave two things: an empty cgroup, and a bwrap child
that waits for a parent which died before it said go (no program runs in it yet). Whoever
opens a provider next sweeps both.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

_LABEL = "answerkey-bwrap:"


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
    namespace, _, rest = mark.partition(".")
    pid, _, _ = rest.partition(".")
    if namespace != str(_pid_namespace()) or not pid.isdigit():
        return False
    try:
        return owner_mark(int(pid)) != mark
    except (FileNotFoundError, ProcessLookupError):
        return True


def box_label() -> str:
    """What bwrap is called, as `argv[0]`, when this process starts it."""
    return _LABEL + owner_mark()


def kill_orphaned_boxes() -> None:
    """Kills every bwrap, with all in its box, whose owner is dead."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # gone, or another user's
            process = os.pidfd_open(int(entry.name))
            try:
                name = (entry / "cmdline").read_bytes().partition(b"\0")[0].decode("latin-1")
                if name.startswith(_LABEL) and is_orphaned(name.removeprefix(_LABEL)):
                    signal.pidfd_send_signal(process, signal.SIGKILL)
            finally:
                os.close(process)


def _pid_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


__all__ = ["box_label", "is_orphaned", "kill_orphaned_boxes", "owner_mark"]
