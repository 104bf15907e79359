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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import FileIO
from typing import Any

from sandboxes.base import ExitReason, Limits, ResourceUsage
from sandboxes.files import lay_files, make_folder, read_file
from sandboxes.launcher.confine import Confinement, start
from sandboxes.launcher.messages import Content, Ended, Failed, Forget, Read, Run
from sandboxes.launcher.stream import Stream
from sandboxes.launcher.warm import Program, WarmInterpreter
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
    warm: WarmInterpreter | None


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

    def serve(self) -> Program | None:
        """Answers requests until nothing more is wanted of this box.

        Returns:
            None; but in a fork that is to go on as a Python program, that program.

        Raises:
            BrokenStream: the host went away.
        """
        while not isinstance(request := self._tools.stream.receive(), Forget):
            answer = self._answer(request)
            if isinstance(answer, Program):
                return answer
            self._tools.stream.send(answer)
        return None

    def _answer(self, request: object) -> Ended | Content | Failed | Program:
        try:
            if isinstance(request, Run) and self._work is None:
                return self._run(request)
            if isinstance(request, Read) and self._work is not None:
                return _read(self._work, request)
        except OSError as error:
            return Failed(f"the launcher could not do its part: {error}")
        return Failed(f"no time for a {type(request).__name__}")

    def _run(self, run: Run) -> Ended | Failed | Program:
        self._make_room(run)
        self._work = _lay(run)
        meter = self._meter(run.limits)
        program = _start(self._tools, run)
        if isinstance(program, Program):
            return program
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


class _Running:
    """A running program, and the reaper of all that it leaves.

    Attributes:
        ended: a descriptor that is readable once it has.
        streams: our ends of its pipes.
    """

    def __init__(self, pid: int, run: Run, pipes: Sequence[int], trouble: int) -> None:
        self._pid = pid
        self._trouble = trouble
        self._status: int | None = None
        self._files = [FileIO(fd, mode) for fd, mode in zip(pipes, ("w", "r", "r"), strict=True)]
        # Written to by the reaper; no pidfd, which gVisor may not have.
        self.ended, self._end = os.pipe()
        self.streams = Streams(*self._files, feed=run.stdin, cap_bytes=run.limits.output_bytes)
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


def _start(tools: Tools, run: Run) -> _Running | Program:
    """Forks the program; in the fork, returns it where it is one for this interpreter."""
    pipes = [os.pipe() for _ in range(3)]
    theirs = (pipes[0][0], pipes[1][1], pipes[2][1])
    ours = (pipes[0][1], pipes[1][0], pipes[2][0])
    read_trouble, trouble = os.pipe()
    pid = os.fork()
    if pid == 0:
        return _become(tools, run, theirs, trouble)
    for fd in (*theirs, trouble):
        os.close(fd)
    return _Running(pid, run, ours, read_trouble)


def _become(tools: Tools, run: Run, streams: Sequence[int], trouble: int) -> Program:
    """Confines this fork; then it is the program, or returns it."""
    said = "something unforeseen"
    program = None
    try:
        tools.confinement.enter(run.limits, streams, run.cwd, keep=trouble)
        if tools.warm is not None:
            program = tools.warm.become(run.argv, run.env, run.files)
        said = ""
    except (OSError, ValueError) as error:
        said = str(error)
    finally:  # whatever it is, this fork must not go on as what it was
        if said:
            os.write(trouble, said.encode()[:_TROUBLE_BYTES])
            os._exit(1)
    if program is None:
        start(run.argv, run.env)
    os.close(trouble)
    return program


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
