"""What confines a container, as data: the body of the engine's `POST /containers/create`.

One profile with two forms. In a *box* one program runs, beside the launcher that is the
container's PID 1 and loads the exact call filter around it. A *slot*'s launcher makes
namespaces for each program, so its own filter allows what that takes and /proc is not masked
(the kernel lets no one mount a /proc that shows more than the one he has); the exact filter
is loaded around each program there, too.

No `tini`: the launcher reaps what is left to PID 1, takes no signal from the program, and an
init of another's between us and it could only hide how it ended. Source: Docker Engine API
v1.41, ContainerCreate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from sandboxes.base import MIB
from sandboxes.confinement.seccomp_json import seccomp_profile
from sandboxes.layout import BOX_ID, SHARED_MEMORY, TEMPORARY

_PAGE_BYTES = 4096
_FEWEST_INODES = 4096
# Files of the system that no program needs, beyond those that engines mask by themselves. The
# cgroups are left for the launcher, which keeps its programs from them (Landlock).
_MASKED_PROC = (
    *("/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
    *("/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi"),
    *("/proc/interrupts", "/proc/kallsyms", "/proc/modules", "/proc/kpagecount"),
)
_MASKED_SYS = (
    *("/sys/block", "/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/firmware"),
    *("/sys/hypervisor", "/sys/kernel", "/sys/module", "/sys/power"),
    *("/sys/fs/bpf", "/sys/fs/ext4", "/sys/fs/fuse", "/sys/fs/pstore"),
)
_READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
# What a launcher that makes namespaces calls before it confines a program.
_SLOT_CALLS = (
    *("clone", "unshare", "setns", "mount", "umount2", "pivot_root", "sethostname", "chroot"),
    *("prctl", "prlimit64", "setpriority", "memfd_create", "mknod", "mknodat"),
)
# Backstops: a launcher sets each program's own, which can't be above these.
_MOST_OPEN_FILES = 4096
_MOST_FILE_BYTES = 4096 * MIB
# No core file is that small; and where the host pipes cores to a program of its own, run as
# root, the kernel takes 1, and not 0, as a word not to start it (fs/coredump.c).
_CORE_BYTES = 1


@dataclass(frozen=True, slots=True)
class Resources:
    """What a container may use; the engine can change it while the container lives.

    Attributes:
        memory_bytes: of all in it, tmpfs included; there is no swap on top.
        pids: processes and threads.
        cpus: processors kept busy.
        socket_bytes: of buffers of TCP and UDP sockets, where cgroups count these apart from
            memory, as version 1 does.
    """

    memory_bytes: int
    pids: int
    cpus: float = 1.0
    socket_bytes: int | None = None

    def body(self) -> dict[str, Any]:
        """As the engine takes it, in a host config or an update."""
        return {
            "Memory": self.memory_bytes,
            "MemorySwap": self.memory_bytes,
            "PidsLimit": self.pids,
            "NanoCpus": int(self.cpus * 1e9),
            **({"KernelMemoryTCP": self.socket_bytes} if self.socket_bytes else {}),
        }


@dataclass(frozen=True, slots=True)
class Profile:
    """How a container is made.

    Attributes:
        image: its id, which is the digest of its configuration.
        command: argv of its PID 1.
        runtime: the engine's name of the OCI runtime.
        resources: what it may use.
        disk_bytes: size of each of its two tmpfs.
        network: `none`, or `container:ID` to join that one's empty network namespace.
        slot: whether its launcher makes namespaces.
        user: uid and gid of all in it, on the host too.
    """

    image: str
    command: tuple[str, ...]
    runtime: str
    resources: Resources
    disk_bytes: int
    network: str = "none"
    slot: bool = False
    user: int = BOX_ID

    def joining(self, container: str) -> Self:
        """The same in the network namespace of a container."""
        return replace(self, network=f"container:{container}")

    def body(self, environment: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, Any]:
        """The request."""
        return {
            "Image": self.image,
            "Entrypoint": [],
            "Cmd": list(self.command),
            "User": f"{self.user}:{self.user}",
            "WorkingDir": TEMPORARY,
            "Env": [f"{name}={value}" for name, value in environment.items()],
            "Labels": dict(labels),
            # Closed by the engine when the client that is attached goes away.
            "OpenStdin": True,
            "StdinOnce": True,
            # There is nothing to be saved: an engine that is stopped need not wait for us.
            "StopSignal": "SIGKILL",
            "AttachStdin": True,
            "AttachStdout": True,
            "AttachStderr": True,
            # A container that joins a network has that one's name.
            **({"Hostname": "box"} if self.network == "none" else {}),
            "HostConfig": self._host_config(),
        }

    def _host_config(self) -> dict[str, Any]:
        return {
            **self.resources.body(),
            "Runtime": self.runtime,
            "NetworkMode": self.network,
            "IpcMode": "private",
            "CgroupnsMode": "private",
            "ReadonlyRootfs": True,
            "Tmpfs": {TEMPORARY: self._tmpfs("exec"), SHARED_MEMORY: self._tmpfs("noexec")},
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges", f"seccomp={_seccomp(slot=self.slot)}"],
            "Ulimits": [
                _ulimit("nofile", _MOST_OPEN_FILES),
                _ulimit("fsize", _MOST_FILE_BYTES),
                _ulimit("core", _CORE_BYTES),
            ],
            "MaskedPaths": [*_MASKED_SYS, *(() if self.slot else _MASKED_PROC)],
            "ReadonlyPaths": [] if self.slot else list(_READ_ONLY),
            "LogConfig": {"Type": "none"},
            # Nothing is left of what ended by itself, be it for its owner's death.
            "AutoRemove": True,
        }

    def _tmpfs(self, programs: str) -> str:
        # Inodes take memory, too: one for each page.
        inodes = max(_FEWEST_INODES, self.disk_bytes // _PAGE_BYTES)
        size = f"size={self.disk_bytes},nr_inodes={inodes}"
        # Not by its mode alone: runc gives a mount the mode of what it covers in the image.
        return f"{size},uid={self.user},gid={self.user},mode=1777,nosuid,nodev,{programs}"


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}


def _seccomp(*, slot: bool) -> str:
    return json.dumps(seccomp_profile(also=_SLOT_CALLS if slot else ()))


__all__ = ["Profile", "Resources"]
