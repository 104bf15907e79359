"""The stream of an attached container, over a pair of sockets."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator

import pytest

from sandboxes.docker.channel import AttachChannel
from sandboxes.launcher.messages import BrokenStream


@pytest.fixture
def pair() -> Iterator[tuple[AttachChannel, socket.socket]]:
    ours, theirs = socket.socketpair()
    channel = AttachChannel(ours)
    with theirs:
        yield channel, theirs
        channel.close()


Pair = tuple[AttachChannel, socket.socket]


def frame(kind: int, content: bytes) -> bytes:
    return struct.pack(">BxxxI", kind, len(content)) + content


def soon() -> float:
    return time.monotonic() + 20


def test_frames_are_put_together_however_they_are_cut(pair: Pair) -> None:
    channel, engine = pair
    for byte in frame(1, b"hel") + frame(2, b"an aside") + frame(1, b"") + frame(1, b"lo, you"):
        engine.sendall(bytes([byte]))
        channel.is_broken()  # reads what is there
    assert channel.read_exactly(5, soon()) == b"hello"
    assert channel.read_exactly(5, soon()) == b", you"


def test_what_the_launcher_says_on_stderr_is_told_with_its_end(pair: Pair) -> None:
    channel, engine = pair
    engine.sendall(frame(2, b"x" * 5000 + b"out of luck\n"))
    engine.close()
    with pytest.raises(BrokenStream, match=r"ended; it said: x+out of luck$") as caught:
        channel.read_exactly(1, soon())
    assert len(str(caught.value)) < 500


def test_a_frame_of_no_known_stream_breaks_the_channel(pair: Pair) -> None:
    channel, engine = pair
    engine.sendall(frame(7, b"?"))
    with pytest.raises(BrokenStream, match="unknown stream, 7"):
        channel.read_exactly(1, soon())


def test_a_deadline_ends_a_read_and_a_write(pair: Pair) -> None:
    channel, _ = pair
    with pytest.raises(BrokenStream, match="timed out"):
        channel.read_exactly(1, time.monotonic() + 0.05)
    with pytest.raises(BrokenStream, match="in time"):
        channel.read_exactly(1, time.monotonic() - 1)
    with pytest.raises(BrokenStream, match="takes nothing more"):
        channel.send(bytes(64 << 20), time.monotonic() + 0.05)


def test_what_is_sent_arrives_raw(pair: Pair) -> None:
    channel, engine = pair
    channel.send(b"request", soon())
    assert engine.recv(100) == b"request"


def test_a_lost_engine_is_noticed_before_anything_is_asked(pair: Pair) -> None:
    channel, engine = pair
    assert not channel.is_broken()
    engine.close()
    assert channel.is_broken()


def test_a_closed_channel_is_broken_and_can_be_closed_again(pair: Pair) -> None:
    channel, engine = pair
    channel.close()
    channel.close()
    assert channel.is_broken()
    assert engine.recv(1) == b""
    with pytest.raises(BrokenStream):
        channel.read_exactly(1, soon())
    with pytest.raises(BrokenStream):
        channel.send(b"x", soon())
