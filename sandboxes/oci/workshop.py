"""One thread with mounts of its own, in which root file systems lie and runtimes are started.

Nothing that is mounted here is seen on the host, and all of it is gone with the thread or the
process, however that ends. And the version 2 cgroups of a hybrid host, which crun refuses to
work beside ("cgroups in hybrid mode not supported"), can be taken out of a runtime's view
without touching the host's.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from sandboxes.base import SandboxUnavailable
from sandboxes.confinement.kernel import MS_PRIVATE, MS_REC, mount
from sandboxes.oci.kernel import leave_mounts, unmount

_HYBRID = "/sys/fs/cgroup/unified"
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)

P = ParamSpec("P")
T = TypeVar("T")


class Workshop:
    """The thread.

    Raises:
        SandboxUnavailable: we may not have mounts of our own here.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "oci-workshop")
        try:
            self.do(_settle)
        except OSError as error:
            self.close()
            raise SandboxUnavailable(
                f"no mount namespace can be made here: {error}",
                remedy="run as root with CAP_SYS_ADMIN, or use another sandbox",
            ) from error

    def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Does something in the thread, and waits for it."""
        return self._thread.submit(work, *args, **kwargs).result()

    def close(self) -> None:
        """Ends the thread, and with it all mounts made in it. Idempotent."""
        self._thread.shutdown()


def start_program(
    command: Sequence[str], environment: Mapping[str, str], descriptors: Sequence[int]
) -> int:
    """Starts a program in a session of its own; returns its pid.

    Args:
        command: its path and arguments.
        environment: the whole of it.
        descriptors: what it has open, as 0, 1, 2 and so on; all above that count.
    """
    actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(descriptors)]
    return os.posix_spawn(
        command[0],
        list(command),
        environment,
        file_actions=actions,
        setsid=True,
        setsigdef=_IGNORED_BY_PYTHON,
    )


def _settle() -> None:
    leave_mounts()
    mount("", "/", flags=MS_REC | MS_PRIVATE)
    if os.path.ismount(_HYBRID):
        with contextlib.suppress(OSError):  # then crun says what is wrong
            unmount(_HYBRID)


__all__ = ["Workshop", "start_program"]
