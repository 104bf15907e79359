"""Makes containers with a launcher ready in each: cgroup, bundle, runtime, first answer."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from sandboxes.base import SandboxBroken, SandboxUnavailable
from sandboxes.embedded.cgroups import Cgroup, CgroupParent
from sandboxes.launcher.messages import Setup
from sandboxes.launcher.pipes import PipeChannel
from sandboxes.launcher.slot import Slot
from sandboxes.layout import ENVIRONMENT
from sandboxes.oci.container import Container
from sandboxes.oci.kernel import detached_folder
from sandboxes.oci.leftovers import BUNDLES, ROOTS, STATE, Hierarchies
from sandboxes.oci.profile import (
    WAITING_MEMORY_BYTES,
    WAITING_PIDS,
    container_config,
    waiting_resources,
)
from sandboxes.oci.roots import Kind, mount_root
from sandboxes.oci.runtime import ENVIRONMENT as RUNTIME_ENVIRONMENT
from sandboxes.oci.runtime import Runtime, pid_file
from sandboxes.oci.workshop import Workshop, start_program

_START_S = 60.0
_SAID_BYTES = 4096
# Above the numbers that a runtime passes on, so that none is overwritten while they are set.
_FIRST_FD = 16
_CGROUP_ROOT = Path("/sys/fs/cgroup")


class Maker:
    """Makes slots of one provider.

    Args:
        runtime: that starts containers.
        parent: of their cgroups.
        home: the provider's directory.

    Raises:
        SandboxUnavailable: we may not have mounts of our own here.
    """

    def __init__(self, runtime: Runtime, parent: CgroupParent, home: Path) -> None:
        self.isolation = f"oci+{runtime.name}"
        self._runtime = runtime
        self._parent = parent
        self._home = home
        self._hierarchies = Hierarchies(parent)
        self._workshop = Workshop()
        self._roots: dict[Kind, Path] = {}

    def make(self, kind: Kind) -> tuple[Slot, Container]:
        """A new container with its launcher waiting.

        Raises:
            SandboxUnavailable: this host can't make its root file system.
            SandboxBroken: the runtime failed; says what it said.
        """
        root = self._workshop.do(self._root, kind)
        try:
            cgroup = self._parent.make(memory_bytes=WAITING_MEMORY_BYTES, pids=WAITING_PIDS)
        except OSError as error:
            raise SandboxBroken(f"no cgroup can be made for a container: {error}") from error
        name = cgroup.folders["memory"].name
        with ExitStack() as fds:
            try:
                container, channel, setup = self._start(name, root, cgroup, fds)
            except (OSError, SandboxBroken) as error:
                self._clean(name, cgroup)
                if isinstance(error, SandboxBroken):
                    raise
                raise SandboxBroken(
                    f"a container can't be started: {error}",
                    remedy=f"see that {self._runtime.path} is there and {self._home} has room",
                ) from error
        return Slot(container, channel, setup), container

    def close(self) -> None:
        """Lets go of all that is mounted. Idempotent."""
        self._workshop.close()

    def _root(self, kind: Kind) -> Path:
        """The root file system of a kind, mounted at first use. In the workshop."""
        if kind not in self._roots:
            folder = self._home / ROOTS / str(len(self._roots))
            folder.mkdir(mode=0o755, exist_ok=True)
            try:
                mount_root(kind, folder)
            except OSError as error:
                raise SandboxUnavailable(
                    f"a root file system can't be mounted: {error}",
                    remedy="run as root on Linux 5.14 or later, or use another sandbox",
                ) from error
            self._roots[kind] = folder
        return self._roots[kind]

    def _start(
        self, name: str, root: Path, cgroup: Cgroup, fds: ExitStack
    ) -> tuple[Container, PipeChannel, Setup]:
        state = self._home / STATE
        bundle = self._bundle(name, root, cgroup)
        fds.callback(shutil.rmtree, bundle, ignore_errors=True)
        stdin, to_launcher = _pipe(fds)
        from_launcher, stdout = _pipe(fds)
        said, stderr = _pipe(fds)
        meter, passed = _meter(cgroup, fds)
        command = self._runtime.run(state, bundle, name, passed=len(passed))
        runtime = self._workshop.do(
            start_program, command, RUNTIME_ENVIRONMENT, [stdin, stdout, stderr, *passed]
        )
        if not _ends_well(runtime):
            raise SandboxBroken(
                f"{self._runtime.name} could not start a container: {_said(said)}",
                remedy="run `verifier-server sandbox doctor`",
            )
        pid = int(pid_file(bundle).read_text())
        container = Container(name, self.isolation, pid, cgroup, self._hierarchies, state / name)
        channel = PipeChannel(os.dup(to_launcher), os.dup(from_launcher))
        return container, channel, Setup(namespaces=False, meter=meter)

    def _bundle(self, name: str, root: Path, cgroup: Cgroup) -> Path:
        bundle = self._home / BUNDLES / name
        bundle.mkdir(mode=0o711)
        config = container_config(
            str(root), ENVIRONMENT, self._cgroups_path(cgroup), waiting_resources()
        )
        (bundle / "config.json").write_text(json.dumps(config))
        return bundle

    def _cgroups_path(self, cgroup: Cgroup) -> str:
        """Where the group lies below the mount points, as a runtime reads it."""
        folder = cgroup.folders["memory"]
        if self._parent.version == 1:
            return f"/{folder.parent.name}/{folder.name}"
        return f"/{folder.relative_to(_CGROUP_ROOT)}"

    def _clean(self, name: str, cgroup: Cgroup) -> None:
        """Removes what a failed start left; a process in it dies with its stdin."""
        self._hierarchies.kill(name)
        cgroup.close()
        self._hierarchies.remove(name)
        shutil.rmtree(self._home / STATE / name, ignore_errors=True)


def _pipe(fds: ExitStack) -> tuple[int, int]:
    """What to read from and what to write to, open until `fds` is closed, open to the box."""
    ends = []
    for fd in os.pipe():
        ends.append(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_FD))
        os.close(fd)
        fds.callback(os.close, ends[-1])
    return ends[0], ends[1]


def _meter(cgroup: Cgroup, fds: ExitStack) -> tuple[Mapping[str, int], list[int]]:
    """How the launcher is told where to read what it uses, and the descriptors to pass on.

    It can't see the host's cgroups; a descriptor of its own group's directory leads nowhere
    else, and it closes that once it has opened the accounts.
    """
    wanted = {name: cgroup.folders[name] for name in ("memory", "cpu")}
    passed: list[int] = []
    for folder in dict.fromkeys(wanted.values()):
        low = detached_folder(str(folder))
        passed.append(fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _FIRST_FD))
        os.close(low)
        fds.callback(os.close, passed[-1])
    order = list(dict.fromkeys(wanted.values()))
    return {name: 3 + order.index(folder) for name, folder in wanted.items()}, passed


def _ends_well(pid: int) -> bool:
    """Whether our child ends with status 0; it is killed if it takes too long."""
    process = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(process, select.POLLIN)
        if not poll.poll(_START_S * 1000):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(process, signal.SIGKILL)
        return os.waitpid(pid, 0)[1] == 0
    finally:
        os.close(process)


def _said(pipe: int) -> str:
    os.set_blocking(pipe, False)
    try:
        text = os.read(pipe, _SAID_BYTES).decode(errors="replace").strip()
    except BlockingIOError:
        text = ""
    return text or "it said nothing, or took too long"


__all__ = ["Maker"]
