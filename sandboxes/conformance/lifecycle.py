"""Attacks on how a run ends: outliving it, holding it up, lying about it, leaving things."""

from __future__ import annotations

from dataclasses import replace

from sandboxes.base import ExitReason
from sandboxes.conformance.attack import SMALL, Attack

_KILLED = (ExitReason.SIGNALLED,)
_BRISK = replace(SMALL, time_s=15.0)

LIFECYCLE_ATTACKS = (
    Attack(
        "daemonised child",
        """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        time.sleep(120)
    os._exit(0)
os.wait()
""",
        _BRISK,
    ),
    Attack(
        "pipes held open by a child",
        """
if os.fork() == 0:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    time.sleep(120)
""",
        _BRISK,
    ),
    Attack(
        "a child that writes for ever after the end",
        """
if os.fork() == 0:
    while True:
        os.write(2, b".")
        time.sleep(0.01)
""",
        _BRISK,
    ),
    Attack("input that is not read", "", stdin=b"{}\n" + bytes(10 << 20)),
    Attack(
        "closed standard streams",
        "print('held', flush=True); [os.close(i) for i in range(3)]; os._exit(0)",
    ),
    Attack("exit status like a kill's", "os._exit(137)", exit=137, stdout=b""),
    Attack(
        "messages like a sandbox's",
        """
os.write(2, b"bwrap: setting up uid map: Permission denied\\n")
os._exit(1)
""",
        exit=1,
        stdout=b"",
    ),
    Attack(
        "killing itself",
        "os.kill(os.getpid(), signal.SIGKILL)",
        reasons=_KILLED,
        exit=None,
        signal=9,
    ),
    Attack(
        "waking the init, then killing itself",
        """
for number in (signal.SIGCONT, signal.SIGCHLD, signal.SIGUSR1):
    try:
        os.kill(1, number)
    except OSError:
        pass
time.sleep(0.1)
os.kill(os.getpid(), signal.SIGKILL)
""",
        reasons=_KILLED,
        exit=None,
        signal=9,
    ),
    Attack(
        "signals to the init",
        """
for number in set(signal.Signals) - {signal.SIGCONT}:
    try:
        os.kill(1, number)
    except OSError:
        pass
time.sleep(0.1)
os.kill(1, 0) if os.getuid() == os.stat("/proc/1").st_uid else None
""",
    ),
    Attack(
        "signals to all",
        """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try:
    os.kill(-1, signal.SIGTERM)
except OSError:
    pass
""",
    ),
    Attack(
        "leftovers of the run before",
        """
for folder in (".", "/tmp", "/dev/shm"):
    if os.path.isdir(folder):
        expect(not os.path.exists(folder + "/left"), folder)
expect(len([p for p in os.listdir("/proc") if p.isdigit()]) < 6, "processes")
""",
        before="""
for folder in (".", "/tmp", "/dev/shm"):
    if os.path.isdir(folder):
        open(folder + "/left", "w").close()
if os.fork() == 0:
    time.sleep(120)
""",
    ),
    Attack(
        "changing a file for the run after",
        "expect(open('given').read() == 'given', 'changed')",
        files={"given": b"given"},
        before="open('given', 'w').write('changed')",
    ),
    Attack(
        "links, pipes and folders to be copied out",
        """
os.symlink("/etc/passwd", "link")
os.symlink("/", "root")
os.mkdir("folder")
os.mkfifo("pipe")
os.link("link", "hard")
with open("sparse", "wb") as file:
    file.truncate(4 << 20)
with open("closed", "w") as file:
    file.write("secret")
os.chmod("closed", 0)
""",
        unreadable=("link", "root/etc/passwd", "folder", "pipe", "hard", "sparse", "nothing"),
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
)
