"""Attacks on what a program sees and may change: the host's files, /proc, environment."""

from __future__ import annotations

from sandboxes.conformance.attack import Attack

VIEW_ATTACKS = (
    Attack(
        "the host's files",
        """
for path in host["secrets"]:
    expect(not os.path.exists(path), path)
for path, identity in host["files"].items():
    if os.path.exists(path):
        found = os.stat(path)
        expect([found.st_dev, found.st_ino] != identity, path)
if os.path.isdir("/sys/kernel"):
    expect(os.listdir("/sys/kernel") == [], "/sys/kernel")
# Of cgroups at most its own: none below another.
for folder, folders, files in os.walk("/sys/fs/cgroup"):
    expect("cgroup.procs" not in files or not folders, f"groups in {folder}")
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
        "every setting of the kernel",
        """
import stat
def tries(folder):
    for place, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if not f.isdigit() and f not in ("self", "thread-self")]
        for name in files:
            path = os.path.join(place, name)
            try:
                if stat.S_ISREG(os.lstat(path).st_mode):  # not masked by a device
                    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY))
                    broken.append(path)
            except OSError:
                pass
tries("/proc")
tries("/sys")
del broken[20:]
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
             "/dev/sda", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/vsock", "/dev/loop0",
             "/dev/userfaultfd", "/dev/vhost-vsock", "/sys/kernel/debug/sched", "/proc/vmcore",
             "/sys/firmware/acpi/tables/DSDT", "/sys/class/dmi/id/product_uuid",
             "/sys/hypervisor/uuid", "/sys/kernel/security", "/sys/kernel/tracing/trace",
             "/var/lib/kubelet", "/var/run/secrets/kubernetes.io/serviceaccount/token"):
    refused(path, lambda: os.close(os.open(path, os.O_RDONLY)))
try:
    addresses = {line.split()[0] for line in open("/proc/kallsyms").readlines()[:200]}
except OSError:
    addresses = set()
expect(all(int(address, 16) == 0 for address in addresses), "the kernel's addresses")
""",
    ),
    Attack(
        "the kernel's keys",
        """
for path in ("/proc/keys", "/proc/key-users"):
    try:
        lines = open(path).read().splitlines()
    except OSError:
        continue
    expect(not any("_ses" in line or "user " in line for line in lines), lines)
""",
    ),
    Attack(
        "memory of every other process",
        """
for process in filter(str.isdigit, os.listdir("/proc")):
    if int(process) != os.getpid():
        refused(f"{process}'s memory", lambda: os.close(os.open(f"/proc/{process}/mem", os.O_RDWR)))
        for file in ("auxv", "maps", "environ", "syscall"):
            path = f"/proc/{process}/{file}"
            refused(path, lambda: open(path, "rb", buffering=0).read(1))
""",
    ),
    Attack(
        "descriptors of every other process",
        """
for process in filter(str.isdigit, os.listdir("/proc")):
    if int(process) != os.getpid():
        for folder in ("fd", "fdinfo", "map_files", "root", "cwd", "ns"):
            refused(f"{process}'s {folder}", os.listdir, f"/proc/{process}/{folder}")
        refused(f"{process}'s program", os.readlink, f"/proc/{process}/exe")
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
