"""Makes a fork of the launcher a program: confines it for good, then starts it."""

from __future__ import annotations

import errno
import os
import platform
import resource
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from sandboxes.base import Limits
from sandboxes.confinement.kernel import (
    close_all_but,
    drop_capabilities,
    filter_system_calls,
    gain_no_privileges,
    set_dumpable,
    write_file,
)
from sandboxes.confinement.landlock import landlock_version, restrict_files
from sandboxes.confinement.limits import rlimits
from sandboxes.confinement.seccomp import seccomp_filter
from sandboxes.layout import SHARED_MEMORY, TEMPORARY, WORK

_NOT_FOUND, _NOT_RUNNABLE = 127, 126
_MASK = 0o022
# The first to be killed where memory is short.
_MOST_EXPENDABLE = b"1000"


@dataclass(frozen=True, slots=True)
class Confinement:
    """What holds programs here.

    Attributes:
        system_calls: the filter.
        landlock: version of the kernel's interface, 0 for none.
        per_process_memory: whether each process's address space is bounded, too.
        own_users: whether processes are counted in a user namespace of the program's own;
            elsewhere they would be counted with strangers'.
    """

    system_calls: bytes
    landlock: int
    per_process_memory: bool
    own_users: bool

    @classmethod
    def find(cls, *, per_process_memory: bool, own_users: bool) -> Confinement:
        """What this kernel offers."""
        return cls(
            seccomp_filter(platform.machine()), landlock_version(), per_process_memory, own_users
        )

    @property
    def layers(self) -> tuple[str, ...]:
        """The names, for `Ready`."""
        return ("seccomp", "landlock") if self.landlock else ("seccomp",)

    def enter(self, limits: Limits, streams: Sequence[int], cwd: str, *, keep: int) -> None:
        """Confines this process.

        Args:
            limits: of the run.
            streams: descriptors that become its standard streams.
            cwd: below the work directory.
            keep: a descriptor that stays open; all others are closed.

        Raises:
            OSError: the kernel refuses; what follows must not run.
        """
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
        close_all_but((0, 1, 2, keep))
        os.setpgid(0, 0)
        os.umask(_MASK)
        set_dumpable(True)
        write_file("/proc/self/oom_score_adj", _MOST_EXPENDABLE)
        os.chdir(f"{WORK}/{cwd}")
        gain_no_privileges()
        if self.landlock:
            restrict_files(self.landlock, (TEMPORARY, SHARED_MEMORY))
        drop_capabilities()
        self._set_rlimits(limits)
        filter_system_calls(self.system_calls)

    def _set_rlimits(self, limits: Limits) -> None:
        """Soft and hard ones, or what the hard limits that we have leave of them."""
        values = rlimits(limits, per_process_memory=self.per_process_memory)
        if not self.own_users:
            del values[resource.RLIMIT_NPROC]
        for kind, wanted in values.items():
            soft, hard = resource.getrlimit(kind)
            value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            if (soft, hard) != (value, value):  # gVisor lets some of them not be set at all
                resource.setrlimit(kind, (value, value))


def start(argv: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Becomes the program, or ends as a shell would that can't start it."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
        signal.signal(number, signal.SIG_DFL)
    try:
        try:
            os.execvpe(argv[0], list(argv), env)  # noqa: S606
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            # A script that doesn't say whose.
            os.execve("/bin/sh", ["sh", *argv], env)  # noqa: S606
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode(errors="surrogateescape"))
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        os._exit(_NOT_FOUND if missing else _NOT_RUNNABLE)


__all__ = ["Confinement", "start"]
