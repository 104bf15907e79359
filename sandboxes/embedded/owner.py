"""Finds the boxes of owners that were killed.

An owner killed at the wrong moment can leave two things: an empty cgroup, and a bwrap child
that waits for a parent which died before it said go (no program runs in it yet). Whoever
opens a provider next sweeps both.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from sandboxes.owner import is_orphaned, owner_mark

_LABEL = "answerkey-bwrap:"


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


__all__ = ["box_label", "is_orphaned", "kill_orphaned_boxes", "owner_mark"]
