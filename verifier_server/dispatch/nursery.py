"""The supervisor's side of the zygote: has workers forked, killed and their deaths told.

If the zygote itself dies (its workers die with it) the next `spawn` starts another.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from typing import Any

from verifier_server.dispatch.board import Board
from verifier_server.dispatch.frames import HEADER, unpack
from verifier_server.dispatch.zygote import MESSAGE_BYTES
from verifier_server.errors import ConfigError

_START_TIMEOUT_S = 60.0
_SECRETS = ("VERIFIER_API_KEYS",)


class Worker:
    """A live worker: where to send tasks, what it is at, and its exit status once dead.

    `died` resolves to the exit status (negative: minus the signal), or to None if the
    zygote died first and nobody knows.
    """

    def __init__(
        self, pid: int, board: Board, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter]
    ) -> None:
        self.pid = pid
        self.board = board
        self.died: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._reader, self._writer = streams
        self._header: tuple[int, int] | None = None

    def send(self, frames: bytes) -> None:
        """Queues frames for the worker."""
        self._writer.write(frames)

    async def receive(self) -> tuple[int, dict[str, Any]]:
        """The next answer and the number of its task; loses nothing when cancelled.

        Raises:
            EOFError, ConnectionError: the worker is gone.
        """
        if self._header is None:
            self._header = HEADER.unpack(await self._reader.readexactly(HEADER.size))
        size, number = self._header
        body = await self._reader.readexactly(size)
        self._header = None
        return number, unpack(body)

    async def close(self) -> None:
        """Lets go of it; a worker that is still alive ends when it sees that."""
        self._writer.close()
        self.board.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


class Nursery:
    """Forks workers from a warm zygote process."""

    def __init__(self, sandbox: str, log_level: str) -> None:
        self._arguments = (sandbox, log_level.upper())
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._replies: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._workers: dict[int, Worker] = {}
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Starts the zygote and waits until it is warm.

        Raises:
            ConfigError: it died or was not ready in time; its output says why.
        """
        await self._bury()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        with theirs:
            self._process = subprocess.Popen(  # noqa: ASYNC220 - a fork, done in a millisecond
                [
                    *(sys.executable, "-m", "verifier_server.dispatch.zygote"),
                    *(str(theirs.fileno()), *self._arguments),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={key: value for key, value in os.environ.items() if key not in _SECRETS},
                start_new_session=True,
            )
        self._control, self._replies = ours, asyncio.Queue()
        asyncio.get_running_loop().add_reader(ours, self._hear)
        reply = await asyncio.wait_for(self._replies.get(), _START_TIMEOUT_S)
        if "ready" not in reply:
            raise ConfigError(
                "the process that workers are forked from died at its start",
                remedy="its error is in the log above",
            )

    async def spawn(self, memory_bytes: int | None) -> Worker:
        """A new worker."""
        async with self._lock:
            if self._control is None:
                await self.start()
            ours, theirs = socket.socketpair()
            board = Board.new()
            with theirs:
                message = json.dumps({"spawn": True, "memory_bytes": memory_bytes}).encode()
                assert self._control is not None
                socket.send_fds(self._control, [message], [theirs.fileno(), board.fd])
            streams = await asyncio.open_connection(sock=ours)
            reply = await self._replies.get()
            worker = Worker(reply.get("spawned", 0), board, streams)
            if "spawned" in reply:
                self._workers[worker.pid] = worker
            else:
                worker.died.set_result(None)
            return worker

    async def kill(self, worker: Worker) -> None:
        """Kills a worker and returns when it is dead."""
        if not worker.died.done() and self._control is not None:
            self._control.send(json.dumps({"kill": worker.pid}).encode())
        await worker.died
        await worker.close()

    async def stop(self) -> None:
        """Ends the zygote and with it every worker."""
        self._hang_up()
        await self._bury()

    @property
    def is_alive(self) -> bool:
        """Whether the zygote serves."""
        return self._control is not None

    async def _bury(self) -> None:
        """Sees the last zygote to its end; without its supervisor it has nothing to do."""
        if self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    def _hear(self) -> None:
        assert self._control is not None
        try:
            data = self._control.recv(MESSAGE_BYTES)
        except ConnectionError:
            data = b""
        if not data:
            self._hang_up()
            return
        message = json.loads(data)
        if "died" not in message:
            self._replies.put_nowait(message)
        elif worker := self._workers.pop(message["died"], None):
            worker.died.set_result(message["status"])

    def _hang_up(self) -> None:
        if self._control is None:
            return
        asyncio.get_running_loop().remove_reader(self._control)
        self._control.close()
        self._control = None
        for worker in self._workers.values():
            worker.died.set_result(None)
        self._workers.clear()
        self._replies.put_nowait({"gone": True})
