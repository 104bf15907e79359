"""The sandbox as the modes use it: one box a check, its use metered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from signal import SIGKILL

from sandboxes.base import ExecResult, ExitReason, Limits, Sandbox, SandboxProvider, SandboxSpec
from verifier_server.checkers.code.params import CodeLimits
from verifier_server.errors import SandboxFault
from verifier_server.verdict import Outcome

SOURCE_FILE = "solution.py"
# A program that iterates over a set has the same output, and verdict, in every run.
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}
_LIMIT_OUTCOMES = {
    ExitReason.TIME_LIMIT: Outcome.TIME_LIMIT,
    ExitReason.MEMORY_LIMIT: Outcome.MEMORY_LIMIT,
    ExitReason.OUTPUT_LIMIT: Outcome.OUTPUT_LIMIT,
}


def open_box(
    provider: SandboxProvider, limits: CodeLimits, packages: tuple[str, ...] = ()
) -> Sandbox:
    """A box under an item's limits, with these Python packages. Raises SandboxError."""
    return provider.create(SandboxSpec(limits=_sandbox_limits(limits), packages=packages))


class PythonRunner:
    """Runs Python files of one box and adds up what that takes.

    Attributes:
        cpu_s: CPU seconds of all runs so far; None where the host can't measure it.
        memory_bytes: the largest of all runs so far; None likewise.
    """

    def __init__(self, box: Sandbox, limits: CodeLimits) -> None:
        self._box = box
        self._limits = _sandbox_limits(limits)
        self.cpu_s: float | None = None
        self.memory_bytes: int | None = None

    def write(self, files: Mapping[str, bytes]) -> None:
        """Puts files into the box, see `Sandbox.write`."""
        self._box.write(files)

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        time_s: float | None = None,
        output_bytes: int | None = None,
    ) -> ExecResult:
        """Runs `python3 ARGUMENTS`. Raises SandboxError.

        A program that was killed, but by no limit, runs once more: if somebody on this host
        killed it, that is no fault of its own; if it kills itself, it does so again.

        Args:
            arguments: of the interpreter.
            stdin: what it reads.
            time_s: instead of the item's limit.
            output_bytes: likewise.
        """
        limits = replace(
            self._limits,
            time_s=time_s or self._limits.time_s,
            output_bytes=output_bytes or self._limits.output_bytes,
        )
        argv = ["python3", *arguments]
        result = self._exec(argv, stdin, limits)
        if result.reason is ExitReason.SIGNALLED and result.signal == SIGKILL:
            return self._exec(argv, stdin, limits)
        return result

    def _exec(self, argv: Sequence[str], stdin: bytes, limits: Limits) -> ExecResult:
        result = self._box.exec(argv, stdin=stdin, env=_ENVIRONMENT, limits=limits)
        usage = result.usage
        if usage.cpu_s is not None:
            self.cpu_s = (self.cpu_s or 0.0) + usage.cpu_s
        if usage.memory_bytes is not None:
            self.memory_bytes = max(self.memory_bytes or 0, usage.memory_bytes)
        return result


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


def _sandbox_limits(limits: CodeLimits) -> Limits:
    return Limits(
        time_s=limits.time_s,
        memory_bytes=limits.memory_bytes,
        output_bytes=limits.output_bytes,
    )
