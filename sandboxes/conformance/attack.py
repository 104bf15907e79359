"""An attack on a box: a small Python program, the limits it runs under, what must come of it.

Programs are bounded, so that a box that does not hold does the host no harm: they fork a few
hundred times, not for ever, and call the kernel with arguments that would change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandboxes.base import MIB, ExitReason, Limits

SMALL = Limits(
    time_s=20.0,
    memory_bytes=128 * MIB,
    output_bytes=MIB,
    disk_bytes=16 * MIB,
    file_bytes=8 * MIB,
    pids=32,
    open_files=64,
)
HELD = b"held\n"

# What programs may use: `expect(condition, what)`, `refused(what, call, *arguments)`, and
# `host`, what the runner tells of the host (`Attack.stdin` is used instead where given).
_BEFORE = """\
import ctypes, errno, json, mmap, os, resource, signal, socket, sys, threading, time
host = json.loads(sys.stdin.readline() or "{}")
broken = []
def expect(condition, what):
    if not condition:
        broken.append(what)
def refused(what, call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        return error.errno
    broken.append(what)
"""
_AFTER = """
print("broken: " + "; ".join(map(str, broken)) if broken else "held", flush=True)
"""


@dataclass(frozen=True)
class Attack:
    """One way to break out, to use too much or to lie about it.

    Attributes:
        name: what is attacked.
        program: Python source between a prelude (above) and a line that prints `held`.
        limits: of the run.
        reasons: any of these may end it.
        exit: the exit status it must have; None for any.
        signal: the signal that must have ended it; None for none or any.
        stdout: what it must have written, if it was not ended by a limit or signal.
        stdin: instead of the line that describes the host.
        before: a program that runs in the same box beforehand.
        files: written into the box.
        unreadable: paths that it leaves, which must not be readable from outside.
    """

    name: str
    program: str
    limits: Limits = SMALL
    reasons: tuple[ExitReason, ...] = (ExitReason.EXITED,)
    exit: int | None = 0
    signal: int | None = None
    stdout: bytes = HELD
    stdin: bytes | None = None
    before: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The whole program."""
        return _BEFORE + self.program + _AFTER


__all__ = ["HELD", "SMALL", "Attack"]
