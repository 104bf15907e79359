"""Debian by debootstrap, for hosts that reach its archive and no image registry."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from sandboxes.images.engine import Say
from sandboxes.images.errors import WayClosed

_SHOWN_LINES = 5


def debootstrap(suite: str, mirror: str, root: Path, say: Say) -> None:
    """Fills an empty directory with Debian's smallest installation.

    Raises:
        WayClosed: this user can't, the program is missing, or the archive isn't reached.
    """
    if os.geteuid() != 0:
        raise WayClosed("debootstrap takes root", remedy="run as root")
    program = shutil.which("debootstrap", path="/usr/sbin:/sbin:" + os.environ.get("PATH", ""))
    if program is None:
        raise WayClosed("debootstrap is not installed", remedy="apt install debootstrap")
    command = [program, "--variant=minbase", suite, str(root), mirror]
    said: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.strip())
            say(line.strip())
    if process.returncode:
        raise WayClosed("debootstrap failed: " + "; ".join(said[-_SHOWN_LINES:]))


__all__ = ["debootstrap"]
