"""Where things lie in a box, whatever makes it, and what its programs find in the environment."""

from __future__ import annotations

from collections.abc import Sequence

# Paths in the box, never the host's.
TEMPORARY = "/tmp"  # noqa: S108
WORK = f"{TEMPORARY}/box"
SHARED_MEMORY = "/dev/shm"  # noqa: S108
TOOLS = "/opt/box/bin"
PACKAGES = "/opt/box/packages"
MOUNTS = "/opt/box/mounts"
LAUNCHER = "/opt/answerkey"
# Uid and gid of a program, in its own view.
BOX_ID = 64000

ENVIRONMENT = {
    "PATH": f"{TOOLS}:/usr/local/bin:/usr/bin:/bin",
    "HOME": WORK,
    "TMPDIR": TEMPORARY,
    "USER": "box",
    "LOGNAME": "box",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def environment(packages: Sequence[str], preload: Sequence[str] = ()) -> dict[str, str]:
    """The whole environment of programs that ask for nothing more.

    Args:
        packages: what is installed for them in `PACKAGES`.
        preload: what warm interpreters have imported. All forks of one hash alike, so they
            may as well do so by a seed that a fresh interpreter can be given, too.
    """
    found = {"PYTHONPATH": PACKAGES} if packages else {}
    seed = {"PYTHONHASHSEED": "0"} if preload else {}
    return {**ENVIRONMENT, **found, **seed}


__all__ = [
    "BOX_ID",
    "ENVIRONMENT",
    "LAUNCHER",
    "MOUNTS",
    "PACKAGES",
    "SHARED_MEMORY",
    "TEMPORARY",
    "TOOLS",
    "WORK",
    "environment",
]
