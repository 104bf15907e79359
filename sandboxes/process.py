"""One running program's streams: fed, drained and capped at once, until it ends.

A selector loop in the calling thread; no thread of its own. The end is the main program's
(its pidfd), not that of the pipes: a daemonised child that holds them open is not waited for.
"""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable
from io import FileIO

from sandboxes.base import ExecResult, ExitReason, ResourceUsage

_CHUNK_BYTES = 1 << 16


class Streams:
    """Our ends of a program's three pipes, which the caller closes in the end.

    Args:
        stdin, stdout, stderr: unbuffered; stdin is closed here once it is fed.
        feed: what the program may read.
        cap_bytes: how much is kept of stdout and of stderr, each.
    """

    def __init__(
        self, stdin: FileIO, stdout: FileIO, stderr: FileIO, *, feed: bytes, cap_bytes: int
    ) -> None:
        self._stdin = stdin
        self._stdout, self._stderr = stdout.fileno(), stderr.fileno()
        self._feed = memoryview(feed)
        self._cap_bytes = cap_bytes
        self._written = {self._stdout: bytearray(), self._stderr: bytearray()}
        self._selector = selectors.PollSelector()  # no descriptor of its own
        for file in (stdin, stdout, stderr):
            os.set_blocking(file.fileno(), False)
        for fd in self._written:
            self._selector.register(fd, selectors.EVENT_READ)
        if feed:
            self._selector.register(stdin, selectors.EVENT_WRITE)
        else:
            stdin.close()

    @property
    def overflowed(self) -> bool:
        """Whether either stream went past the cap."""
        return any(len(written) > self._cap_bytes for written in self._written.values())

    def run(
        self,
        ended: int,
        *,
        deadline: float,
        check: Callable[[], ExitReason | None],
        check_every_s: float,
    ) -> ExitReason | None:
        """Serves the streams until the program ends or hits a limit.

        Args:
            ended: pidfd of the main program.
            deadline: of `time.monotonic()`.
            check: looked at every `check_every_s`; a reason ends the run.
            check_every_s: seconds.

        Returns:
            The limit that was hit (the program still runs), or None (it has ended).
        """
        self._selector.register(ended, selectors.EVENT_READ)
        try:
            next_check = time.monotonic() + check_every_s
            while True:
                # Looked at before the clock: a program that ended in time did so, however
                # late a busy host lets us see it.
                wait_s = min(deadline, next_check) - time.monotonic()
                ready = {key.fd for key, _ in self._selector.select(max(0.0, wait_s))}
                self._serve(ready - {ended})
                if self.overflowed:
                    return ExitReason.OUTPUT_LIMIT
                if ended in ready:
                    return None
                now = time.monotonic()
                if now >= deadline:
                    return ExitReason.TIME_LIMIT
                if now >= next_check:
                    if (reason := check()) is not None:
                        return reason
                    next_check = now + check_every_s
        finally:
            self._selector.unregister(ended)

    def drain(self) -> None:
        """Reads what is left in the pipes, without waiting for more."""
        for fd in (self._stdout, self._stderr):
            while not self._full(fd) and self._read(fd):
                pass

    def result(self, hit: ExitReason | None, code: int | None, usage: ResourceUsage) -> ExecResult:
        """The whole run, once drained.

        Args:
            hit: the limit it hit, if any; an output limit is known here already.
            code: its exit status, or minus the signal that ended it; None if it was killed.
            usage: what it used.
        """
        overflowed = self.overflowed
        if hit is None and overflowed:
            hit = ExitReason.OUTPUT_LIMIT
        signalled = code is not None and code < 0
        own = ExitReason.SIGNALLED if signalled else ExitReason.EXITED
        return ExecResult(
            reason=hit or own,
            exit=None if signalled else code,
            signal=-code if code is not None and signalled else None,
            stdout=bytes(self._written[self._stdout][: self._cap_bytes]),
            stderr=bytes(self._written[self._stderr][: self._cap_bytes]),
            truncated=overflowed,
            usage=usage,
        )

    def _serve(self, ready: set[int]) -> None:
        for fd in ready:
            if fd not in self._written:
                self._write()
            elif self._read(fd) == b"":
                self._selector.unregister(fd)

    def _full(self, fd: int) -> bool:
        return len(self._written[fd]) > self._cap_bytes

    def _read(self, fd: int) -> bytes | None:
        """What came: nothing at the end of the stream, None if there is nothing now."""
        try:
            chunk = os.read(fd, _CHUNK_BYTES)
        except BlockingIOError:
            return None
        self._written[fd] += chunk
        return chunk

    def _write(self) -> None:
        try:
            written = self._stdin.write(self._feed[:_CHUNK_BYTES])
            self._feed = self._feed[written or 0 :]
        except BrokenPipeError:  # it closed its stdin: its own business
            self._feed = memoryview(b"")
        if not self._feed:
            self._selector.unregister(self._stdin)
            self._stdin.close()


__all__ = ["Streams"]
