"""The sandbox as the modes use it: programs run, timed by the processor, and metered.

An item's `time_s` is CPU seconds, so that a busy machine changes no verdict. Behind it stands
a multiple of it in wall-clock seconds, for programs that sleep. A program that needed just too
much, or was killed at the wall while it was busy, runs once more before that is believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from signal import SIGKILL, SIGSYS
from types import TracebackType
from typing import Self

from sandboxes.base import (
    ExecResult,
    ExitReason,
    Limits,
    ResourceUsage,
    Sandbox,
    SandboxProvider,
    SandboxSpec,
)
from verifier_server.checkers.code.languages import Language
from verifier_server.checkers.code.params import CodeLimits
from verifier_server.errors import SandboxFault
from verifier_server.verdict import Outcome, Tampering

# How far over its limit a program may come and be given a second chance.
OVERTIME = 1.2
# Wall-clock seconds for each CPU second, and beside those.
_WALL = 3.0
_WALL_S = 2.0
# A program that used less than this part of a processor was asleep.
_BUSY = 0.2
_LIMIT_OUTCOMES = {
    ExitReason.TIME_LIMIT: Outcome.TIME_LIMIT,
    ExitReason.MEMORY_LIMIT: Outcome.MEMORY_LIMIT,
    ExitReason.OUTPUT_LIMIT: Outcome.OUTPUT_LIMIT,
}


class Record:
    """What the programs of one check used, and what was seen of them.

    Attributes:
        cpu_s: CPU seconds of all runs so far; None where the host can't measure it.
        memory_bytes: the largest of the program's runs so far; None likewise.
        isolation: of the boxes.
        tampering: attempts on the verdict that were seen, in the order of the first of each.
    """

    def __init__(self) -> None:
        self.cpu_s: float | None = None
        self.memory_bytes: int | None = None
        self.isolation = "none"
        self.tampering: dict[Tampering, None] = {}

    def add(self, usage: ResourceUsage, *, is_tool: bool = False) -> None:
        """Adds a run up; the memory of a tool (a compiler) is not the program's."""
        if usage.cpu_s is not None:
            self.cpu_s = (self.cpu_s or 0.0) + usage.cpu_s
        if usage.memory_bytes is not None and not is_tool:
            self.memory_bytes = max(self.memory_bytes or 0, usage.memory_bytes)

    def saw(self, kind: Tampering) -> None:
        """Notes an attempt on the verdict."""
        self.tampering[kind] = None


class Runner:
    """Runs programs in a box of its own.

    Args:
        provider: makes the box. Raises SandboxError.
        limits: of a run; `time_s` are CPU seconds.
        record: where use is added up.
        language: what the box must offer, and its environment.
        packages: Python packages that the box must have.
        preload: modules that its Python programs do well to find imported.
        is_tool: whether what it runs is none of the candidate's.
    """

    def __init__(
        self,
        provider: SandboxProvider,
        limits: Limits,
        record: Record,
        language: Language,
        packages: tuple[str, ...] = (),
        preload: tuple[str, ...] = (),
        *,
        is_tool: bool = False,
    ) -> None:
        timed = _timed(limits, wall_s(limits.time_s))
        spec = SandboxSpec(timed, language.runtime, packages, preload=preload)
        self._box: Sandbox = provider.create(spec)
        self._limits = limits
        self._env = language.env
        self._is_tool = is_tool
        self._wall = _WALL
        self.record = record
        record.isolation = self._box.isolation

    def __enter__(self) -> Self:
        self._box.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._box.__exit__(kind, error, trace)

    def write(self, files: Mapping[str, bytes]) -> None:
        """Puts files into the box, see `Sandbox.write`."""
        self._box.write(files)

    def read(self, path: str, max_bytes: int) -> bytes:
        """A file that the last run left, see `Sandbox.read`."""
        return self._box.read(path, max_bytes)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        time_s: float | None = None,
        wall_s: float | None = None,
        output_bytes: int | None = None,
    ) -> ExecResult:
        """Runs a program under the limits. Raises SandboxError.

        A program that was killed, but by no limit, runs once more: if somebody on this host
        killed it, that is no fault of its own; if it kills itself, it does so again.

        Args:
            argv: the program and its arguments.
            stdin: what it reads.
            time_s: CPU seconds instead of the limits'.
            wall_s: wall-clock seconds instead of a multiple of those.
            output_bytes: instead of the limits'.
        """
        time_s = time_s or self._limits.time_s
        output_bytes = output_bytes or self._limits.output_bytes
        limits = replace(self._limits, time_s=time_s, output_bytes=output_bytes)
        limits = _timed(limits, wall_s or self._wall * time_s + _WALL_S)
        result = self._exec(argv, stdin, limits)
        if _was_asleep(result):
            # It has no need of slack, and shall not hold its place for three times as long.
            self._wall = 1.0
        if _is_doubtful(result, time_s):
            result = self._exec(argv, stdin, limits)
        if _took_too_long(result, time_s):
            return replace(result, reason=ExitReason.TIME_LIMIT)
        return result

    def _exec(self, argv: Sequence[str], stdin: bytes, limits: Limits) -> ExecResult:
        result = self._box.exec(argv, stdin=stdin, env=self._env, limits=limits)
        self.record.add(result.usage, is_tool=self._is_tool)
        if result.signal == SIGSYS:
            self.record.saw(Tampering.REFUSED_SYSCALL)
        return result


def run_limits(limits: CodeLimits, language: Language) -> Limits:
    """What a run of a program may use under an item's limits."""
    return Limits(
        time_s=limits.time_s + language.start_s,
        memory_bytes=limits.memory_bytes + language.extra_bytes,
        output_bytes=limits.output_bytes,
        pids=language.pids,
    )


def wall_s(time_s: float) -> float:
    """How long a program with so many CPU seconds may take by the clock."""
    return _WALL * time_s + _WALL_S


def worst_s(time_s: float) -> float:
    """The longest that a run with so many CPU seconds can take, its second chance included."""
    return 2 * (wall_s(time_s) + 2.0)


def bad_end(result: ExecResult) -> tuple[Outcome, str] | None:
    """How a program failed, as outcome and clause; None if it ended with status 0."""
    limit = _LIMIT_OUTCOMES.get(result.reason)
    if limit is not None:
        return limit, f"the program ran into the {limit.value.replace('_', ' ')}"
    if result.reason is ExitReason.SIGNALLED:
        return Outcome.RUNTIME_ERROR, f"the program was ended by signal {result.signal}"
    if result.exit != 0:
        return Outcome.RUNTIME_ERROR, f"the program ended with status {result.exit}"
    return None


def require_start(result: ExecResult, started: bool) -> None:
    """Tells a runner of ours that never came to the program from a program that broke it.

    Raises:
        SandboxFault: the runner ended before its first word, and by no limit of the item.
    """
    if not started and result.reason not in _LIMIT_OUTCOMES:
        last = result.stderr[-300:].decode(errors="replace").strip().rpartition("\n")[2]
        raise SandboxFault(f"the runner in the box failed to start: {last or result.reason.value}")


def _timed(limits: Limits, wall_s: float) -> Limits:
    """The limits as a box takes them: CPU time beside the clock's."""
    return replace(limits, cpu_s=OVERTIME * limits.time_s, time_s=wall_s)


def _was_asleep(result: ExecResult) -> bool:
    cpu_s, wall_s = result.usage.cpu_s or 0.0, result.usage.wall_s
    return result.reason is ExitReason.TIME_LIMIT and cpu_s < _BUSY * wall_s


def _is_doubtful(result: ExecResult, time_s: float) -> bool:
    if result.reason is ExitReason.TIME_LIMIT:
        return (result.usage.cpu_s or 0.0) < time_s and not _was_asleep(result)
    killed = result.reason is ExitReason.SIGNALLED and result.signal == SIGKILL
    return killed or _took_too_long(result, time_s)


def _took_too_long(result: ExecResult, time_s: float) -> bool:
    ended = result.reason in (ExitReason.EXITED, ExitReason.SIGNALLED)
    return ended and (result.usage.cpu_s or 0.0) > time_s


__all__ = [
    "OVERTIME",
    "Record",
    "Runner",
    "bad_end",
    "require_start",
    "run_limits",
    "wall_s",
    "worst_s",
]
