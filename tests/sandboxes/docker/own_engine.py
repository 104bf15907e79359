"""An engine of the tests' own, which may be killed, restarted and filled up."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sandboxes.base import SandboxError
from sandboxes.confinement.kernel import mount
from sandboxes.docker.engine import Engine
from sandboxes.oci.kernel import unmount
from tests.sandboxes.conftest import until

_CGROUPS = Path("/sys/fs/cgroup")
_BUILD_S = 250
_STOP_S = 60
# Of its own, as with a distribution's packages: it outlives a dockerd that is killed.
_CONTAINERD = """
version = 2
root = "{folder}/data/containerd"
state = "{folder}/containerd"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
address = "{folder}/containerd.sock"
"""


class OwnEngine:
    """A dockerd with a data root of limited size, below one folder; nothing else is its own.

    Args:
        folder: its place, with a short path, for sockets lie in it.
        size_bytes: of the file system with its images and containers.
    """

    def __init__(self, folder: Path, size_bytes: int) -> None:
        self.folder = folder
        self.url = f"unix://{folder}/docker.sock"
        self.data = folder / "data"
        self.data.mkdir(parents=True)
        mount("tmpfs", str(self.data), "tmpfs", options=f"size={size_bytes}")
        runtimes = {"crun": {"path": crun}} if (crun := shutil.which("crun")) else {}
        (folder / "daemon.json").write_text(json.dumps({"runtimes": runtimes}))
        self._dockerd: subprocess.Popen[bytes] | None = None
        self._containerd: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it and waits until it answers."""
        folder = self.folder
        if self._containerd is None:
            (folder / "containerd.toml").write_text(_CONTAINERD.format(folder=folder))
            self._containerd = self._run("containerd", "--config", str(folder / "containerd.toml"))
            until((folder / "containerd.sock").exists, "containerd does not come up")
        self._dockerd = self._run(
            *("dockerd", "--config-file", str(folder / "daemon.json"), "--host", self.url),
            *("--containerd", str(folder / "containerd.sock"), "--pidfile", str(folder / "pid")),
            *("--data-root", str(self.data), "--exec-root", str(folder / "exec")),
            *("--bridge=none", "--iptables=false", "--ip-forward=false", "--ip-masq=false"),
            f"--cgroup-parent={self._cgroup}",
        )
        until(self.answers, "dockerd does not come up")

    def answers(self) -> bool:
        assert self._dockerd is not None
        assert self._dockerd.poll() is None, (self.folder / "log").read_text()[-2000:]
        try:
            Engine(self.url).about()
        except SandboxError:
            return False
        return True

    def build(self) -> None:
        """Makes the image of `python` boxes."""
        command = [str(Path(sys.executable).with_name("verifier-server")), "sandbox", "build"]
        subprocess.run(
            [*command, "python", "--from", "host"],
            env={**os.environ, "DOCKER_HOST": self.url},
            timeout=_BUILD_S,
            capture_output=True,
            check=True,
        )

    def kill(self) -> None:
        """As the kernel does where memory is short: containers and their shims live on."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """As an administrator does."""
        self._end(signal.SIGTERM)

    def restart(self) -> None:
        """Starts it if it was stopped or killed."""
        if self._dockerd is None:
            self.start()

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """Leaves no room where it keeps its data."""
        filler = self.data / "filler"
        try:
            with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
                while True:
                    file.write(bytes(1 << 20))
            yield
        finally:
            filler.unlink()

    def close(self) -> None:
        """Ends all that is its own, and removes what it left."""
        self.stop()
        if self._containerd is not None:
            self._containerd.terminate()
            self._containerd.wait(timeout=_STOP_S)
        for pid in (*self._shims(), *self._pids()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not (self._shims() or self._pids()), "something of it lives on")
        for point in reversed(_mount_points(self.folder)):
            unmount(point)
        for group in self._groups():
            until(partial(_are_removed, group), f"{group} is still in use")
        shutil.rmtree(self.folder)

    def runs_programs(self, word: str) -> int:
        """How many processes in its containers have that argument."""
        found = 0
        for pid in self._pids():
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes()
                found += word.encode() in command.split(b"\0")
        return found

    @property
    def _cgroup(self) -> str:
        return f"/answerkey-test-engine-{os.getpid()}"

    def _run(self, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def _end(self, number: signal.Signals) -> None:
        if self._dockerd is not None:
            self._dockerd.send_signal(number)
            self._dockerd.wait(timeout=_STOP_S)
            self._dockerd = None

    def is_busy(self) -> bool:
        """Whether a program sleeps in one of its containers, below a launcher."""
        for pid in self._pids():
            with contextlib.suppress(OSError):
                stat = Path(f"/proc/{pid}/wchan").read_text()
                if "nanosleep" in stat:
                    return True
        return False

    def _pids(self) -> list[int]:
        """Processes in its containers."""
        found: set[int] = set()
        for group in self._groups():
            for procs in group.glob("**/cgroup.procs"):
                with contextlib.suppress(OSError):
                    found |= set(map(int, procs.read_text().split()))
        return sorted(found)

    def _groups(self) -> list[Path]:
        return [*_CGROUPS.glob(f"*{self._cgroup}"), *_CGROUPS.glob(self._cgroup[1:])]

    def _shims(self) -> list[int]:
        """Processes that containerd has left, one for each container that still runs."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (entry / "cmdline").read_bytes()
                if b"containerd-shim" in command and bytes(self.folder) in command:
                    found.append(int(entry.name))
        return found


def _mount_points(folder: Path) -> list[str]:
    lines = Path("/proc/self/mounts").read_text().splitlines()
    points = [line.split()[1] for line in lines]
    return [point for point in points if point.startswith(f"{folder}/")]


def _are_removed(group: Path) -> bool:
    try:
        for path, _, _ in os.walk(group, topdown=False):
            os.rmdir(path)
    except OSError:  # busy for a moment after its last process died
        return False
    return True
