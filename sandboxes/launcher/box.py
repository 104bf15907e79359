"""One program's box from within: this process is the init of the program's PID namespace.

It takes one `Run`, serves the program's streams, kills all that is left when it ends, and
then answers `Read`s. A program can't reach it: signals to an init that it doesn't handle are
dropped, and it is not dumpable.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import FileIO
from typing import Any

from sandboxes.base import ExitReason, Limits, ResourceUsage
from sandboxes.files import lay_files, make_folder, read_file
from sandboxes.launcher.confine import Confinement, start
from sandboxes.launcher.messages import Content, Ended, Failed, Forget, Read, Run
from sandboxes.launcher.stream import Stream
from sandboxes.layout import SHARED_MEMORY, TEMPORARY, WORK
from sandboxes.metering import CgroupFiles, CgroupMeter, Meter, WatchdogMeter
from sandboxes.process import Streams
from sandboxes.procfs import ProcessMeter

_TROUBLE_BYTES = 1000
_OWN_ENDS = (ExitReason.EXITED, ExitReason.SIGNALLED)
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Tools:
    """What a launcher has for all its boxes."""

    stream: Stream
    confinement: Confinement
    accounts: CgroupFiles | None


class Box:
    """Where one program runs.

    Args:
        tools: the launcher's.
        make_room: mounts what the program may write to, where that is ours to do.
    """

    def __init__(self, tools: Tools, make_room: Callable[[Run], None] = lambda run: None) -> None:
        self._tools = tools
        self._make_room = make_room
        self._work: int | None = None  # the very directory that we made, whatever lies there now

    def serve(self) -> None:
        """Answers requests until nothing more is wanted of this box.

        Raises:
            BrokenStream: the host went away.
        """
        while not isinstance(request := self._tools.stream.receive(), Forget):
            self._tools.stream.send(self._answer(request))

    def _answer(self, request: object) -> Ended | Content | Failed:
        try:
            if isinstance(request, Run) and self._work is None:
                return self._run(request)
            if isinstance(request, Read) and self._work is not None:
                return _read(self._work, request)
        except OSError as error:
            return Failed(f"the launcher could not do its part: {error}")
        return Failed(f"no time for a {type(request).__name__}")

    def _run(self, run: Run) -> Ended | Failed:
        self._make_room(run)
        self._work = _lay(run)
        meter = self._meter(run.limits)
        program = _Program(self._tools.confinement, run)
        started = time.monotonic()
        hit = program.streams.run(
            program.ended,
            deadline=started + run.limits.time_s,
            check=lambda: self._check(meter),
            check_every_s=meter.check_every_s,
        )
        code = program.wait() if hit is None else None
        wall_s = time.monotonic() - started
        reading = meter.read()
        _kill_all()
        if trouble := program.trouble():
            return Failed(f"a program could not be confined: {trouble}")
        program.streams.drain()
        usage = ResourceUsage(wall_s, reading.cpu_s, reading.memory_bytes)
        result = program.streams.result(reading.reason or hit, code, usage)
        return Ended(result, spent=result.reason not in _OWN_ENDS)

    def _check(self, meter: Meter) -> ExitReason | None:
        """The limit that was hit. Raises BrokenStream: nobody waits for the program any more."""
        self._tools.stream.check()
        return meter.read().reason

    def _meter(self, limits: Limits) -> Meter:
        if self._tools.accounts is not None:
            return CgroupMeter(limits, self._tools.accounts)
        disks = [os.open(path, _FOLDER) for path in (TEMPORARY, SHARED_MEMORY)]
        proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        return WatchdogMeter(limits, ProcessMeter(proc, disks, _reaped_cpu_s))


class _Program:
    """A running program, and the reaper of all that it leaves.

    Attributes:
        ended: a descriptor that is readable once it has.
        streams: our ends of its pipes.
    """

    def __init__(self, confinement: Confinement, run: Run) -> None:
        pipes = [os.pipe() for _ in range(3)]
        theirs = (pipes[0][0], pipes[1][1], pipes[2][1])
        ours = (pipes[0][1], pipes[1][0], pipes[2][0])
        self._trouble, trouble = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _become(confinement, run, theirs, trouble)
        for fd in (*theirs, trouble):
            os.close(fd)
        # Written to by the reaper; no pidfd, which gVisor may not have.
        self.ended, self._end = os.pipe()
        self._files = [FileIO(fd, mode) for fd, mode in zip(ours, ("w", "r", "r"), strict=True)]
        self.streams = Streams(*self._files, feed=run.stdin, cap_bytes=run.limits.output_bytes)
        self._status: int | None = None
        signal.signal(signal.SIGCHLD, self._reap)
        self._reap()  # those that were faster than that

    def wait(self) -> int:
        """Exit status of the program, which has ended, or minus its signal."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if self._status is None:
            _, self._status = os.waitpid(self._pid, 0)
        return os.waitstatus_to_exitcode(self._status)

    def trouble(self) -> str:
        """Why it was never started; nothing if it was. Asked for when all are dead."""
        return os.read(self._trouble, _TROUBLE_BYTES).decode(errors="replace")

    def _reap(self, *_: Any) -> None:
        """Takes the dead away at once: they count as processes of the program."""
        with contextlib.suppress(ChildProcessError):
            while (dead := os.waitpid(-1, os.WNOHANG))[0]:
                if dead[0] == self._pid:
                    self._status = dead[1]
                    os.write(self._end, b".")


def _become(confinement: Confinement, run: Run, streams: tuple[int, ...], trouble: int) -> None:
    said = "something unforeseen"
    try:
        confinement.enter(run.limits, streams, run.cwd)
        said = ""
    except (OSError, ValueError) as error:
        said = str(error)
    finally:  # whatever it is, this fork must not go on as what it was
        if said:
            os.write(trouble, said.encode()[:_TROUBLE_BYTES])
            os._exit(1)
    start(run.argv, run.env)


def _lay(run: Run) -> int:
    """Writes the files; returns the work directory."""
    os.makedirs(WORK, exist_ok=True)
    work = os.open(WORK, _FOLDER)
    lay_files(work, run.files, None)
    make_folder(work, run.cwd, None)
    return work


def _read(work: int, request: Read) -> Content:
    try:
        return Content(read_file(work, request.path, request.max_bytes))
    except FileNotFoundError as error:
        return Content(absent=str(error))
    except ValueError as error:
        return Content(too_large=str(error))


def _kill_all() -> None:
    """Kills everything in our PID namespace and waits until it is dead."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _reaped_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


__all__ = ["Box", "Tools"]
