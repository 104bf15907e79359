"""The profile as the engine gets it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandboxes.base import MIB, Limits
from sandboxes.docker.profile import Profile, Resources
from sandboxes.docker.runtimes import runtime_named
from sandboxes.docker.slots import Kind

LABELS = {"owner": "me"}


def body(**changes: Any) -> dict[str, Any]:
    options = {
        "image": "sha256:1",
        "command": ("true",),
        "runtime": "runc",
        "resources": Resources(memory_bytes=256 * MIB, pids=33),
        "disk_bytes": 16 * MIB,
        **changes,
    }
    return Profile(**options).body({"PATH": "/bin"}, LABELS)


def test_a_box_has_no_network_no_privilege_and_nothing_to_write_to_but_sized_tmpfs() -> None:
    host = body()["HostConfig"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert "no-new-privileges" in host["SecurityOpt"]
    assert host["IpcMode"] == "private"
    assert host["LogConfig"] == {"Type": "none"}
    assert set(host["Tmpfs"]) == {"/tmp", "/dev/shm"}
    for options in host["Tmpfs"].values():
        assert f"size={16 * MIB}" in options
        assert "nr_inodes=4096" in options
        assert {"nosuid", "nodev"} <= set(options.split(","))
    assert "exec" in host["Tmpfs"]["/tmp"].split(",")


def test_a_box_may_not_swap_and_takes_its_limits_from_its_resources() -> None:
    host = body()["HostConfig"]
    assert host["Memory"] == host["MemorySwap"] == 256 * MIB
    assert host["PidsLimit"] == 33
    assert host["NanoCpus"] == 10**9
    assert {u["Name"] for u in host["Ulimits"]} == {"nofile", "fsize", "core"}


def test_a_crash_starts_no_handler_of_the_hosts() -> None:
    """A handler that cores are piped to runs as root; the kernel skips it at a limit of 1."""
    (core,) = [u for u in body()["HostConfig"]["Ulimits"] if u["Name"] == "core"]
    assert (core["Soft"], core["Hard"]) == (1, 1)


def test_a_box_runs_as_nobody_and_ends_with_its_client() -> None:
    made = body()
    assert made["User"] == "64000:64000"
    assert made["OpenStdin"]
    assert made["StdinOnce"]


@pytest.mark.parametrize("slot", [False, True])
def test_the_call_filter_lets_a_slots_launcher_make_namespaces_and_no_other(slot: bool) -> None:
    (option,) = [o for o in body(slot=slot)["HostConfig"]["SecurityOpt"] if "seccomp" in o]
    profile = json.loads(option.removeprefix("seccomp="))
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    free = {
        name
        for rule in profile["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW" and not rule.get("args")
        for name in rule["names"]
    }
    assert ({"clone", "unshare", "mount", "pivot_root"} <= free) is slot
    assert not free & {"ptrace", "keyctl", "bpf", "io_uring_setup", "kexec_load", "init_module"}


def test_only_a_slot_sees_all_of_proc() -> None:
    assert "/proc/kcore" in body()["HostConfig"]["MaskedPaths"]
    assert "/proc/sys" in body()["HostConfig"]["ReadonlyPaths"]
    slot = body(slot=True)["HostConfig"]
    assert not [path for path in slot["MaskedPaths"] if path.startswith("/proc")]
    assert "/sys/kernel" in slot["MaskedPaths"]
    assert slot["ReadonlyPaths"] == []


def test_a_container_that_joins_a_network_has_no_name_of_its_own() -> None:
    joined = Profile("sha256:1", ("true",), "runc", Resources(MIB, 1), MIB).joining("net")
    made = joined.body({}, LABELS)
    assert made["HostConfig"]["NetworkMode"] == "container:net"
    assert "Hostname" not in made


def kind(runtime: str, version: str, *, own_users: bool = True) -> Kind:
    return Kind(
        "docker", runtime, runtime_named(runtime), False, {}, 1, version, own_users=own_users
    )


def test_buffers_of_sockets_are_limited_where_they_are_counted_apart() -> None:
    """Elsewhere an engine would say that it leaves the limit out, which we take for a refusal."""
    limits = Limits(memory_bytes=64 * MIB)
    apart = kind("crun", "1").resources(limits)
    assert apart.socket_bytes == apart.memory_bytes // 4
    assert apart.body()["KernelMemoryTCP"] == apart.socket_bytes
    assert "KernelMemoryTCP" not in kind("crun", "2").resources(limits).body()
    assert "KernelMemoryTCP" not in kind("runsc", "1").resources(limits).body()


def test_what_a_runtime_leaves_out_is_a_known_gap() -> None:
    assert "memory in UDP sockets" in kind("runc", "1").known_gaps
    assert kind("runc", "2").known_gaps == {}
    assert kind("crun", "1").known_gaps == {}
    shared = kind("crun", "2", own_users=False).known_gaps
    assert "descriptors in flight of all runs together" in shared


def test_all_in_a_container_is_its_users() -> None:
    made = body(user=1234)
    assert made["User"] == "1234:1234"
    assert all("uid=1234,gid=1234" in o for o in made["HostConfig"]["Tmpfs"].values())


def test_more_disk_brings_more_files() -> None:
    assert (
        f"nr_inodes={64 * MIB // 4096}" in body(disk_bytes=64 * MIB)["HostConfig"]["Tmpfs"]["/tmp"]
    )


def test_a_program_gets_its_limits_on_top_of_its_launchers() -> None:
    resources = runtime_named("runc").resources(
        Limits(memory_bytes=64 * MIB, pids=8), launcher_bytes=10 * MIB, launcher_pids=1
    )
    assert resources.pids == 9
    assert 74 * MIB <= resources.memory_bytes < 96 * MIB


@pytest.mark.parametrize("name", ["runsc", "runsc-kvm"])
def test_gvisors_own_threads_are_not_counted_as_the_programs(name: str) -> None:
    resources = runtime_named(name).resources(Limits(pids=8), launcher_bytes=0, launcher_pids=1)
    assert resources.pids >= 256
    assert runtime_named(name).meter("1") == {}


@pytest.mark.parametrize(
    ("version", "memory", "cpu"),
    [
        ("1", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/cpuacct"),
        ("2", "/sys/fs/cgroup", "/sys/fs/cgroup"),
    ],
)
def test_a_launcher_is_told_where_its_cgroup_is(version: str, memory: str, cpu: str) -> None:
    assert runtime_named("runc").meter(version) == {"memory": memory, "cpu": cpu}
