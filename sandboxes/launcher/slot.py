"""The host's side of one launcher: asks, and waits no longer than it must."""

from __future__ import annotations

import contextlib
import time
from typing import Protocol

from sandboxes.base import ExecResult, ExitReason, Limits, ResourceUsage, SandboxBroken
from sandboxes.launcher.messages import (
    BrokenStream,
    Content,
    Ended,
    Failed,
    Forget,
    Message,
    Read,
    Ready,
    Run,
    Setup,
    encode,
    receive,
)

_SET_UP_S = 60.0
_READ_S = 60.0
# What a launcher may need on a busy host beyond a program's own time.
_GRACE_S = 30.0


class Channel(Protocol):
    """A byte stream to a launcher."""

    def send(self, data: bytes, deadline: float) -> None:
        """Writes all. Raises BrokenStream: it is closed, or `time.monotonic()` passed."""

    def read_exactly(self, size: int, deadline: float) -> bytes:
        """Reads that many bytes. Raises BrokenStream likewise."""

    def close(self) -> None:
        """Lets go of the stream. Idempotent, never blocks."""


class Place(Protocol):
    """What a launcher runs in, as its maker sees it: a container, a process tree."""

    isolation: str

    def limit(self, limits: Limits, own_memory_bytes: int) -> None:
        """Puts the limits in force that hold for the place as a whole.

        Args:
            limits: of the next program.
            own_memory_bytes: what the launcher holds, on top of the program's.

        Raises:
            SandboxBroken: the place is gone.
            LimitUnsupported: this place can't be limited so.
        """

    def autopsy(self) -> ExitReason | None:
        """Of a place whose launcher fell silent: the limit that killed it, if one did."""

    def destroy(self) -> None:
        """Kills and removes all. Idempotent."""


class Slot:
    """A launcher in its place, ready for a program.

    Attributes:
        runs: how many programs it has run.
        spent: it must not run another.

    Raises:
        SandboxBroken: it could not be set up; the place is destroyed.
    """

    def __init__(self, place: Place, channel: Channel, setup: Setup) -> None:
        self._place = place
        self._channel = channel
        self.runs = 0
        self.spent = False
        self._reusable = setup.namespaces
        self._remembers = False
        try:
            answer = self._ask(setup, _SET_UP_S)
        except SandboxBroken:
            self.close()
            raise
        if not isinstance(answer, Ready):
            self.close()
            raise SandboxBroken(f"the launcher answered with a {type(answer).__name__}")
        self.ready = answer

    @property
    def isolation(self) -> str:
        """The level in force, for the verdict."""
        return self._place.isolation

    def run(self, run: Run) -> ExecResult:
        """Runs a program to its end.

        Raises:
            SandboxBroken: nothing is known about the program.
            LimitUnsupported: its limits can't be had here.
        """
        self.forget()
        self._place.limit(run.limits, self.ready.memory_bytes + _held_bytes(run))
        self.runs += 1
        self._remembers = True
        self.spent = not self._reusable
        started = time.monotonic()
        try:
            answer = self._exchange(run, run.limits.time_s + _GRACE_S, _most_bytes(run.limits))
        except BrokenStream as error:
            self.spent = True
            reason = self._place.autopsy()
            if reason is None:
                raise SandboxBroken(f"the launcher fell silent: {error}") from error
            wall_s = time.monotonic() - started
            return ExecResult(reason, None, None, b"", b"", True, ResourceUsage(wall_s))
        if isinstance(answer, Failed):
            self.spent = True
            raise SandboxBroken(answer.message, remedy=answer.remedy)
        if not isinstance(answer, Ended):
            self.spent = True
            raise SandboxBroken(f"the launcher answered with a {type(answer).__name__}")
        self.spent = self.spent or answer.spent
        return answer.result

    def read(self, path: str, max_bytes: int) -> bytes:
        """See `Sandbox.read`. Raises SandboxBroken, too."""
        answer = self._ask(Read(path, max_bytes), _READ_S, max_bytes)
        if not isinstance(answer, Content):
            raise SandboxBroken(f"the launcher answered with a {type(answer).__name__}")
        if answer.absent:
            raise FileNotFoundError(answer.absent)
        if answer.too_large:
            raise ValueError(answer.too_large)
        return answer.content

    def forget(self) -> None:
        """Has the launcher drop what the last program left and make the next one's place.

        Best done as soon as nothing more is wanted: the next `run` waits for it.
        """
        if self._remembers:
            self._remembers = False
            with contextlib.suppress(BrokenStream):  # the next request will find out
                self._channel.send(encode(Forget()), time.monotonic() + _READ_S)

    def close(self) -> None:
        """Destroys the place, with all in it. Idempotent."""
        self.spent = True
        # First: a stream that nobody reads can stall the engine that kills the place.
        self._channel.close()
        self._place.destroy()

    def _ask(self, request: Message, patience_s: float, max_blob_bytes: int = 0) -> Message:
        try:
            answer = self._exchange(request, patience_s, max_blob_bytes)
        except BrokenStream as error:
            self.spent = True
            raise SandboxBroken(f"the launcher fell silent: {error}") from error
        if isinstance(answer, Failed):
            self.spent = True
            raise SandboxBroken(answer.message, remedy=answer.remedy)
        return answer

    def _exchange(self, request: Message, patience_s: float, max_blob_bytes: int) -> Message:
        deadline = time.monotonic() + patience_s
        self._channel.send(encode(request), deadline)
        return receive(lambda n: self._channel.read_exactly(n, deadline), max_blob_bytes)


def _held_bytes(run: Run) -> int:
    """What a launcher holds of a run: what it was sent, twice, and what the program writes."""
    sent = len(run.stdin) + sum(map(len, run.files.values()))
    return 2 * sent + _most_bytes(run.limits)


def _most_bytes(limits: Limits) -> int:
    return 2 * limits.output_bytes


__all__ = ["Channel", "Place", "Slot"]
