"""Requests and answers between the asserts' process and the candidate's, over two pipes.

Each message is one JSON array on one line: `["?", operation, …]`, and in answer
`["=", value, changes]` or `["!", error, changes]`, the program's with what it printed behind.
While a side waits for its answer it serves requests of the other, so that a
call can call back.
"""

from __future__ import annotations

import json
import os
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What a class may define for the language to find on the type, and not on the instance.
_SPECIAL = """
call len length_hint getitem setitem delitem iter next reversed contains missing
bool int float complex index round trunc floor ceil neg pos abs invert
add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor
radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand ror rxor
iadd isub imul imatmul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor
lt le gt ge eq ne hash enter exit format bytes aenter aexit aiter anext
"""
SPECIAL = frozenset(f"__{name}__" for name in _SPECIAL.split())


class Gone(BaseException):
    """The other process ended, or speaks no sense. No test can catch it by accident."""


class Link:
    """One end. `serve` must be given before the first request."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._reader = os.fdopen(read_fd, "rb")
        self._write_fd = write_fd
        self._lock = threading.RLock()

    def serve(self, operation: str, rest: list[Any]) -> list[Any]:
        """Answers a request of the other side. Overridden."""
        raise NotImplementedError

    def request(self, operation: str, *rest: Any) -> list[Any]:
        """The other side's answer, `["=", …]` or `["!", …]`; one thread at a time. Raises Gone."""
        with self._lock:
            self.send(["?", operation, *rest])
            while True:
                message = self.receive()
                if message[0] != "?":
                    return message
                self.send(self.serve(message[1], message[2:]))

    def send(self, message: list[Any]) -> None:
        """Raises Gone."""
        data = memoryview(json.dumps(message).encode() + b"\n")
        try:
            while data:
                data = data[os.write(self._write_fd, data) :]
        except OSError as error:
            raise Gone("the program's process has ended") from error

    def receive(self) -> list[Any]:
        """Raises Gone."""
        line = self._reader.readline()
        try:
            message = json.loads(line) if line else None
        except (ValueError, RecursionError) as error:
            raise Gone("the program broke the protocol of its runner") from error
        if message is None:
            raise Gone("the program's process has ended")
        if type(message) is not list or len(message) < 2 or message[0] not in ("?", "=", "!"):
            raise Gone("the program broke the protocol of its runner")
        return message
