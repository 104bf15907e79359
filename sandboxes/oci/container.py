"""One container: the `Place` of a launcher, from its start by a runtime to its removal by us.

The runtime ends as soon as the launcher runs, so nothing stands between us and the launcher's
pipes. If we are killed, the launcher sees its stdin end, and ends with all that its program has
started; what is left then, directories and empty groups, the next owner sweeps (`leftovers`).
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
from pathlib import Path

from sandboxes.base import ExitReason, Limits, LimitUnsupported, SandboxBroken
from sandboxes.embedded.cgroups import Cgroup
from sandboxes.layout import SHARED_MEMORY, TEMPORARY
from sandboxes.metering import CgroupFiles
from sandboxes.oci.kernel import resize_tmpfs
from sandboxes.oci.leftovers import Hierarchies

_DEATH_S = 30.0
_PAGE_BYTES = 4096
_FEWEST_INODES = 4096
# A directory or two, and the end of each file's last page.
_ROOM_BYTES = 1 << 20


class Container:
    """See `Place`. Owns the cgroup, the process and the runtime's state.

    Args:
        name: of the container.
        isolation: how it is called in verdicts.
        pid: of its first process.
        cgroup: it is in.
        hierarchies: where the runtime made groups for it beside that.
        state: what the runtime keeps of it.

    Raises:
        SandboxBroken: it is dead already.
    """

    def __init__(
        self,
        name: str,
        isolation: str,
        pid: int,
        cgroup: Cgroup,
        hierarchies: Hierarchies,
        state: Path,
    ) -> None:
        self.name = name
        self.isolation = isolation
        self._pid = pid
        self._cgroup = cgroup
        self._hierarchies = hierarchies
        self._state = state
        self._laid_bytes = 0
        self._gone = False
        try:
            self._process = os.pidfd_open(pid)
        except ProcessLookupError as error:
            raise SandboxBroken("a container died at birth") from error
        self._accounts: CgroupFiles | None = None
        try:
            # Another's pid by now, if the first process died and its pid was given anew.
            if not cgroup.holds(pid):
                raise SandboxBroken("a container died at birth")
            self._accounts = cgroup.accounts()
        except (OSError, SandboxBroken) as error:
            os.close(self._process)
            raise SandboxBroken(f"a container can't be watched: {error}") from error

    @property
    def is_alive(self) -> bool:
        """Whether its launcher is."""
        return not self._gone and not _is_readable_within(self._process, 0)

    def make_room(self, limits: Limits, laid_bytes: int) -> None:
        """Sizes what can be written to: files laid down come on top of the limits.

        Raises:
            SandboxBroken: the container is gone.
        """
        self._laid_bytes = laid_bytes + _ROOM_BYTES if laid_bytes else 0
        sizes = {
            TEMPORARY: limits.disk_bytes + laid_bytes + _ROOM_BYTES,
            SHARED_MEMORY: limits.disk_bytes,
        }
        for path, size_bytes in sizes.items():
            inodes = max(_FEWEST_INODES, size_bytes // _PAGE_BYTES)
            where = f"/proc/{self._pid}/root{path}"
            try:
                resize_tmpfs(where, size_bytes=size_bytes, inodes=inodes)
            except OSError as error:
                raise SandboxBroken(f"{path} of a container can't be sized: {error}") from error

    def limit(self, limits: Limits, own_memory_bytes: int) -> None:
        """See `Place`."""
        memory_bytes = limits.memory_bytes + own_memory_bytes + self._laid_bytes
        try:
            self._cgroup.limit(memory_bytes=memory_bytes, pids=limits.pids + 1)
        except FileNotFoundError as error:
            raise SandboxBroken("a container's cgroup is gone") from error
        except OSError as error:
            raise LimitUnsupported(
                f"{limits.memory_bytes} bytes of memory can't be put in force: {error}",
                remedy="ask for more memory",
            ) from error

    def autopsy(self) -> ExitReason | None:
        """See `Place`: whether the kernel killed anything for memory."""
        with contextlib.suppress(OSError):
            if self._accounts is not None and self._accounts.kills_for_memory() > 0:
                return ExitReason.MEMORY_LIMIT
        return None

    def kill(self) -> None:
        """Kills all in it: its first process is the init of a PID namespace."""
        if not self._gone:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)

    def destroy(self) -> None:
        """See `Place`.

        Raises:
            SandboxBroken: it does not die.
        """
        if self._gone:
            return
        self.kill()
        if not _is_readable_within(self._process, _DEATH_S):
            raise SandboxBroken(f"a killed container still lives after {_DEATH_S:.0f} s")
        self._gone = True
        with contextlib.suppress(ChildProcessError):  # ours only where we are init or subreaper
            os.waitpid(self._pid, os.WNOHANG)
        os.close(self._process)
        assert self._accounts is not None
        self._accounts.close()
        self._cgroup.close()
        self._hierarchies.remove(self.name)
        shutil.rmtree(self._state, ignore_errors=True)


def _is_readable_within(fd: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


__all__ = ["Container"]
