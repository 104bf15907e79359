"""Attacks on how a run ends: outliving it, killing or stopping what watches it, lying about it."""

from __future__ import annotations

from dataclasses import replace

from sandboxes.base import ExitReason
from sandboxes.conformance.attack import ITS_OWN_END, SMALL, Attack

_KILLED = (ExitReason.SIGNALLED,)
_BRISK = replace(SMALL, time_s=15.0)
_SHORT = replace(SMALL, time_s=2.0)

# Calls `visit` with the number of every process in view but the caller.
_OTHERS = """
def others(visit):
    for process in filter(str.isdigit, os.listdir("/proc")):
        if int(process) != os.getpid():
            try:
                visit(int(process))
            except OSError:
                pass
"""

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
        "a child with everything ignored, in a session of its own",
        """
if os.fork() == 0:
    os.setsid()
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)
""",
        _BRISK,
    ),
    Attack(
        "a family that forks for ever after the end",
        """
if os.fork() == 0:
    while True:
        try:
            if os.fork() != 0:
                os._exit(0)
        except OSError:
            pass
""",
        _BRISK,
    ),
    Attack(
        "killing itself",
        "os.kill(os.getpid(), signal.SIGKILL)",
        reasons=_KILLED,
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
        "killing every other process",
        _OTHERS + "others(lambda process: os.kill(process, signal.SIGKILL))\ntime.sleep(0.1)",
    ),
    Attack(
        "stopping every other process",
        _OTHERS + "others(lambda process: os.kill(process, signal.SIGSTOP))",
    ),
    Attack(
        "stopping and waking the init, over and over",
        """
if os.fork() == 0:
    while True:
        for number in (signal.SIGSTOP, signal.SIGCONT):
            try:
                os.kill(1, number)
            except OSError:
                pass
time.sleep(0.2)
os._exit(5)
""",
        exit=5,
        stdout=b"",
    ),
    Attack(
        "signals to all, for ever, and no end of its own",
        """
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
while True:
    for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(-1, number)
        except OSError:
            pass
""",
        _SHORT,
        (ExitReason.TIME_LIMIT, ExitReason.SIGNALLED),
    ),
    Attack(
        "its parent's group and session",
        """
for call in (lambda: os.killpg(os.getpgid(os.getppid()), signal.SIGKILL),
             lambda: os.killpg(0, signal.SIGTERM) if os.getpgid(0) != os.getpid() else None,
             lambda: os.setpgid(0, os.getppid())):
    try:
        call()
    except OSError:
        pass
""",
        reasons=(ExitReason.EXITED, ExitReason.SIGNALLED),
        signal=15,
    ),
    Attack(
        "being traced by its child",
        """
libc = ctypes.CDLL(None, use_errno=True)
parent = os.getpid()
if os.fork() == 0:
    traced = libc.ptrace(16, parent, 0, 0) == 0 or libc.ptrace(0x4206, parent, 0, 0) == 0
    os._exit(3 if traced else 0)
expect(os.waitstatus_to_exitcode(os.wait()[1]) == 0, "traced")
expect(libc.ptrace(0, 0, 0, 0) != 0, "asked to be traced")
""",
    ),
    Attack(
        "a filter of its own that forbids its end",
        """
import struct
libc = ctypes.CDLL(None, use_errno=True)
calls = {"x86_64": (60, 231), "aarch64": (93, 94)}[os.uname().machine]
steps = [(0x20, 0, 0, 0), (0x15, 1, 0, calls[0]), (0x15, 0, 1, calls[1]),
         (6, 0, 0, 0x00050001), (6, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code)))
libc.prctl(22, 2, program)
""",
        _SHORT,
        ITS_OWN_END,
        exit=None,
        stdout=None,
    ),
    Attack(
        "an exit status by signal that nobody can send",
        """
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(60)
""",
        reasons=_KILLED,
        signal=14,
    ),
    Attack(
        "a crash of its own",
        "ctypes.string_at(0)",
        reasons=_KILLED,
        signal=11,
    ),
    Attack(
        "its name",
        """
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(15, b") Z 1 (x\\n 1", 0, 0, 0)
os.kill(os.getpid(), signal.SIGTERM)
""",
        reasons=_KILLED,
        signal=15,
    ),
)
