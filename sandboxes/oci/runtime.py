"""The container runtimes that are used, and how they are called."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sandboxes.base import SandboxUnavailable

# The first that works is taken: crun takes less than half of runc's processor time.
RUNTIMES = ("crun", "runc")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# runc lives for some 25 ms: a second thread and garbage collection cost it more than they give.
ENVIRONMENT = {"PATH": _PATH, "GOMAXPROCS": "1", "GOGC": "off"}
_VERSION_S = 30.0


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime's binary."""

    name: str
    path: str

    @classmethod
    def find(cls, name: str) -> Runtime:
        """Where it is installed.

        Raises:
            SandboxUnavailable: it isn't, or it is none of those that we know.
        """
        if name not in RUNTIMES:
            known = " or ".join(RUNTIMES)
            raise SandboxUnavailable(f"no OCI runtime {name!r} is known", remedy=f"use {known}")
        path = shutil.which(name, path=_PATH)
        if path is None:
            raise SandboxUnavailable(f"{name} is not installed", remedy=f"apt install {name}")
        return cls(name, path)

    def version(self) -> str:
        """What it says of itself; nothing if it can't be asked."""
        try:
            asked = [self.path, "--version"]
            done = subprocess.run(
                asked, capture_output=True, env=ENVIRONMENT, timeout=_VERSION_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.decode(errors="replace").partition("\n")[0]

    def run(self, state: Path, bundle: Path, name: str, *, passed: int) -> list[str]:
        """The command that starts a container and ends while it goes on.

        Args:
            state: where the runtime keeps what it knows of its containers.
            bundle: the directory with the configuration; the pid file will be there, too.
            name: of the container.
            passed: how many descriptors beyond the standard streams the container gets.
        """
        # A session keyring of its own would count towards a quota of keys that are given back
        # late, and then no container starts. No program can use keys at all (call list).
        return [
            *(self.path, "--root", str(state), "run", "--detach", "--no-new-keyring"),
            *("--preserve-fds", str(passed), "--bundle", str(bundle)),
            *("--pid-file", str(pid_file(bundle)), name),
        ]


def pid_file(bundle: Path) -> Path:
    """Where a runtime writes the pid of the container's first process."""
    return bundle / "pid"


__all__ = ["ENVIRONMENT", "RUNTIMES", "Runtime", "pid_file"]
