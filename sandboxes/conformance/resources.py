"""Attacks that use too much: processes, memory, disk, descriptors, output, time."""

from __future__ import annotations

from dataclasses import replace

from sandboxes.base import MIB, ExitReason
from sandboxes.conformance.attack import SMALL, Attack

_TOO_MUCH_MEMORY = (ExitReason.MEMORY_LIMIT,)
_TOO_LONG = (ExitReason.TIME_LIMIT,)
_TOO_MUCH_OUTPUT = (ExitReason.OUTPUT_LIMIT,)
_TIGHT = replace(SMALL, memory_bytes=64 * MIB)
_SHORT = replace(SMALL, time_s=0.5)

# Takes memory in steps that a watchdog can follow.
_HOG = """
def hog(mebibytes):
    kept = []
    for _ in range(mebibytes):
        kept.append(bytearray(os.urandom(1)) * (1 << 20))
        time.sleep(0.001)
    return kept
"""

RESOURCE_ATTACKS = (
    Attack(
        "fork bomb",
        """
children = 0
try:
    for _ in range(300):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        children += 1
except OSError:
    pass
expect(children < 36, f"{children} processes")
""",
    ),
    Attack(
        "thread bomb",
        """
stop, started = threading.Event(), 0
threading.stack_size(1 << 16)
try:
    for _ in range(300):
        threading.Thread(target=stop.wait, daemon=True).start()
        started += 1
except RuntimeError:
    pass
stop.set()
expect(started < 36, f"{started} threads")
""",
    ),
    Attack(
        "zombie storm",
        """
zombies = 0
try:
    for _ in range(300):
        if os.fork() == 0:
            os._exit(0)
        zombies += 1
except OSError:
    pass
expect(zombies < 36, f"{zombies} zombies")
""",
    ),
    Attack("memory bomb", _HOG + "hog(512)", _TIGHT, _TOO_MUCH_MEMORY, exit=None),
    Attack(
        "memory bomb in a child, whose parent exits 0",
        _HOG + "if os.fork() == 0: hog(512)\nos.wait()",
        _TIGHT,
        _TOO_MUCH_MEMORY,
        exit=None,
    ),
    Attack(
        "memory spread over many children",
        _HOG
        + """
for _ in range(12):
    if os.fork() == 0:
        kept = hog(16)
        time.sleep(30)
        os._exit(0)
time.sleep(15)
""",
        _TIGHT,
        _TOO_MUCH_MEMORY,
        exit=None,
    ),
    Attack(
        "memory of a program that forks, shared, is not counted twice",
        _HOG
        + """
kept = hog(60)
for _ in range(4):
    if os.fork() == 0:
        time.sleep(0.3)
        os._exit(0)
for _ in range(4):
    os.wait()
""",
    ),
    Attack(
        "memory without a process: memfd, System V segments",
        """
refused("memfd", os.memfd_create, "memory")
libc = ctypes.CDLL(None, use_errno=True)
expect(libc.shmget(0, 1 << 28, 0o1600) < 0, "System V shared memory")
""",
    ),
    Attack(
        "locked memory",
        """
libc = ctypes.CDLL(None, use_errno=True)
area = ctypes.create_string_buffer(16 << 20)
expect(libc.mlock(area, len(area)) != 0, "locked 16 MiB")
""",
    ),
    Attack(
        "filling the disk",
        """
def fill(folder):
    written = 0
    for number in range(64):
        try:
            with open(f"{folder}/fill{number}", "wb", buffering=0) as file:
                while file.tell() < 4 << 20:
                    written += file.write(bytes(1 << 16))
        except OSError as error:
            expect(error.errno == errno.ENOSPC, error)
            break
    for number in range(64):
        if os.path.exists(f"{folder}/fill{number}"):
            os.unlink(f"{folder}/fill{number}")
    expect(written < 20 << 20, f"{written} bytes in {folder}")
for folder in (".", "/tmp", "/dev/shm"):
    if os.path.isdir(folder):
        fill(folder)
""",
    ),
    Attack(
        "one huge file",
        """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def grow():
    with open("huge", "wb", buffering=0) as file:
        while file.tell() < 12 << 20:
            file.write(bytes(1 << 16))
expect(refused("a file of 12 MiB", grow) == errno.EFBIG, "not by its size")
""",
    ),
    Attack(
        "a million empty files",
        """
made = 0
try:
    while made < 1000000:
        os.close(os.open(f"empty{made}", os.O_CREAT | os.O_WRONLY))
        made += 1
except OSError:
    pass
expect(made < 300000, f"{made} files")
""",
        _TIGHT,
        (ExitReason.EXITED, ExitReason.MEMORY_LIMIT),
        exit=None,
    ),
    Attack(
        "all descriptors",
        """
opened = []
try:
    while len(opened) < 5000:
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
count = len(opened)
for fd in opened:
    os.close(fd)
expect(count < 64, f"{count} descriptors")
""",
    ),
    Attack(
        "raising its own limits",
        """
for name in ("RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_CORE"):
    kind = getattr(resource, name)
    soft, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (hard + 1, hard + 1))
        broken.append(name)
    except (OSError, ValueError):
        pass
""",
    ),
    Attack(
        "flood on stdout",
        "while True: os.write(1, bytes(1 << 16))",
        reasons=_TOO_MUCH_OUTPUT,
        exit=None,
    ),
    Attack(
        "flood on stderr",
        "while True: os.write(2, bytes(1 << 16))",
        reasons=_TOO_MUCH_OUTPUT,
        exit=None,
    ),
    Attack(
        "a flood just before the end",
        "os.write(1, bytes((1 << 20) - 100)); os.write(1, bytes(60000)); os._exit(0)",
        reasons=_TOO_MUCH_OUTPUT,
        exit=None,
    ),
    Attack("sleeping", "time.sleep(60)", _SHORT, _TOO_LONG, exit=None),
    Attack("busy loop", "while True: pass", _SHORT, _TOO_LONG, exit=None),
    Attack(
        "ignoring signals",
        """
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
time.sleep(60)
""",
        _SHORT,
        _TOO_LONG,
        exit=None,
    ),
    Attack("stopping itself", "os.kill(os.getpid(), signal.SIGSTOP)", _SHORT, _TOO_LONG, exit=None),
    Attack(
        "CPU time spread over children",
        """
for _ in range(3):
    if os.fork() == 0:
        while True: pass
time.sleep(60)
""",
        replace(SMALL, cpu_s=0.5),
        _TOO_LONG,
        exit=None,
    ),
    Attack(
        "real-time and higher priority",
        """
refused("nice", os.setpriority, os.PRIO_PROCESS, 0, -5)
refused("FIFO", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(10))
""",
    ),
    Attack(
        "arguments and environment of megabytes",
        """
refused("argument", os.execv, "/bin/sh", ["sh", "-c", "true", "x" * (4 << 20)])
refused("environment", os.execve, "/bin/sh", ["sh"], {"x": "x" * (4 << 20)})
""",
    ),
    Attack(
        "core dump",
        """
if os.fork() == 0:
    os.abort()
_, status = os.wait()
expect(not os.WCOREDUMP(status), "dumped")
expect(os.listdir(".") == ["attack.py"], os.listdir("."))
""",
    ),
)
