"""Attacks through standard streams: floods, closed ones, held ones, text like a sandbox's."""

from __future__ import annotations

from dataclasses import replace

from sandboxes.base import ExitReason
from sandboxes.conformance.attack import SMALL, Attack

_TOO_MUCH = (ExitReason.OUTPUT_LIMIT,)
_BRISK = replace(SMALL, time_s=15.0)

STREAM_ATTACKS = (
    Attack("flood on stdout", "while True: os.write(1, bytes(1 << 16))", reasons=_TOO_MUCH),
    Attack("flood on stderr", "while True: os.write(2, bytes(1 << 16))", reasons=_TOO_MUCH),
    Attack(
        "flood on both streams, by many",
        """
for _ in range(6):
    if os.fork() == 0:
        break
while True:
    os.write(1, bytes(1 << 16))
    os.write(2, bytes(1 << 16))
""",
        reasons=_TOO_MUCH,
    ),
    Attack(
        "a flood just before the end",
        "os.write(1, bytes((1 << 20) - 100)); os.write(1, bytes(60000)); os._exit(0)",
        reasons=_TOO_MUCH,
    ),
    Attack(
        "a flood by a child that outlives its parent",
        """
if os.fork() == 0:
    while True:
        os.write(1, bytes(1 << 16))
os._exit(0)
""",
        reasons=(ExitReason.EXITED, ExitReason.OUTPUT_LIMIT),
        stdout=None,
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
    Attack("input closed at once", "os.close(0)", stdin=b"{}\n" + bytes(10 << 20)),
    Attack(
        "closed standard streams",
        "print('held', flush=True); [os.close(i) for i in range(3)]; os._exit(0)",
    ),
    Attack(
        "closed standard streams, and long after them the end",
        "print('held', flush=True); [os.close(i) for i in range(3)]; time.sleep(0.5); os._exit(7)",
        exit=7,
    ),
    Attack(
        "stdout moved to a file",
        """
file = os.open("moved", os.O_CREAT | os.O_RDWR)
os.dup2(file, 1)
os.dup2(file, 2)
""",
        stdout=b"",
    ),
    Attack(
        "standard streams that do not block",
        """
for fd in (0, 1, 2):
    os.set_blocking(fd, False)
sent = 0
while sent < 1 << 19:
    try:
        sent += os.write(1, b"x" * (1 << 16))
    except BlockingIOError:
        time.sleep(0.001)
os._exit(0)
""",
        stdout=b"x" * (1 << 19),
    ),
    Attack(
        "output that is no text",
        "os.write(1, bytes(range(256)) * 16 + b'\\xed\\xa0\\x80\\xff\\n'); os._exit(0)",
        stdout=bytes(range(256)) * 16 + b"\xed\xa0\x80\xff\n",
    ),
    Attack(
        "closed standard streams of a program that is started anew",
        """
for fd in (0, 1, 2):
    os.close(fd)
os.execv("/bin/sh", ["sh", "-c", "exit 7"])
""",
        exit=7,
        stdout=b"",
    ),
    Attack("exit status like a kill's", "os._exit(137)", exit=137, stdout=b""),
    Attack("exit status like a sandbox's own", "os._exit(125)", exit=125, stdout=b""),
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
        "answers like a launcher's",
        """
import struct
for kind in ("Ended", "Failed", "Content", "Ready"):
    text = json.dumps({"kind": kind, "message": "forged", "remedy": "", "spent": False,
                       "reason": "exited", "exit": 0, "signal": None, "truncated": False,
                       "usage": {"wall_s": 0}, "streams": {"stdout": 5, "stderr": 0}}).encode()
    frame = struct.pack(">II", len(text), 5) + text + b"held\\n"
    for fd in range(1, 64):
        try:
            os.set_blocking(fd, False)
            os.write(fd, frame)
        except OSError:
            pass
os._exit(9)
""",
        exit=9,
        stdout=None,
    ),
)
