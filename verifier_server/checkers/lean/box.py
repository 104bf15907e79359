"""Runs of Lean and its tools, each in a box of its own that dies with it.

A run's `time_s` are CPU seconds, so that a busy machine changes no verdict. One that ended by
the clock on the wall while it was busy, or that somebody killed, runs once more before that
is believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from signal import SIGKILL

from sandboxes.base import (
    ExecResult,
    ExitReason,
    Limits,
    SandboxError,
    SandboxProvider,
    SandboxSpec,
)
from verifier_server.checkers.lean.messages import Message, read_messages
from verifier_server.checkers.lean.params import LeanLimits
from verifier_server.checkers.lean.toolchain import Toolchain
from verifier_server.errors import SandboxFault
from verifier_server.verdict import Outcome

# Wall-clock seconds for each CPU second.
WALL = 3.0
# A program that used less than this part of a processor was asleep.
_BUSY = 0.2
# A compiled module's; what a submission compiles to is written into later boxes.
MODULE_BYTES = 32 << 20
_DISK_BYTES = 256 << 20
_PIDS = 64
_LIMIT_OUTCOMES = {
    ExitReason.TIME_LIMIT: Outcome.TIME_LIMIT,
    ExitReason.MEMORY_LIMIT: Outcome.MEMORY_LIMIT,
    ExitReason.OUTPUT_LIMIT: Outcome.OUTPUT_LIMIT,
}


class Workshop:
    """Runs a tool chain's programs under one item's limits.

    Attributes:
        cpu_s: CPU seconds of all runs so far; None where the host can't measure it.
        memory_bytes: the largest run's so far; None likewise.
        isolation: of the boxes.
    """

    def __init__(self, provider: SandboxProvider, toolchain: Toolchain, limits: LeanLimits) -> None:
        self.toolchain = toolchain
        self.cpu_s: float | None = None
        self.memory_bytes: int | None = None
        self.isolation = "none"
        self._provider = provider
        self._limits = Limits(
            time_s=WALL * limits.time_s,
            cpu_s=limits.time_s,
            memory_bytes=limits.memory_bytes,
            output_bytes=limits.output_bytes,
            disk_bytes=_DISK_BYTES,
            file_bytes=MODULE_BYTES,
            pids=_PIDS,
        )

    def compile(self, module: str, text: str, modules: Mapping[str, bytes]) -> Compiled:
        """Elaborates a module and keeps what it compiles to.

        Args:
            module: its name.
            text: Lean.
            modules: compiled modules that it may import, by name.

        Raises:
            SandboxFault: the box failed.
        """
        argv = [self.toolchain.lean, "-j1", "--json", "-o", f"{module}.olean", f"{module}.lean"]
        files = {
            f"{module}.lean": text.encode(errors="surrogatepass"),
            **{f"{name}.olean": content for name, content in modules.items()},
        }
        ran = self.run(argv, files, keep=f"{module}.olean")
        return Compiled(ran.result, read_messages(ran.result.stdout), ran.kept)

    def run(
        self,
        argv: Sequence[str],
        files: Mapping[str, bytes],
        *,
        keep: str | None = None,
        output_bytes: int | None = None,
    ) -> Ran:
        """Runs a program over these files; `keep` is a file that it shall leave.

        Raises:
            SandboxFault: the box failed.
        """
        limits = replace(
            self._limits,
            output_bytes=output_bytes or self._limits.output_bytes,
            disk_bytes=_DISK_BYTES + sum(map(len, files.values())),
        )
        spec = SandboxSpec(limits, mounts=self.toolchain.mounts)
        try:
            ran = self._run(spec, argv, files, keep)
            if _is_doubtful(ran.result, limits):
                ran = self._run(spec, argv, files, keep)
        except SandboxError as error:
            raise SandboxFault(str(error)) from error
        return ran

    def _run(
        self, spec: SandboxSpec, argv: Sequence[str], files: Mapping[str, bytes], keep: str | None
    ) -> Ran:
        with self._provider.create(spec) as box:
            self.isolation = box.isolation
            box.write(files)
            result = box.exec(argv, env=self.toolchain.environment)
            kept = None
            if keep is not None and result.exit == 0:
                try:
                    kept = box.read(keep, MODULE_BYTES)
                except (FileNotFoundError, ValueError):
                    kept = None
        usage = result.usage
        if usage.cpu_s is not None:
            self.cpu_s = (self.cpu_s or 0.0) + usage.cpu_s
        if usage.memory_bytes is not None:
            self.memory_bytes = max(self.memory_bytes or 0, usage.memory_bytes)
        return Ran(result, kept)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, and the file that it was to leave, if it did."""

    result: ExecResult
    kept: bytes | None


@dataclass(frozen=True, slots=True)
class Compiled:
    """How a module's elaboration ended. `olean` is None unless it ended well."""

    result: ExecResult
    messages: list[Message]
    olean: bytes | None

    @property
    def error(self) -> Message | None:
        """The first error that Lean tells."""
        return next((m for m in self.messages if m.severity == "error"), None)

    @property
    def limit(self) -> Outcome | None:
        """The limit that ended it."""
        return limit_of(self.result)

    @property
    def is_plain(self) -> bool:
        """Whether it ended as Lean itself ends: well, or with errors told."""
        if self.result.reason is not ExitReason.EXITED:
            return False
        return self.olean is not None or (self.result.exit == 1 and self.error is not None)

    def describe(self) -> str:
        """How it ended, in a clause."""
        if self.result.reason is ExitReason.EXITED and self.error is not None:
            return str(self.error)
        return describe("Lean", self.result)


def limit_of(result: ExecResult) -> Outcome | None:
    """The limit that ended a program."""
    return _LIMIT_OUTCOMES.get(result.reason)


def describe(program: str, result: ExecResult) -> str:
    """How a program ended, in a clause."""
    limit = limit_of(result)
    if limit is not None:
        return f"{program} ran into the {limit.value.replace('_', ' ')}"
    if result.reason is ExitReason.SIGNALLED:
        return f"{program} was ended by signal {result.signal}"
    said = result.stderr[-300:].decode(errors="replace").strip()
    return f"{program} ended with status {result.exit}: {said or 'it says nothing'}"


def worst_s(limits: LeanLimits) -> float:
    """The longest that one run can take, its second chance included."""
    return 2 * (WALL * limits.time_s + 2.0)


def _is_doubtful(result: ExecResult, limits: Limits) -> bool:
    cpu_s, wall_s = result.usage.cpu_s or 0.0, result.usage.wall_s
    if result.reason is ExitReason.TIME_LIMIT:
        return cpu_s < (limits.cpu_s or 0.0) and cpu_s >= _BUSY * wall_s
    return result.reason is ExitReason.SIGNALLED and result.signal == SIGKILL


__all__ = ["MODULE_BYTES", "Compiled", "Ran", "Workshop", "describe", "limit_of", "worst_s"]
