"""Attacks that take too much memory, in every place where there is some."""

from __future__ import annotations

from dataclasses import replace

from sandboxes.base import MIB, ExitReason
from sandboxes.conformance.attack import SMALL, Attack

_TOO_MUCH = (ExitReason.MEMORY_LIMIT,)
_TIGHT = replace(SMALL, memory_bytes=64 * MIB)

# Takes memory in steps that a watchdog can follow.
_HOG = """
def hog(mebibytes):
    kept = []
    for _ in range(mebibytes):
        kept.append(bytearray(os.urandom(1)) * (1 << 20))
        time.sleep(0.001)
    return kept
def touch(area, mebibytes):
    for n in range(mebibytes * 256):
        area[n << 12] = 1
        if n % 256 == 0:
            time.sleep(0.001)
"""

MEMORY_ATTACKS = (
    Attack("memory bomb", _HOG + "hog(512)", _TIGHT, _TOO_MUCH),
    Attack(
        "memory bomb in a child, whose parent exits 0",
        _HOG + "if os.fork() == 0: hog(512)\nos.wait()",
        _TIGHT,
        _TOO_MUCH,
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
        _TOO_MUCH,
    ),
    Attack(
        "memory spread so thinly that others look larger",
        _HOG
        + """
for _ in range(28):
    if os.fork() == 0:
        kept = hog(6)
        time.sleep(30)
        os._exit(0)
time.sleep(15)
""",
        _TIGHT,
        _TOO_MUCH,
    ),
    Attack(
        "memory bomb that dies before its neighbours",
        _HOG
        + """
for process in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{process}/oom_score_adj", "w") as file:
            file.write("1000" if int(process) != os.getpid() else "0")
    except OSError:
        pass
hog(512)
""",
        _TIGHT,
        _TOO_MUCH,
    ),
    Attack(
        "memory bomb that may not be looked into",
        _HOG + "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\nhog(512)",
        _TIGHT,
        _TOO_MUCH,
    ),
    Attack(
        "memory bomb in a program that may not be read",
        _HOG
        + """
import shutil
if "again" not in sys.argv:
    shutil.copy(os.path.realpath("/bin/sh"), "shell")
    os.chmod("shell", 0o111)
    os.execv("./shell", ["sh", "-c", "x=0123456789abcdef; while :; do x=$x$x; done"])
""",
        replace(_TIGHT, time_s=15.0),
        (*_TOO_MUCH, ExitReason.EXITED),
        exit=2,
        stdout=b"",
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
        "memory shared by mmap",
        _HOG + "touch(mmap.mmap(-1, 512 << 20), 512)",
        _TIGHT,
        _TOO_MUCH,
    ),
    Attack(
        "memory without a process: memfd, System V segments",
        _HOG
        + """
libc = ctypes.CDLL(None, use_errno=True)
expect(libc.shmget(0, 1 << 28, 0o1600) < 0, "System V shared memory")
try:
    memory = os.memfd_create("memory")
except OSError:
    pass
else:  # it must count, then
    for _ in range(512):
        os.write(memory, bytes(1 << 20))
        time.sleep(0.001)
    broken.append("memfd")
""",
        replace(_TIGHT, file_bytes=1 << 30),
        (ExitReason.EXITED, ExitReason.MEMORY_LIMIT),
    ),
    Attack(
        "locked memory",
        """
libc = ctypes.CDLL(None, use_errno=True)
area = ctypes.create_string_buffer(16 << 20)
expect(libc.mlock(area, len(area)) != 0, "locked 16 MiB")
expect(libc.mlockall(3) != 0, "locked all")
""",
    ),
    Attack(
        "a disk larger than the memory",
        """
written = 0
try:
    for number in range(64):
        with open(f"fill{number}", "wb", buffering=0) as file:
            while file.tell() < 4 << 20:
                written += file.write(bytes(1 << 16))
except OSError as error:
    expect(error.errno == errno.ENOSPC, error)
expect(written < 140 << 20, f"{written} bytes")
""",
        replace(_TIGHT, disk_bytes=128 * MIB),
        (ExitReason.EXITED, ExitReason.MEMORY_LIMIT),
    ),
)
