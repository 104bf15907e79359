"""What confines a container, as data: the runtime's `config.json`.

All namespaces are fresh, the user namespace too: ids in the container stand for ids that own
nothing on the host, so even its root would be nobody. The network namespace is empty, the
root file system read-only, what can be written is two sized tmpfs. No capabilities, no new
privileges, the call list, masked paths. Limits of processes, memory and CPU time are the
cgroup's; each program's own rlimits and the exact call filter are the launcher's.
Source: OCI runtime-spec 1.0, config and config-linux.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandboxes.base import MIB
from sandboxes.confinement.seccomp_json import seccomp_profile
from sandboxes.ids import FIRST_ID, new_host_id
from sandboxes.layout import BOX_ID, LAUNCHER, SHARED_MEMORY, TEMPORARY

# Until a program's own are put in force. A runtime's init counts as the container's.
WAITING_MEMORY_BYTES, WAITING_PIDS = 256 * MIB, 64
_WAITING_DISK_BYTES = MIB
# 1, not 0: see `docker.profile`.
_CORE_BYTES = 1
# A file and not its folder: Python imports more to run a folder.
_INTERPRETER = ("python3", "-I", "-S", "-B")
_NAMESPACES = ("user", "pid", "network", "ipc", "uts", "mount", "cgroup")
_MASKED = (
    *("/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
    *("/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi"),
    *("/proc/interrupts", "/proc/kallsyms", "/proc/modules", "/proc/kpagecount"),
)
_READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")


def container_config(
    root: str, environment: Mapping[str, str], cgroup: str, resources: Mapping[str, Any]
) -> dict[str, Any]:
    """The configuration of a container in which the launcher waits.

    Args:
        root: its root file system, read-only already.
        environment: of the launcher.
        cgroup: its group's path below the hierarchies' mount points.
        resources: what it may use while it waits, in the words of the specification.
    """
    # Nobody's on the host, all of them; the program's is no other box's either.
    ids = [
        {"containerID": 0, "hostID": FIRST_ID, "size": BOX_ID},
        {"containerID": BOX_ID, "hostID": new_host_id(), "size": 1},
    ]
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": BOX_ID, "gid": BOX_ID},
            "args": [*_INTERPRETER, f"{LAUNCHER}/__main__.py"],
            "env": [f"{name}={value}" for name, value in environment.items()],
            "cwd": TEMPORARY,
            "capabilities": {
                kind: []
                for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")
            },
            "rlimits": [
                {"type": f"RLIMIT_{kind}", "hard": limit, "soft": limit}
                for kind, limit in (("CORE", _CORE_BYTES), ("MSGQUEUE", 0), ("MEMLOCK", MIB))
            ],
            "noNewPrivileges": True,
        },
        "root": {"path": root, "readonly": True},
        "hostname": "box",
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            _tmpfs("/dev", 65_536, "mode=755", "noexec"),
            _tmpfs(SHARED_MEMORY, _WAITING_DISK_BYTES, "mode=1777", "nodev", "noexec"),
            _tmpfs(TEMPORARY, _WAITING_DISK_BYTES, "mode=1777", "nodev"),
        ],
        "linux": {
            "namespaces": [{"type": kind} for kind in _NAMESPACES],
            "uidMappings": ids,
            "gidMappings": ids,
            "cgroupsPath": cgroup,
            "resources": resources,
            "seccomp": seccomp_profile(),
            "maskedPaths": _MASKED,
            "readonlyPaths": _READ_ONLY,
        },
    }


def waiting_resources() -> dict[str, Any]:
    """What a container may use before its program comes; no device but the harmless few."""
    return {
        "devices": [{"allow": False, "access": "rwm"}],
        "memory": {"limit": WAITING_MEMORY_BYTES, "swap": WAITING_MEMORY_BYTES},
        "pids": {"limit": WAITING_PIDS},
        "cpu": {"quota": 100_000, "period": 100_000},
    }


def _tmpfs(path: str, size_bytes: int, *options: str) -> dict[str, Any]:
    return {
        "destination": path,
        "type": "tmpfs",
        "source": "tmpfs",
        "options": ["nosuid", f"size={size_bytes}", *options],
    }


__all__ = [
    "WAITING_MEMORY_BYTES",
    "WAITING_PIDS",
    "container_config",
    "waiting_resources",
]
