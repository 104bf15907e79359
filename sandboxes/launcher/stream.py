"""The launcher's end of the byte stream to the host."""

from __future__ import annotations

import os
import select

from sandboxes.launcher.messages import BrokenStream, Message, encode, receive

_CHUNK_BYTES = 1 << 20


class Stream:
    """Messages over what were our stdin and stdout.

    Both are moved away, where nobody looks for them, and /dev/null takes their places. Not a
    byte is read beyond the message that is asked for: a fork of us may read the next.
    """

    def __init__(self) -> None:
        self._in, self._out = os.dup(0), os.dup(1)
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1):
            os.dup2(null, fd)
        os.close(null)

    def receive(self) -> Message:
        """The next request. Raises BrokenStream: the host went away."""
        return receive(self._read_exactly)

    def send(self, message: Message) -> None:
        """Answers. Raises BrokenStream likewise."""
        view = memoryview(encode(message))
        try:
            while view:
                view = view[os.write(self._out, view[:_CHUNK_BYTES]) :]
        except BrokenPipeError as error:
            raise BrokenStream("the host went away") from error

    def check(self) -> None:
        """Raises BrokenStream: the host went away."""
        poll = select.poll()
        poll.register(self._in, 0)
        if poll.poll(0):
            raise BrokenStream("the host went away")

    def _read_exactly(self, size: int) -> bytes:
        read = bytearray()
        while len(read) < size:
            chunk = os.read(self._in, min(size - len(read), _CHUNK_BYTES))
            if not chunk:
                raise BrokenStream("the host went away")
            read += chunk
        return bytes(read)


__all__ = ["Stream"]
