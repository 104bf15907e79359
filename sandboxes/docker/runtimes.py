"""What differs from OCI runtime to OCI runtime."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandboxes.base import MIB, Limits
from sandboxes.docker.profile import Resources

_STEP_BYTES = 16 * MIB
_CGROUPS = "/sys/fs/cgroup"


@dataclass(frozen=True, slots=True)
class Runtime:
    """How a runtime takes limits.

    Attributes:
        updates: whether they can be changed while a container lives.
        own_kernel: whether programs run on a kernel of the container's own (gVisor): it
            counts its processes itself, and its threads are not the program's.
        own_bytes, own_pids: what the runtime itself needs of a container's limits.
        gaps: why it does not hold an attack, by the attack's name.
        version_1_gaps: more of them, on a host with version 1 of cgroups.
    """

    updates: bool = True
    own_kernel: bool = False
    own_bytes: int = 0
    own_pids: int = 0
    gaps: Mapping[str, str] = field(default_factory=dict)
    version_1_gaps: Mapping[str, str] = field(default_factory=dict)

    def resources(self, limits: Limits, launcher_bytes: int, launcher_pids: int) -> Resources:
        """What a container needs so that a program gets its limits, and no more."""
        wanted = limits.memory_bytes + launcher_bytes + self.own_bytes
        # In steps, so that containers made ahead mostly fit.
        memory_bytes = math.ceil(wanted / _STEP_BYTES) * _STEP_BYTES
        return Resources(memory_bytes, limits.pids + launcher_pids + self.own_pids)

    def meter(self, cgroup_version: str) -> Mapping[str, str | int]:
        """Where a launcher reads what its container uses, see `Setup.meter`."""
        if self.own_kernel:
            return {}
        if cgroup_version == "2":
            return {"memory": _CGROUPS, "cpu": _CGROUPS}
        return {"memory": f"{_CGROUPS}/memory", "cpu": f"{_CGROUPS}/cpuacct"}


_NO_SOCKET_LIMIT = (
    "runc leaves out the limit of socket buffers of cgroup version 1: use crun, or cgroup version 2"
)
_OWN_KERNEL = (
    "gVisor's own kernel stands between the program and the host, and has no Landlock, no "
    "filters of calls and no limit of this kind within"
)
_IN_ITS_KERNEL = (
    *("fork bomb", "fork bomb of every generation"),  # may end the container, with the program
    *("timers without end", "real-time and higher priority"),
    *("memory spread so thinly that others look larger", "memory in socket pairs"),
    "memory in TCP connections",
    *("memory bomb in a program that may not be read", "locked memory of all runs together"),
    *("a crash that starts a program of the host's", "waking the init, then killing itself"),
    *("signals to the init", "killing every other process", "stopping every other process"),
    *("stopping and waking the init, over and over", "changing its own network", "privileges"),
    *("device nodes", "a program of its own making", "the kernel's secrets"),
    *("memory of every other process", "descriptors of every other process"),
)
_RUNTIMES = {
    "runc": Runtime(
        version_1_gaps={
            "memory in TCP connections": _NO_SOCKET_LIMIT,
            "memory in UDP sockets": _NO_SOCKET_LIMIT,
        }
    ),
    "crun": Runtime(),
    "runsc": Runtime(
        updates=False,
        own_kernel=True,
        own_bytes=128 * MIB,
        own_pids=256,
        gaps=dict.fromkeys(_IN_ITS_KERNEL, _OWN_KERNEL),
    ),
}


def runtime_named(name: str) -> Runtime:
    """The runtime that an engine knows by that name (`runsc-kvm` is a `runsc`)."""
    return next((r for prefix, r in _RUNTIMES.items() if name.startswith(prefix)), Runtime())


__all__ = ["Runtime", "runtime_named"]
