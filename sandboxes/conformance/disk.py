"""Attacks on the disk: filling it, and tricks on whoever copies files out of it."""

from __future__ import annotations

from dataclasses import replace

from sandboxes.base import MIB, ExitReason
from sandboxes.conformance.attack import SMALL, Attack

DISK_ATTACKS = (
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
        "filling the disk with a file that has no name",
        """
written = 0
try:
    with open("gone", "wb", buffering=0) as file:
        os.unlink("gone")
        other = [open(f"gone{n}", "wb", buffering=0) for n in range(8)]
        for n in range(8):
            os.unlink(f"gone{n}")
        for each in other:
            while each.tell() < 7 << 20:
                written += each.write(bytes(1 << 16))
except OSError as error:
    expect(error.errno == errno.ENOSPC, error)
expect(written < 20 << 20, f"{written} bytes")
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
refused("allocated 12 MiB", lambda: os.posix_fallocate(os.open("all", 66, 0o600), 0, 12 << 20))
refused("a hole of 12 MiB", lambda: os.truncate(os.open("hole", 66, 0o600), 12 << 20))
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
        replace(SMALL, memory_bytes=64 * MIB),
        (ExitReason.EXITED, ExitReason.MEMORY_LIMIT),
    ),
    Attack(
        "read-only system",
        """
def write(path):
    with open(path, "w"):
        pass
for folder in ("/", "/usr", "/usr/bin", "/etc", "/dev", "/opt", "/var", "/run", "/proc", "/sys",
               "/var/tmp", "/run/lock", "/dev/mqueue", os.path.dirname(os.__file__)):
    if os.path.isdir(folder):
        refused("wrote to " + folder, write, folder + "/written")
refused("changed the interpreter", write, os.path.realpath(sys.executable))
refused("a library for all programs", write, "/etc/ld.so.preload")
refused("remounted", lambda: os.close(os.open("/usr", os.O_TMPFILE | os.O_RDWR, 0o600)))
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
    Attack(
        "a crash that starts a program of the host's",
        """
# Only a limit of 1 keeps the kernel from it where the host has such a handler, today or not.
try:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (OSError, ValueError):
    pass
limits = dict(line.rsplit(None, 3)[:2] for line in open("/proc/self/limits") if "core" in line)
expect(limits == {"Max core file size": "1"}, limits)
""",
    ),
    Attack(
        "files that nobody can remove",
        """
import fcntl
file = os.open("kept", os.O_CREAT | os.O_RDWR)
for flag in (0x10, 0x20):  # immutable, append only
    refused(f"flag {flag}", fcntl.ioctl, file, 0x40086602, flag.to_bytes(8, "little"))
""",
    ),
    Attack(
        "paths too deep and names too odd to be copied out",
        """
here = os.getcwd()
for _ in range(400):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
open("file", "w").close()
os.chdir(here)
for name in (b"\\xff", b"\\n", b" ", b"-rf", b"\\x1b[2J", b"x" * 255):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0))
""",
        unreadable=("/".join(["d" * 250] * 16) + "/file", "d" * 250, "x" * 256),
    ),
    Attack(
        "links, pipes and folders to be copied out",
        """
os.symlink("/etc/passwd", "link")
os.symlink("/", "root")
os.symlink("/proc/self/fd/0", "stdin")
os.symlink("link", "link-to-link")
os.symlink("loop", "loop")
os.mkdir("folder")
os.mkfifo("pipe")
os.link("link", "hard")
with open("sparse", "wb") as file:
    file.truncate(8 << 20)
with open("closed", "w") as file:
    file.write("secret")
os.chmod("closed", 0)
""",
        unreadable=(
            *("link", "root/etc/passwd", "stdin", "link-to-link", "loop", "folder", "pipe"),
            *("hard", "sparse", "nothing", "pipe/x", "sparse/x", "x" * 300),
        ),
    ),
    Attack(
        "hard links to what is not its own",
        """
for path in (os.path.realpath(sys.executable), os.__file__, "/etc/passwd", "/proc/self/environ",
             "/dev/null"):
    if os.path.exists(path):
        refused(path, os.link, path, "hard")
""",
        unreadable=("hard",),
    ),
    Attack(
        "swapping the work directory",
        """
here = os.getcwd()
os.chdir("/tmp")
try:
    os.rename(here, "/tmp/away")
    os.symlink("/usr/lib", here)
except OSError:
    pass
""",
        unreadable=("os-release", "away/x"),
    ),
    Attack(
        "swapping a file for a link, for ever",
        """
os.mkdir("real")
with open("real/file", "w") as file:
    file.write("real")
if os.fork() == 0:
    while True:
        os.symlink("/usr/lib", "swap")
        os.unlink("swap")
        os.symlink("/etc", "swap")
        os.unlink("swap")
time.sleep(0.05)
""",
        unreadable=("swap/os-release", "swap/passwd", "swap/ld.so.cache"),
    ),
    Attack(
        "closing the work directory to others",
        """
os.mkdir("inner")
open("inner/file", "w").close()
os.chmod("inner", 0)
os.chmod(".", 0)
""",
        unreadable=("inner/none", "none"),
    ),
)
