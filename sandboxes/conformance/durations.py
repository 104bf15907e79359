"""Attacks that take too long, by the clock or by the processor's."""

from __future__ import annotations

from dataclasses import replace

from sandboxes.base import ExitReason
from sandboxes.conformance.attack import SMALL, Attack

_TOO_LONG = (ExitReason.TIME_LIMIT,)
_SHORT = replace(SMALL, time_s=0.5)
_LITTLE_CPU = replace(SMALL, cpu_s=0.5)
# Half a second of CPU time on a busy host, and well below the limit by the clock.
_SOON_S = 12.0

TIME_ATTACKS = (
    Attack("sleeping", "time.sleep(60)", _SHORT, _TOO_LONG),
    Attack("busy loop", "while True: pass", _SHORT, _TOO_LONG),
    Attack(
        "busy loops in many processes",
        """
for _ in range(8):
    if os.fork() == 0:
        break
while True: pass
""",
        _SHORT,
        _TOO_LONG,
    ),
    Attack(
        "waiting for a grandchild that sleeps",
        """
import subprocess
subprocess.run(["sh", "-c", "sleep 60 & wait"])
""",
        _SHORT,
        _TOO_LONG,
    ),
    Attack(
        "ignoring signals",
        """
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
time.sleep(60)
""",
        _SHORT,
        _TOO_LONG,
    ),
    Attack("stopping itself", "os.kill(os.getpid(), signal.SIGSTOP)", _SHORT, _TOO_LONG),
    Attack(
        "a parent that is stopped by its child",
        """
if os.fork() == 0:
    os.kill(os.getppid(), signal.SIGSTOP)
    os._exit(0)
time.sleep(60)
""",
        _SHORT,
        _TOO_LONG,
    ),
    Attack("CPU time of one process", "while True: pass", _LITTLE_CPU, _TOO_LONG, within_s=_SOON_S),
    Attack(
        "CPU time spread over children",
        """
for _ in range(3):
    if os.fork() == 0:
        while True: pass
time.sleep(60)
""",
        _LITTLE_CPU,
        _TOO_LONG,
        within_s=_SOON_S,
    ),
    Attack(
        "CPU time spread over threads",
        """
import hashlib
for _ in range(3):
    arguments = ("sha256", b"x", b"y", 1 << 30)
    threading.Thread(target=hashlib.pbkdf2_hmac, args=arguments, daemon=True).start()
time.sleep(60)
""",
        _LITTLE_CPU,
        _TOO_LONG,
        within_s=_SOON_S,
    ),
    Attack(
        "CPU time of a program that may not be looked into",
        "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\nwhile True: pass",
        _LITTLE_CPU,
        _TOO_LONG,
        within_s=_SOON_S,
    ),
    Attack(
        "CPU time of children that nobody waits for",
        """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        until = time.process_time() + 0.04
        while time.process_time() < until: pass
        os._exit(0)
    try:
        os.wait()
    except ChildProcessError:
        pass
""",
        _LITTLE_CPU,
        _TOO_LONG,
        within_s=_SOON_S,
    ),
    Attack(
        "ignoring the signal of its CPU time",
        "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        _LITTLE_CPU,
        _TOO_LONG,
        within_s=_SOON_S,
    ),
    Attack(
        "sleep is not CPU time",
        "time.sleep(1)",
        _LITTLE_CPU,
    ),
)
