"""Attacks on what a program sees and may change: the host's files, /proc, environment."""

from __future__ import annotations

from sandboxes.conformance.attack import Attack

VIEW_ATTACKS = (
    Attack(
        "the host's files",
        """
for path in (*host["secrets"], "/etc/shadow", "/etc/passwd", "/etc/ssh", "/home", "/var/lib",
             "/var/run/docker.sock", "/run", "/boot", "/sys/kernel", "/sys/fs/cgroup"):
    expect(not os.path.exists(path) or (os.path.isdir(path) and os.listdir(path) == []), path)
""",
    ),
    Attack(
        "the host's files through /proc",
        """
for process in filter(str.isdigit, os.listdir("/proc")):
    for way in ("root", "cwd"):
        for path in host["secrets"]:
            expect(not os.path.exists(f"/proc/{process}/{way}{path}"), path)
""",
    ),
    Attack(
        "the host's environment",
        """
names = set(os.environb)
for process in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            names |= {entry.partition(b"=")[0] for entry in file.read().split(b"\\0")}
    except OSError:
        pass
for name in host["environment"]:
    expect(name.encode() not in names, name)
""",
    ),
    Attack(
        "the host's processes",
        """
processes = [p for p in os.listdir("/proc") if p.isdigit()]
expect(len(processes) <= 4 and str(os.getpid()) in processes, processes)
expect(host["pid"] not in map(int, processes) or host["pid"] < 5, "sees its judge")
""",
    ),
    Attack(
        "the kernel's settings",
        """
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger",
             "/proc/sys/vm/overcommit_memory", "/sys/kernel/uevent_helper",
             "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
    refused(path, lambda: os.close(os.open(path, os.O_WRONLY)))
""",
    ),
    Attack(
        "mapping itself to root",
        """
def map_root():
    with open("/proc/self/uid_map", "w", buffering=1) as file:
        file.write("0 0 1\\n")
refused("uid_map", map_root)
""",
    ),
    Attack(
        "the kernel's secrets",
        """
for path in ("/proc/kcore", "/proc/kmsg", "/dev/mem", "/dev/kmsg", "/dev/port", "/dev/vda",
             "/dev/sda", "/dev/kvm"):
    refused(path, lambda: os.close(os.open(path, os.O_RDONLY)))
""",
    ),
    Attack(
        "memory of the init",
        """
if os.stat("/proc/1").st_uid != os.getuid():
    refused("memory", lambda: os.close(os.open("/proc/1/mem", os.O_RDWR)))
    refused("files", os.listdir, "/proc/1/fd")
""",
    ),
    Attack(
        "read-only system",
        """
def write(path):
    with open(path, "w"):
        pass
for folder in ("/", "/usr", "/usr/bin", "/etc", "/dev", "/opt", os.path.dirname(os.__file__)):
    if os.path.isdir(folder):
        refused("wrote to " + folder, write, folder + "/written")
refused("changed the interpreter", write, os.path.realpath(sys.executable))
""",
    ),
    Attack(
        "descriptors that are not its own",
        """
open_ones = sorted(int(fd) for fd in os.listdir("/proc/self/fd"))
expect(len(open_ones) == 4 and open_ones[:3] == [0, 1, 2], open_ones)
""",
    ),
    Attack(
        "installed packages",
        """
import importlib.util
for name in ("pip", "pydantic", "verifier_server", "sandboxes", "pytest"):
    expect(importlib.util.find_spec(name) is None, name)
""",
    ),
    Attack("the host's name", "expect(os.uname().nodename != host['name'], 'the same')"),
)
