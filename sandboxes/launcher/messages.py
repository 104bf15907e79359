"""What host and launcher say to each other, and how it looks on the wire.

A message is two lengths (big-endian, 32 bits), a JSON head and raw bytes, the blob. The host
asks, the launcher answers each request with one message, in order. The first request is
`Setup`, answered by `Ready`; then `Run` by `Ended` and `Read` by `Content`; any of them by
`Failed`, and the launcher is of no more use after that. `Forget`, which must come between a
`Run` and the next, has no answer.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sandboxes.base import ExecResult, ExitReason, Limits, ResourceUsage

_LENGTHS = struct.Struct(">II")
MAX_HEAD_BYTES = 4 << 20
MAX_BLOB_BYTES = 1 << 30


class BrokenStream(Exception):
    """The other side went away, or what it wrote is no message."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The first request: what the launcher is to be.

    Attributes:
        namespaces: each run gets fresh namespaces, and there may be many runs; else the place
            is the box, the launcher is its PID 1, and one run is all.
        meter: where the use of this place is to be read: its cgroup's folders, "memory" and
            "cpu" (the same in version 2), each a path or an inherited descriptor. Empty: there
            is no cgroup, and a watchdog adds up what the processes use.
        preload: modules that warm interpreters have imported. Empty: programs that are
            Python start by exec like all others.
        own_kernel: the place has a kernel of its own (gVisor), which counts its processes
            apart from the host's.
    """

    namespaces: bool
    meter: Mapping[str, str | int] = field(default_factory=dict)
    preload: tuple[str, ...] = ()
    own_kernel: bool = False


@dataclass(frozen=True, slots=True)
class Ready:
    """The launcher is set up.

    Attributes:
        memory_bytes: what it holds itself, which comes on top of a program's limit.
        layers: what confines a program beside the namespaces ("seccomp", "landlock").
    """

    memory_bytes: int
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One program, see `Sandbox.exec`. `env` is the whole environment."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    limits: Limits
    stdin: bytes
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Ended:
    """How the program ended.

    Attributes:
        result: for the caller.
        spent: the launcher asks to be replaced: something in its place was killed.
    """

    result: ExecResult
    spent: bool


@dataclass(frozen=True, slots=True)
class Read:
    """A file that the last program left, see `Sandbox.read`."""

    path: str
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Content:
    """A file's content; `absent` or `too_large` say why there is none."""

    content: bytes = b""
    absent: str = ""
    too_large: str = ""


@dataclass(frozen=True, slots=True)
class Forget:
    """Nothing of the last run is wanted any more: its files go, the next one's place is made."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The launcher could not do its part; nothing is known about the program."""

    message: str
    remedy: str = ""


Message = Setup | Ready | Run | Ended | Read | Content | Forget | Failed


def encode(message: Message) -> bytes:
    """The message as bytes."""
    head, blobs = _parts(message)
    text = json.dumps({"kind": type(message).__name__, **head}).encode()
    blob = b"".join(blobs)
    return _LENGTHS.pack(len(text), len(blob)) + text + blob


def receive(read_exactly: Callable[[int], bytes], max_blob_bytes: int = MAX_BLOB_BYTES) -> Message:
    """The next message.

    Args:
        read_exactly: gives that many bytes of the stream, or raises BrokenStream.
        max_blob_bytes: more than that is no message.

    Raises:
        BrokenStream: the stream ended, or this is no message.
    """
    head_bytes, blob_bytes = _LENGTHS.unpack(read_exactly(_LENGTHS.size))
    if head_bytes > MAX_HEAD_BYTES or blob_bytes > max_blob_bytes:
        raise BrokenStream(f"a message of {head_bytes} + {blob_bytes} bytes")
    text, blob = read_exactly(head_bytes), read_exactly(blob_bytes)
    try:
        head = json.loads(text)
        return _READERS[head.pop("kind")](head, _Cutter(blob))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BrokenStream(f"no message: {error!r}") from error


class _Cutter:
    """Hands a blob out piece by piece."""

    def __init__(self, blob: bytes) -> None:
        self._blob = memoryview(blob)

    def take(self, size: int) -> bytes:
        if not 0 <= size <= len(self._blob):
            raise ValueError(f"a piece of {size} bytes in a blob of {len(self._blob)}")
        piece, self._blob = self._blob[:size], self._blob[size:]
        return bytes(piece)

    def take_all(self, sizes: Mapping[str, int]) -> Iterator[tuple[str, bytes]]:
        for name, size in sizes.items():
            yield name, self.take(size)


def _parts(message: Message) -> tuple[dict[str, Any], list[bytes]]:
    if isinstance(message, Run):
        head = {
            "argv": message.argv,
            "cwd": message.cwd,
            "env": dict(message.env),
            "limits": asdict(message.limits),
            "stdin": len(message.stdin),
            "files": {path: len(content) for path, content in message.files.items()},
        }
        return head, [message.stdin, *message.files.values()]
    if isinstance(message, Ended):
        result = message.result
        head = {
            "reason": result.reason.value,
            "exit": result.exit,
            "signal": result.signal,
            "truncated": result.truncated,
            "usage": asdict(result.usage),
            "streams": {"stdout": len(result.stdout), "stderr": len(result.stderr)},
            "spent": message.spent,
        }
        return head, [result.stdout, result.stderr]
    if isinstance(message, Content):
        head = {"size": len(message.content), "absent": message.absent}
        return {**head, "too_large": message.too_large}, [message.content]
    return asdict(message), []


def _read_run(head: dict[str, Any], blob: _Cutter) -> Run:
    return Run(
        argv=tuple(head["argv"]),
        cwd=head["cwd"],
        env=head["env"],
        limits=Limits(**head["limits"]),
        stdin=blob.take(head["stdin"]),
        files=dict(blob.take_all(head["files"])),
    )


def _read_ended(head: dict[str, Any], blob: _Cutter) -> Ended:
    streams = dict(blob.take_all(head["streams"]))
    result = ExecResult(
        reason=ExitReason(head["reason"]),
        exit=head["exit"],
        signal=head["signal"],
        truncated=head["truncated"],
        usage=ResourceUsage(**head["usage"]),
        **streams,
    )
    return Ended(result, head["spent"])


def _read_content(head: dict[str, Any], blob: _Cutter) -> Content:
    return Content(blob.take(head["size"]), head["absent"], head["too_large"])


def _read_setup(head: dict[str, Any], _: _Cutter) -> Setup:
    return Setup(**{**head, "preload": tuple(head["preload"])})


def _read_ready(head: dict[str, Any], _: _Cutter) -> Ready:
    return Ready(head["memory_bytes"], tuple(head["layers"]))


_READERS: dict[str, Callable[[dict[str, Any], _Cutter], Message]] = {
    "Setup": _read_setup,
    "Ready": _read_ready,
    "Run": _read_run,
    "Ended": _read_ended,
    "Read": lambda head, _: Read(**head),
    "Content": _read_content,
    "Forget": lambda head, _: Forget(**head),
    "Failed": lambda head, _: Failed(**head),
}

__all__ = [
    "BrokenStream",
    "Content",
    "Ended",
    "Failed",
    "Forget",
    "Message",
    "Read",
    "Ready",
    "Run",
    "Setup",
    "encode",
    "receive",
]
