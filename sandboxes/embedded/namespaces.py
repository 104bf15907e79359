"""The `namespaces` provider: every run in fresh namespaces, made by system calls of our own.

Nothing is needed but Python and the kernel. What holds a program, from the outside in: a
slot's place (user, PID, mount, network, IPC, UTS and cgroup namespaces, a read-only view of
few host files, see `rootfs`; a cgroup for memory, processes and CPU time), in which an
unprivileged launcher makes the same namespaces anew for every run, with two sized tmpfs and
a /proc of its own; no capabilities and no_new_privs; Landlock, where the kernel has it; an
allow-list of system calls (`seccomp`); rlimits. A slot serves one program at a time, and is
thrown away when one was killed in it. Where no cgroup is writable (an ordinary user, mostly)
a watchdog in the launcher sums up memory and CPU time instead and kills the program at its
limit; `isolation` then reads `namespaces(watchdog)`.

As root, each launcher and its programs have an id that owns nothing on the host and is
no other slot's (`ids`). As an ordinary user
they keep that user's id outside, without its capabilities, files or processes in view.

Known gaps: those of `gaps`. Where there is no cgroup a run may also keep `pids` processors
busy until its time is up, and not just one. The kernel is shared with the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sandboxes.base import (
    Finding,
    Probe,
    SandboxBroken,
    SandboxError,
    SandboxSpec,
    SandboxUnavailable,
)
from sandboxes.embedded.cgroups import CgroupParent
from sandboxes.embedded.gaps import known_gaps
from sandboxes.embedded.host import check_kernel, has_other_ids
from sandboxes.embedded.keeper import Order
from sandboxes.embedded.place import ProcessPlace
from sandboxes.embedded.rootfs import Entry, mount_view, package_view, system_view
from sandboxes.embedded.slots import Kind, Slots
from sandboxes.ids import has_own_ids, new_host_id
from sandboxes.launcher.bundle import compiled_launcher_files
from sandboxes.launcher.messages import Ready, Setup
from sandboxes.launcher.sandbox import LauncherSandbox
from sandboxes.launcher.slot import Slot
from sandboxes.layout import BOX_ID, environment
from sandboxes.mounts import mount_points
from sandboxes.packages import package_entries

# Until the first run says better.
_START_BYTES, _START_PIDS = 512 << 20, 64


@dataclass(frozen=True, slots=True)
class _Host:
    """How places are made here. `cgroups` is None where a watchdog stands in."""

    entries: tuple[Entry, ...]
    cgroups: CgroupParent | None
    privileged: bool

    @property
    def isolation(self) -> str:
        return "namespaces" if self.cgroups else "namespaces(watchdog)"

    def make(self, kind: Kind) -> tuple[Slot, ProcessPlace]:
        """A slot that is ready.

        Raises:
            SandboxBroken, SandboxUnavailable: there is none to be had.
        """
        order = Order(
            entries=(
                *self.entries,
                *package_view(package_entries(kind.packages)),
                *mount_view(mount_points(dict(kind.mounts))),
            ),
            environment=environment(kind.packages, kind.preload),
            user=new_host_id() if self.privileged else BOX_ID,
            privileged=self.privileged,
            cgroup={},
            files=compiled_launcher_files(),
        )
        try:
            parent = self.cgroups
            cgroup = parent.make(memory_bytes=_START_BYTES, pids=_START_PIDS) if parent else None
        except OSError as error:
            raise SandboxBroken(f"no cgroup can be made for a box: {error}") from error
        place = ProcessPlace(order, cgroup, self.isolation)
        setup = Setup(namespaces=True, meter=place.meter, preload=kind.preload)
        return Slot(place, place.channel, setup), place


class NamespacesProvider:
    """Boxes made of plain namespaces."""

    name = "namespaces"

    def __init__(self) -> None:
        self._tried: tuple[_Host, Slots, Ready] | None = None

    def probe(self) -> Probe:
        """Runs a tiny program in a box and says what holds it."""
        try:
            host, _, ready = self._host()
        except SandboxUnavailable as error:
            finding = Finding("box", False, error.args[0], error.remedy)
            return Probe(self.name, False, "none", (finding,))
        return Probe(self.name, True, host.isolation, tuple(_findings(host, ready)))

    def create(self, spec: SandboxSpec) -> LauncherSandbox:
        """See `SandboxProvider`."""
        _, slots, _ = self._host()
        package_entries(spec.packages)
        mount_points(spec.mounts)
        return LauncherSandbox(slots, spec, environment(spec.packages, spec.preload))

    @property
    def known_gaps(self) -> Mapping[str, str]:
        """See `conformance.DeclaresGaps`. Raises SandboxUnavailable."""
        host, _, _ = self._host()
        own_ids = host.privileged and has_own_ids()
        return known_gaps(cgroup=host.cgroups is not None, own_ids=own_ids)

    def close(self) -> None:
        """Destroys the idle slots."""
        if self._tried is not None:
            _, slots, _ = self._tried
            self._tried = None
            slots.close()

    def _host(self) -> tuple[_Host, Slots, Ready]:
        """This host, tried once with a real box.

        Raises:
            SandboxUnavailable: no box can be made here.
        """
        if self._tried is None:
            check_kernel()
            host = _Host(system_view(), CgroupParent.find(), has_other_ids())
            slots = Slots(host.make, host.isolation)
            try:
                self._tried = (host, slots, _try(slots))
            except SandboxError as error:
                slots.close()
                raise SandboxUnavailable(error.args[0], remedy=error.remedy) from error
        return self._tried


def _try(slots: Slots) -> Ready:
    spec = SandboxSpec()
    slot = slots.lease(spec, spec.limits, 0)
    ready = slot.ready
    slots.give_back(slot)
    with LauncherSandbox(slots, spec, environment(())) as box:
        result = box.exec(["python3", "-I", "-S", "-c", "raise SystemExit(7)"])
    if result.exit != 7:
        raise SandboxUnavailable(f"a first program in a box went wrong: {result}")
    return ready


def _findings(host: _Host, ready: Ready) -> list[Finding]:
    cgroups = host.cgroups
    inside = "an id of its own" if host.privileged else "this user's id"
    memory = Finding("memory limit", True, f"cgroup v{cgroups.version}" if cgroups else "watchdog")
    if cgroups is None:
        memory = Finding(
            "memory limit",
            True,
            "watchdog over the processes' mapped memory: no cgroup is writable here",
            "run as root, or in a systemd unit with Delegate=yes, for limits the kernel holds",
        )
    return [
        Finding("box", True, "a program ran in one"),
        Finding("namespaces", True, "user, pid, mount, network, ipc, uts, cgroup"),
        Finding("unprivileged", True, f"the program runs as {inside}, without capabilities"),
        *(Finding(layer, True, "in force") for layer in ready.layers),
        memory,
        Finding("process limit", True, "RLIMIT_NPROC in its own user namespace"),
        Finding("cpu time limit", True, "cgroup" if cgroups else "watchdog and RLIMIT_CPU"),
    ]


__all__ = ["NamespacesProvider"]
