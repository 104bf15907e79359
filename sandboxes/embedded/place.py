"""Where one launcher of the `namespaces` provider runs: a tree of processes, and its cgroup."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import sandboxes
from sandboxes.base import ExitReason, Limits, SandboxBroken
from sandboxes.embedded.cgroups import Cgroup
from sandboxes.embedded.keeper import CPU_FD, MEMORY_FD, Order, write_order
from sandboxes.launcher.pipes import PipeChannel
from sandboxes.metering import CgroupFiles

_PACKAGE_FOLDER = str(Path(sandboxes.__file__).parent.parent)
# -S: the keeper and what it imports need the standard library alone.
_KEEPER = (
    *("-I", "-S", "-c"),
    f"import sys; sys.path.insert(0, {_PACKAGE_FOLDER!r}); "
    "from sandboxes.embedded.keeper import main; main()",
)
_DEATH_S = 30.0
# The launcher itself and the init of the box that it serves.
_OWN_PROCESSES = 2


class ProcessPlace:
    """See `Place`.

    Args:
        order: what to make; its cgroup is filled in here.
        cgroup: a fresh one, which is the place's from now on, or None.
        isolation: the level in force.

    Raises:
        SandboxBroken: no process can be started.
    """

    def __init__(self, order: Order, cgroup: Cgroup | None, isolation: str) -> None:
        self.isolation = isolation
        self._cgroup = cgroup
        self._accounts: CgroupFiles | None = None
        self._kills = 0
        self._limit: tuple[int, int] | None = None
        self._leash: int | None = None
        try:
            self._accounts = cgroup.accounts() if cgroup else None
            self._start(order)
        except OSError as error:
            self._forget()
            raise SandboxBroken(f"no place for a box can be made: {error}") from error

    @property
    def meter(self) -> Mapping[str, str | int]:
        """For `Setup`."""
        return {"memory": MEMORY_FD, "cpu": CPU_FD} if self._cgroup else {}

    @property
    def lives(self) -> bool:
        """Whether it is there still."""
        return self._keeper.poll() is None

    def limit(self, limits: Limits, own_memory_bytes: int) -> None:
        """See `Place`."""
        if self._cgroup is None or self._accounts is None:
            return  # the launcher's watchdog holds them
        wanted = (limits.memory_bytes + own_memory_bytes, limits.pids + _OWN_PROCESSES)
        try:
            if wanted != self._limit:
                self._cgroup.limit(memory_bytes=wanted[0], pids=wanted[1])
                self._limit = wanted
            self._cgroup.forget_peak()
            self._kills = self._accounts.kills_for_memory()
        except OSError as error:
            raise SandboxBroken(f"a box can't be limited: {error}") from error

    def autopsy(self) -> ExitReason | None:
        """See `Place`."""
        if self._accounts is None or self._accounts.kills_for_memory() == self._kills:
            return None
        return ExitReason.MEMORY_LIMIT

    def destroy(self) -> None:
        """See `Place`."""
        if self._leash is None:
            return
        os.close(self._leash)
        self._leash = None
        try:
            self._keeper.wait(_DEATH_S)
        except subprocess.TimeoutExpired:  # the launcher goes with its keeper
            self._keeper.kill()
            self._keeper.wait()
        self._forget()

    def _start(self, order: Order) -> None:
        folders = (
            {c: str(folder) for c, folder in self._cgroup.folders.items()} if self._cgroup else {}
        )
        with contextlib.ExitStack() as theirs:
            order_fd = write_order(replace(order, cgroup=folders))
            theirs.callback(os.close, order_fd)
            leash, self._leash = os.pipe()
            theirs.callback(os.close, leash)
            owner = os.pidfd_open(os.getpid())
            theirs.callback(os.close, owner)
            passed = (order_fd, leash, owner)
            self._keeper = subprocess.Popen(
                [sys.executable, *_KEEPER, *map(str, passed)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                env={},
                cwd="/",
                pass_fds=passed,
                start_new_session=True,
            )
        stdin, stdout = self._keeper.stdin, self._keeper.stdout
        assert stdin is not None
        assert stdout is not None
        self.channel = PipeChannel(os.dup(stdin.fileno()), os.dup(stdout.fileno()))
        stdin.close()
        stdout.close()

    def _forget(self) -> None:
        if self._leash is not None:
            os.close(self._leash)
            self._leash = None
        if self._accounts is not None:
            self._accounts.close()
        if self._cgroup is not None:
            self._cgroup.close()


__all__ = ["ProcessPlace"]
