"""Attacks through the kernel: calls that must be refused, privileges that must be gone."""

from __future__ import annotations

from collections.abc import Iterator

from sandboxes.conformance.attack import Attack

# Name: (number on x86_64, on aarch64, arguments). The arguments would do nothing: where a
# call gets through, the kernel itself finds fault with them (EINVAL, EFAULT, EBADF…).
_CALLS = {
    "acct": (163, 89, "b'none'"),
    "add_key": (248, 217, "b'user', b'box', b'secret', 6, -3"),
    "adjtimex": (159, 171, "b'\\1' + bytes(207)"),
    "bpf": (321, 280, "99, 0, 0"),
    "cachestat": (451, 451, "-1, 0, 0, 0"),
    "chroot": (161, 51, "b'/'"),
    "clock_adjtime": (305, 266, "0, b'\\1' + bytes(207)"),
    "clock_settime": (227, 112, "0, 0"),
    "delete_module": (176, 106, "b'none', 0"),
    "fanotify_init": (300, 262, "0, 0"),
    "finit_module": (313, 273, "-1, b'', 0"),
    "fsconfig": (431, 431, "-1, 0, 0, 0, 0"),
    "fsmount": (432, 432, "-1, 0, 0"),
    "fsopen": (430, 430, "b'tmpfs', 0"),
    "fspick": (433, 433, "-100, b'/', 0"),
    "init_module": (175, 105, "0, 0, b''"),
    "io_setup": (206, 0, "0, 0"),
    "io_uring_enter": (426, 426, "-1, 0, 0, 0, 0, 0"),
    "io_uring_register": (427, 427, "-1, 0, 0, 0"),
    "io_uring_setup": (425, 425, "1, 0"),
    "ioprio_set": (251, 30, "9, 0, 0"),
    "kcmp": (312, 272, "1, 1, 0, 0, 0"),
    "kexec_file_load": (320, 294, "-1, -1, 0, b'', 0"),
    "kexec_load": (246, 104, "0, 0, 0, 99"),
    "keyctl": (250, 219, "0, -3, 0"),
    "listmount": (458, 458, "0, 0, 0, 9"),
    "lookup_dcookie": (212, 18, "0, 0, 0"),
    "memfd_secret": (447, 447, "99"),
    "migrate_pages": (256, 238, "0, 1 << 40, 0, 0"),
    "mount": (165, 40, "b'none', b'/tmp', b'tmpfs', 0, 0"),
    "mount_setattr": (442, 442, "-1, b'', 0, 0, 0"),
    "move_mount": (429, 429, "-1, b'', -1, b'', 0"),
    "move_pages": (279, 239, "1, 0, 0, 0, 0, 0"),
    "mq_open": (240, 180, "b'box', 0o102, 0o600, 0"),
    "name_to_handle_at": (303, 264, "-1, b'', 0, 0, 0"),
    "open_by_handle_at": (304, 265, "-1, 0, 0"),
    "open_tree": (428, 428, "-100, b'/', 1"),
    "perf_event_open": (298, 241, "0, 0, -1, -1, 0"),
    "personality": (135, 92, "0x40000"),
    "pidfd_getfd": (438, 438, "-1, 0, 0"),
    "pivot_root": (155, 41, "b'/', b'/'"),
    "process_madvise": (440, 440, "-1, 0, 0, 0, 0"),
    "process_mrelease": (448, 448, "-1, 0"),
    "process_vm_readv": (310, 270, "1, 0, 0, 0, 0, 0"),
    "process_vm_writev": (311, 271, "1, 0, 0, 0, 0, 0"),
    "ptrace": (101, 117, "16, 1, 0, 0"),
    "quotactl": (179, 60, "0x80000700, b'none', 0, 0"),
    "quotactl_fd": (443, 443, "-1, 0, 0, 0"),
    "reboot": (169, 142, "0, 0, 0, 0"),
    "remap_file_pages": (216, 234, "1, 1, 1, 1, 0"),
    "request_key": (249, 218, "b'user', b'box', 0, -3"),
    "sched_setattr": (314, 274, "0, 0, 0"),
    "set_mempolicy": (238, 237, "99, 0, 0"),
    "setdomainname": (171, 162, "b'x', -1"),
    "sethostname": (170, 161, "b'x', -1"),
    "setns": (308, 268, "-1, 0"),
    "settimeofday": (164, 170, "0, 0"),
    "statmount": (457, 457, "0, 0, 0, 9"),
    "swapoff": (168, 225, "b'/none'"),
    "swapon": (167, 224, "b'/none', 0"),
    "sync": (162, 81, ""),
    "syncfs": (306, 267, "-1"),
    "syslog": (103, 116, "3, 0, -1"),
    "umount2": (166, 39, "b'/proc', 2"),
    "userfaultfd": (323, 282, "1"),
    "vmsplice": (278, 75, "-1, 0, 0, 0"),
}
_REFUSALS = "(errno.EPERM, errno.ENOSYS, errno.EACCES)"
_SYSCALL = f"""
libc = ctypes.CDLL(None, use_errno=True)
def call(x86_64, aarch64, *arguments):
    ctypes.set_errno(0)
    number = {{"x86_64": x86_64, "aarch64": aarch64}}[os.uname().machine]
    if libc.syscall(ctypes.c_long(number), *arguments) != -1:
        return "done"
    if ctypes.get_errno() not in {_REFUSALS}:
        return "reached the kernel: " + errno.errorcode[ctypes.get_errno()]
"""
_NAMESPACES = {
    "user": 0x10000000,
    "mount": 0x20000,
    "network": 0x40000000,
    "pid": 0x20000000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "cgroup": 0x2000000,
}


def _refused_calls() -> Iterator[Attack]:
    for name, (x86_64, aarch64, arguments) in _CALLS.items():
        program = f"""
outcome = call({x86_64}, {aarch64}, {arguments})
expect(outcome is None, outcome)
"""
        yield Attack(f"system call {name}", _SYSCALL + program)


KERNEL_ATTACKS = (
    *_refused_calls(),
    Attack(
        "new namespaces",
        _SYSCALL
        + f"""
for name, flag in {_NAMESPACES}.items():
    expect(call(272, 97, flag) is None, "unshare " + name)
    child = libc.syscall(ctypes.c_long({{"x86_64": 56, "aarch64": 220}}[os.uname().machine]),
                         ctypes.c_ulong(flag | signal.SIGCHLD), 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    expect(child < 0, "clone " + name)
arguments = (ctypes.c_uint64 * 11)(0x10000000)
expect(call(435, 435, ctypes.byref(arguments), 88) is None, "clone3")
expect(call(272, 97, 0x80) is None, "unshare time")
""",
    ),
    Attack(
        "input and output ports",
        _SYSCALL
        + """
if os.uname().machine == "x86_64":
    expect(call(172, 0, 3) is None, "iopl")
    expect(call(173, 0, 0x80, 1, 1) is None, "ioperm")
    expect(call(154, 0, 1, 0, 0) is None, "modify_ldt")
""",
    ),
    Attack(
        "another architecture's system calls",
        """
if os.uname().machine == "x86_64":
    libc = ctypes.CDLL(None, use_errno=True)
    if os.fork() == 0:  # refused, or killed for it
        os._exit(1 if libc.syscall(ctypes.c_long(0x40000000 | 39)) >= 0 else 0)
    expect(os.wait()[1] != 256, "x32")
    # mov eax, 20; int 0x80; ret: getpid by its i386 number
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b814000000cd80c3"))
    run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    if os.fork() == 0:
        os._exit(1 if run() > 0 else 0)
    _, status = os.wait()
    expect(status != 256, "i386")
""",
    ),
    Attack(
        "privileges",
        """
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
expect(os.getuid() != 0 and os.getgid() != 0, "is root")
expect(int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0, "has capabilities")
expect(status["NoNewPrivs"] == "1", "may gain privileges")
expect(status["Seccomp"] == "2", "no seccomp filter")
refused("setuid", os.setuid, 0)
refused("setgroups", os.setgroups, [0])
""",
    ),
    Attack(
        "device nodes",
        """
import stat
refused("block device", os.mknod, "disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0))
refused("memory device", os.mknod, "mem", 0o600 | stat.S_IFCHR, os.makedev(1, 1))
known = {"null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr", "shm",
         "tty", "pts", "ptmx", "console", "core", "mqueue"}
expect(set(os.listdir("/dev")) <= known, sorted(set(os.listdir("/dev")) - known))
""",
    ),
    Attack(
        "setuid files",
        """
import shutil, subprocess
shutil.copy("/bin/sh", "tool")
os.chmod("tool", 0o6755)
shown = subprocess.run(["./tool", "-c", "id -u; id -g"], capture_output=True, text=True).stdout
expect(shown.split() == [str(os.getuid()), str(os.getgid())], shown)
refused("given to root", os.chown, "tool", 0, 0)
refused("a capability", os.setxattr, "tool", "security.capability", bytes(20))
""",
    ),
    Attack(
        "a program of its own making",
        """
import shutil, subprocess
look = "import os; s = open('/proc/self/status').read().replace('\\t', ''); " + (
    "print('Seccomp:2' in s, 'NoNewPrivs:1' in s, 'CapEff:0000000000000000' in s)")
for folder in ("/tmp", "/dev/shm", "."):
    if not os.access(folder, os.W_OK):
        continue
    tool = folder + "/tool"
    shutil.copy("/bin/sh", tool)
    os.chmod(tool, 0o755)
    try:
        command = [tool, "-c", 'exec "$0" -c "$1"', sys.executable, look]
        shown = subprocess.run(command, capture_output=True, text=True).stdout
    except OSError:  # not to be run is as well
        continue
    expect(shown.split() == ["True"] * 3, f"{folder}: {shown}")
""",
    ),
    Attack(
        "its own entries in /proc",
        """
def write(name, text):
    with open("/proc/self/" + name, "w", buffering=1) as file:
        file.write(text)
for name, text in {"gid_map": "0 0 1\\n", "projid_map": "0 0 1\\n", "setgroups": "allow",
                   "timens_offsets": "monotonic 1000 0\\n", "attr/current": "unconfined",
                   "make-it-fail": "1"}.items():
    refused(name, write, name, text)
""",
    ),
    Attack(
        "a call given back to it by a filter of its own",
        """
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
expect(libc.syscall(ctypes.c_long(number), 1, 8, 0) == -1 and ctypes.get_errno() != errno.EFAULT,
       "may listen to a filter")
expect(libc.prctl(38, 0, 0, 0, 0) != 0, "took no_new_privs back")
""",
    ),
    Attack(
        "terminal injection",
        "import fcntl; refused('TIOCSTI', fcntl.ioctl, 0, 0x5412, b'x')",
    ),
    Attack(
        "outliving the owner",
        """
libc = ctypes.CDLL(None, use_errno=True)
expect(libc.prctl(1, 0, 0, 0, 0) != 0, "cleared its parent-death signal")
""",
    ),
)
