"""The stream loop on plain pipes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from io import FileIO

import pytest

from sandboxes.base import ExitReason
from sandboxes.process import Streams


class Pipes:
    """Both ends of a program's streams, and a descriptor that tells its end when written to."""

    def __init__(self) -> None:
        self.fds = [*os.pipe(), *os.pipe(), *os.pipe(), *os.pipe()]
        stdin, self.feed, self.out, stdout, self.err, stderr, self.ended, self._end = self.fds
        self.program = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        self.ours = [FileIO(self.feed, "wb"), FileIO(self.out, "rb"), FileIO(self.err, "rb")]

    def end(self) -> None:
        os.write(self._end, b"x")

    def close(self) -> None:
        for file in self.ours:
            file.close()
        for fd in (*self.program.values(), self.ended, self._end):
            os.close(fd)


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    pipes = Pipes()
    yield pipes
    pipes.close()


def run(streams: Streams, pipes: Pipes, deadline: float) -> ExitReason | None:
    return streams.run(pipes.ended, deadline=deadline, check=lambda: None, check_every_s=60)


def test_a_program_that_has_ended_is_not_late_because_we_are(pipes: Pipes) -> None:
    streams = Streams(*pipes.ours, feed=b"", cap_bytes=10)
    os.write(pipes.program["stdout"], b"done")
    pipes.end()
    assert run(streams, pipes, time.monotonic() - 1) is None


def test_one_that_has_not_is(pipes: Pipes) -> None:
    streams = Streams(*pipes.ours, feed=b"", cap_bytes=10)
    assert run(streams, pipes, time.monotonic() - 1) is ExitReason.TIME_LIMIT


def test_the_end_is_the_programs_though_a_child_holds_the_pipes(pipes: Pipes) -> None:
    streams = Streams(*pipes.ours, feed=b"", cap_bytes=10)
    os.write(pipes.program["stderr"], b"last")
    pipes.end()
    assert run(streams, pipes, time.monotonic() + 60) is None
    streams.drain()
    assert streams.overflowed is False


def test_a_check_that_objects_ends_the_run(pipes: Pipes) -> None:
    streams = Streams(*pipes.ours, feed=b"", cap_bytes=10)
    looked = []

    def object_at_third() -> ExitReason | None:
        looked.append(None)
        return ExitReason.MEMORY_LIMIT if len(looked) == 3 else None

    reason = streams.run(
        pipes.ended, deadline=time.monotonic() + 60, check=object_at_third, check_every_s=0.001
    )
    assert reason is ExitReason.MEMORY_LIMIT


def test_overflow_is_found_in_what_was_left_in_the_pipe(pipes: Pipes) -> None:
    streams = Streams(*pipes.ours, feed=b"", cap_bytes=10)
    pipes.end()
    assert run(streams, pipes, time.monotonic() + 60) is None
    os.write(pipes.program["stdout"], b"x" * 11)
    streams.drain()
    assert streams.overflowed
