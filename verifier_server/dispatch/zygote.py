"""The process that workers are forked from: it has imported every checker, and no threads.

A fork of it is warm at once (a few milliseconds instead of the second that importing sympy
takes), so that killing a worker costs next to nothing. It is single-threaded, which makes
the fork safe, and does nothing but fork, kill and report deaths:

    supervisor -> zygote   {"spawn": number, "memory_bytes": n|null} with [socket, board] fds
                           {"kill": number}
    zygote -> supervisor   {"ready": true}   {"died": number, "status": n, "cpu_s": x}

The supervisor numbers the workers. Since the zygote is their parent and alone knows their
pids, what it kills is its own child or already reaped, never a stranger. Workers die with
it, and it dies with the supervisor.
"""

from __future__ import annotations

import ctypes
import gc
import json
import logging
import os
import selectors
import signal
import socket
import sys
from typing import Any

from verifier_server.checkers.runtime import CheckRuntime, open_runtime
from verifier_server.dispatch.board import Board
from verifier_server.dispatch.worker import WorkerLimits, work

MESSAGE_BYTES = 4096
_PR_SET_PDEATHSIG = 1


class Zygote:
    """Serves the supervisor at the other end of `control` until it closes."""

    def __init__(self, control: socket.socket, runtime: CheckRuntime) -> None:
        self._control = control
        self._runtime = runtime
        self._pids: dict[int, int] = {}

    def serve(self) -> None:
        """Blocks until the supervisor is gone, then takes the workers along."""
        wake, wakened = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wakened)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._tell({"ready": True})
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(wake, selectors.EVENT_READ)
            while self._step({key.fd for key, _ in selector.select()}, wake):
                pass
        for pid in self._pids.values():
            os.kill(pid, signal.SIGKILL)

    def _step(self, readable: set[int], wake: int) -> bool:
        if wake in readable:
            os.read(wake, 4096)
        self._reap()
        if self._control.fileno() not in readable:
            return True
        data, fds, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 2)
        if not data:
            return False
        self._obey(json.loads(data), fds)
        return True

    def _obey(self, message: dict[str, Any], fds: list[int]) -> None:
        if "spawn" in message:
            self._spawn(message["spawn"], WorkerLimits(message["memory_bytes"]), *fds)
        elif message["kill"] in self._pids:
            os.kill(self._pids[message["kill"]], signal.SIGKILL)

    def _spawn(self, number: int, limits: WorkerLimits, sock_fd: int, board_fd: int) -> None:
        pid = os.fork()
        if pid == 0:
            self._become_worker(limits, sock_fd, board_fd)
        os.close(sock_fd)
        os.close(board_fd)
        self._pids[number] = pid

    def _become_worker(self, limits: WorkerLimits, sock_fd: int, board_fd: int) -> None:
        """Never returns: a worker must not run on into its parent's loop."""
        status = 1
        try:
            die_with_parent()
            signal.set_wakeup_fd(-1)
            heed_all_signals()
            self._control.close()
            work(socket.socket(fileno=sock_fd), Board(board_fd), self._runtime, limits)
            status = 0
        finally:
            if status:
                sys.excepthook(*sys.exc_info())
            os._exit(status)

    def _reap(self) -> None:
        for number, pid in list(self._pids.items()):
            done, status, used = os.wait4(pid, os.WNOHANG)
            if done:
                del self._pids[number]
                code, cpu_s = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
                self._tell({"died": number, "status": code, "cpu_s": cpu_s})

    def _tell(self, message: dict[str, Any]) -> None:
        self._control.send(json.dumps(message).encode())


def heed_all_signals() -> None:
    """Sets every signal to its default, as the programs in sandboxes inherit.

    A server that a shell started in the background ignores SIGINT, one under `nohup` SIGHUP; a
    program that signals itself must not get another verdict for that.
    """
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE}:
        signal.signal(number, signal.SIG_DFL)


def die_with_parent() -> None:
    """Has the kernel kill this process when its parent dies."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main() -> None:
    """`python -m verifier_server.dispatch.zygote CONTROL_FD SANDBOX LOG_LEVEL`."""
    control_fd, sandbox, log_level = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    die_with_parent()
    logging.basicConfig(level=log_level, format="%(levelname)s %(name)s: %(message)s")
    runtime = open_runtime(sandbox)
    runtime.warm()
    # What lives now lives as long as the process: forks need not copy it to collect garbage.
    gc.collect()
    gc.freeze()
    Zygote(socket.socket(fileno=control_fd), runtime).serve()


if __name__ == "__main__":
    main()
