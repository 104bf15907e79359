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
# Any of a program's own ends. What is left is that of the box (`SandboxError`).
ITS_OWN_END = tuple(ExitReason)

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
        stdout: what it must have written, if it was not ended by a limit or signal; None for
            anything.
        stdin: instead of the line that describes the host.
        before: a program that runs beforehand, in a box that is closed by then and in the
            attack's own; however it ends. Its `host` is a secret alone.
        files: written into the box.
        unreadable: paths that it leaves, which must not be readable from outside.
        within_s: wall-clock seconds by which it must have ended; None for what `limits` say.
        at_once: run it in two boxes at the same time; both must hold.
        group: of the suite, for reports.
    """

    name: str
    program: str
    limits: Limits = SMALL
    reasons: tuple[ExitReason, ...] = (ExitReason.EXITED,)
    exit: int | None = 0
    signal: int | None = None
    stdout: bytes | None = HELD
    stdin: bytes | None = None
    before: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    within_s: float | None = None
    at_once: bool = False
    group: str = ""

    @property
    def source(self) -> str:
        """The whole program."""
        return whole_source(self.program)


def whole_source(program: str) -> str:
    """A program with its prelude and its last line."""
    return _BEFORE + program + _AFTER


__all__ = ["HELD", "ITS_OWN_END", "SMALL", "Attack", "whole_source"]
