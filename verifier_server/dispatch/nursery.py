"""The supervisor's side of the zygote: has workers forked, killed and their deaths told.

If the zygote itself dies (its workers die with it) the next `spawn` starts another.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
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
_CHUNK_BYTES = 1 << 16
_SECRETS = ("VERIFIER_API_KEYS",)


class Worker:
    """A worker: where to send tasks, what it is at, and its exit status once dead.

    `number` names it between supervisor and zygote. `died` resolves to the exit status
    (negative: minus the signal), or to None if the zygote died first and nobody knows.
    `cpu_s` is the processor time that it took in all, once dead.
    """

    def __init__(
        self, number: int, board: Board, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter]
    ) -> None:
        self.number = number
        self.board = board
        self.died: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self.cpu_s = 0.0
        self._reader, self._writer = streams
        self._unread = bytearray()

    def send(self, frames: bytes) -> None:
        """Queues frames for the worker; if it is dead, `receive` tells."""
        if not self._writer.is_closing():
            self._writer.write(frames)

    async def receive(self) -> tuple[int, dict[str, Any]]:
        """The next answer and the number of its task; loses nothing when cancelled.

        Raises:
            EOFError, ConnectionError: the worker is gone.
        """
        while (answer := self.received()) is None:
            chunk = await self._reader.read(_CHUNK_BYTES)
            if not chunk:
                raise EOFError("the worker closed its socket")
            self._unread += chunk
        return answer

    def received(self) -> tuple[int, dict[str, Any]] | None:
        """The next answer if all of it has been read already, without waiting."""
        if len(self._unread) < HEADER.size:
            return None
        size, number = HEADER.unpack_from(self._unread)
        end = HEADER.size + size
        if len(self._unread) < end:
            return None
        body = bytes(self._unread[HEADER.size : end])
        del self._unread[:end]
        return number, unpack(body)

    def set_died(self, status: int | None, cpu_s: float = 0.0) -> None:
        """Tells all who wait for its death; none may be left, where a stop cut their wait."""
        if not self.died.done():
            self.cpu_s = cpu_s
            self.died.set_result(status)

    async def close(self) -> None:
        """Lets go of it; a worker that is still alive ends when it sees that. Idempotent."""
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
        self._is_warm: asyncio.Future[bool]
        self._workers: dict[int, Worker] = {}
        self._numbers = itertools.count(1)
        self._starting = asyncio.Lock()

    async def start(self) -> None:
        """Starts the zygote and waits until it is warm.

        Raises:
            ConfigError: it died or was not ready in time; its output says why.
            OSError: this process is out of descriptors, memory or processes.
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
        loop = asyncio.get_running_loop()
        self._control, self._is_warm = ours, loop.create_future()
        loop.add_reader(ours, self._hear)
        late = loop.call_later(_START_TIMEOUT_S, self._hang_up)
        try:
            is_warm = await self._is_warm
        finally:
            late.cancel()
        if not is_warm:
            raise ConfigError(
                "the process that workers are forked from died at its start, or was not ready "
                f"within {_START_TIMEOUT_S:g} s",
                remedy="its error is in the log above",
            )

    async def spawn(self, memory_bytes: int | None) -> Worker:
        """A new worker; if it can't live, its `died` tells. Raises as `start`."""
        async with self._starting:
            if self._control is None:
                await self.start()
        ours, theirs = socket.socketpair()
        with theirs:
            board = Board.new()
            streams = await asyncio.open_connection(sock=ours)
            worker = Worker(next(self._numbers), board, streams)
            message = {"spawn": worker.number, "memory_bytes": memory_bytes}
            if self._tell(message, theirs.fileno(), board.fd):
                self._workers[worker.number] = worker
            else:
                worker.set_died(None)
        return worker

    async def kill(self, worker: Worker) -> None:
        """Kills a worker and returns when it is dead."""
        if not worker.died.done():
            self._tell({"kill": worker.number})
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

    def _tell(self, message: dict[str, Any], *fds: int) -> bool:
        """Sends the zygote a message; False if it is gone."""
        if self._control is None:
            return False
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], fds)
        except ConnectionError:
            self._hang_up()
            return False
        return True

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
        if "ready" in message:
            self._settle_start(warm=True)
        elif worker := self._workers.pop(message["died"], None):
            worker.set_died(message["status"], message["cpu_s"])

    def _hang_up(self) -> None:
        if self._control is None:
            return
        asyncio.get_running_loop().remove_reader(self._control)
        self._control.close()
        self._control = None
        self._settle_start(warm=False)
        for worker in self._workers.values():
            worker.set_died(None)
        self._workers.clear()

    def _settle_start(self, *, warm: bool) -> None:
        if not self._is_warm.done():
            self._is_warm.set_result(warm)
