"""What a program prints and asks for at its console, for asserts that look at it.

Its standard streams lead nowhere; what it prints goes along with the answer to the request
that made it print, and `input` asks the asserts' process, whose own one may be replaced.
"""

from __future__ import annotations

import io
import sys

_MAX_BYTES = 1 << 20


class Printed(io.RawIOBase):
    """Keeps what is written until it is taken, the first MiB of it."""

    def __init__(self) -> None:
        super().__init__()
        self._kept = bytearray()

    def writable(self) -> bool:
        """Yes."""
        return True

    def fileno(self) -> int:
        """That of standard output, for programs that hand it on."""
        return 1

    def write(self, data: object) -> int:
        """Takes all of it, whether it is kept or not."""
        raw = bytes(memoryview(data).cast("B"))  # type: ignore[arg-type]
        self._kept += raw[: _MAX_BYTES - len(self._kept)]
        return len(raw)

    def take(self) -> str:
        """What was written since the last time."""
        text = self._kept.decode(errors="replace")
        self._kept.clear()
        return text


def replace_stdout() -> Printed:
    """Makes `sys.stdout` one that keeps what is printed."""
    printed = Printed()
    sys.stdout = io.TextIOWrapper(
        printed, encoding="utf-8", errors="surrogateescape", write_through=True
    )
    return printed
