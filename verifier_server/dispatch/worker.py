"""A worker: judges the tasks that arrive on its socket, one after another, until it closes.

It keeps no secret and trusts nothing; whatever goes wrong in it, the supervisor at the
other end of the socket kills it and forks another.
"""

from __future__ import annotations

import contextlib
import resource
import socket
import time
from dataclasses import dataclass
from typing import Any, BinaryIO

from verifier_server.checkers.runtime import CheckRuntime
from verifier_server.dispatch.board import Board
from verifier_server.dispatch.frames import HEADER, pack, unpack_task

DEFAULT_BUDGET_S = 5.0


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """`memory_bytes` caps the address space; None where programs must inherit no cap."""

    memory_bytes: int | None


def work(sock: socket.socket, board: Board, runtime: CheckRuntime, limits: WorkerLimits) -> None:
    """Serves until the supervisor closes its end."""
    if limits.memory_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    stream = sock.makefile("rb")
    # A broken pipe: the supervisor closed its end while a task ran.
    with contextlib.suppress(ConnectionError):
        _serve(sock, stream, board, runtime)


def _serve(sock: socket.socket, stream: BinaryIO, board: Board, runtime: CheckRuntime) -> None:
    while header := stream.read(HEADER.size):
        size, number = HEADER.unpack(header)
        # Taken up before it is read: a frame that kills its reader must have an owner.
        wanted = board.begin(number, DEFAULT_BUDGET_S)
        body = stream.read(size)
        if wanted:
            sock.sendall(pack(number, _answer(body, board, runtime)))


def _answer(body: bytes, board: Board, runtime: CheckRuntime) -> dict[str, Any]:
    task, lint = unpack_task(body)
    start_s = time.monotonic()
    judgement = runtime.lint(task) if lint else runtime.judge(task, on_budget=board.extend)
    return {"judgement": judgement.to_wire(), "run_s": time.monotonic() - start_s}
