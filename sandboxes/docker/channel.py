"""The stream of an attached container: HTTP taken over, our bytes in, frames out.

Without a terminal the engine wraps what comes out into frames: a byte for the stream, three
of zero, a length (big-endian, 32 bits). stdout is the launcher's; what it says on stderr is
kept for the message that tells of its end. Source: Docker Engine API v1.41, ContainerAttach.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import time
from typing import Any

from sandboxes.launcher.messages import BrokenStream

_HEADER = struct.Struct(">BxxxI")
_STDOUT, _STDERR = 1, 2
_CHUNK_BYTES = 1 << 18
_KEPT_BYTES = 400


class AttachChannel:
    """See `Channel`.

    Args:
        stream: what the SDK gives for an attached container; ours to close.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._socket = getattr(stream, "_sock", stream)
        self._frames = _Frames()
        self._closed = False

    def send(self, data: bytes, deadline: float) -> None:
        """See `Channel`."""
        try:
            self._socket.settimeout(self._left_s(deadline))
            self._socket.sendall(data)
        except OSError as error:  # TimeoutError is one
            raise BrokenStream(f"it takes nothing more: {error}{self._said()}") from error

    def read_exactly(self, size: int, deadline: float) -> bytes:
        """See `Channel`."""
        while len(self._frames.output) < size:
            if not self._receive(self._left_s(deadline)):
                raise BrokenStream(f"its stream ended{self._said()}")
        return self._frames.take(size)

    def is_broken(self) -> bool:
        """Whether the other side is known to be gone. Asked where nothing should come."""
        try:
            self._socket.settimeout(0.0)
            while chunk := self._socket.recv(_CHUNK_BYTES):
                self._frames.feed(chunk)
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        except (OSError, BrokenStream):
            return True
        return True

    def close(self) -> None:
        """See `Channel`. Shut down first: the engine stalls on a client that doesn't read."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._stream.close()
        self._socket.close()

    def _receive(self, seconds: float) -> bool:
        try:
            self._socket.settimeout(seconds)
            chunk = self._socket.recv(_CHUNK_BYTES)
        except OSError as error:
            raise BrokenStream(f"nothing came: {error}{self._said()}") from error
        self._frames.feed(chunk)
        return bool(chunk)

    def _left_s(self, deadline: float) -> float:
        if self._closed:
            raise BrokenStream("it was closed")
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise BrokenStream(f"it did not answer in time{self._said()}")
        return left_s

    def _said(self) -> str:
        said = bytes(self._frames.errors).decode(errors="replace").strip()
        return f"; it said: {said}" if said else ""


class _Frames:
    """Takes the frames apart.

    Attributes:
        output: what came on stdout and was not taken yet.
        errors: the end of what came on stderr.
    """

    def __init__(self) -> None:
        self.output = bytearray()
        self.errors = bytearray()
        self._raw = bytearray()
        self._left = 0  # bytes of a frame that are still to come
        self._kind = _STDOUT

    def feed(self, chunk: bytes) -> None:
        self._raw += chunk
        while self._raw:
            if not self._left:
                if len(self._raw) < _HEADER.size:
                    return
                self._kind, self._left = _HEADER.unpack_from(self._raw)
                del self._raw[: _HEADER.size]
                if self._kind not in (_STDOUT, _STDERR):
                    raise BrokenStream(f"a frame of an unknown stream, {self._kind}")
            part = self._raw[: self._left]
            del self._raw[: self._left]
            self._left -= len(part)
            if self._kind == _STDOUT:
                self.output += part
            else:
                self.errors = (self.errors + part)[-_KEPT_BYTES:]

    def take(self, size: int) -> bytes:
        taken = bytes(self.output[:size])
        del self.output[:size]
        return taken


__all__ = ["AttachChannel"]
