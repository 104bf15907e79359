"""The host's `Channel` to a launcher over two descriptors: pipes, or a socket twice."""

from __future__ import annotations

import os
import select
import time

from sandboxes.launcher.messages import BrokenStream

_CHUNK_BYTES = 1 << 20


class PipeChannel:
    """See `Channel`. Owns the descriptors.

    Args:
        to_launcher: what we write to.
        from_launcher: what we read from.
    """

    def __init__(self, to_launcher: int, from_launcher: int) -> None:
        self._out = to_launcher
        self._in = from_launcher
        self._closed = False
        for fd in (to_launcher, from_launcher):
            os.set_blocking(fd, False)

    def send(self, data: bytes, deadline: float) -> None:
        """See `Channel`."""
        view = memoryview(data)
        while view:
            self._await(self._out, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._out, view[:_CHUNK_BYTES]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise BrokenStream(f"it takes nothing more: {error.strerror}") from error

    def read_exactly(self, size: int, deadline: float) -> bytes:
        """See `Channel`."""
        read = bytearray()
        while len(read) < size:
            self._await(self._in, select.POLLIN, deadline)
            try:
                chunk = os.read(self._in, min(size - len(read), _CHUNK_BYTES))
            except BlockingIOError:
                continue
            except OSError as error:
                raise BrokenStream(f"it can't be read: {error.strerror}") from error
            if not chunk:
                raise BrokenStream("its stream ended")
            read += chunk
        return bytes(read)

    def close(self) -> None:
        """See `Channel`."""
        if not self._closed:
            self._closed = True
            for fd in {self._out, self._in}:
                os.close(fd)

    def _await(self, fd: int, event: int, deadline: float) -> None:
        if self._closed:
            raise BrokenStream("it was closed")
        poll = select.poll()
        poll.register(fd, event)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise BrokenStream("it did not answer in time")


__all__ = ["PipeChannel"]
