"""A verifier service of one's own: a child process on a free loopback port.

Covers its start, the wait until it can judge, and its end together with ours.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Self

import httpx

from verifier_server.client.errors import LocalServerFailed

_POLL_S = 0.05
_TAIL_BYTES = 4000
# What the environment says of a public service is not meant for this one.
_OWN = {"VERIFIER_HOST": "127.0.0.1", "VERIFIER_API_KEYS": "", "VERIFIER_LEDGER": "off"}


class LocalServer:
    """Runs `verifier-server serve` for as long as a `with` block lasts.

    The port is bound here and handed over, so no other process can take it in between.
    Start it from a thread that outlives it: the server ends with the thread that made it.

    Args:
        arguments: further ones of `verifier-server serve`.
        env: variables added to this process's (`VERIFIER_…` settings).
        log: file that its output is appended to; None keeps it for error messages only.
        start_timeout_s: how long it may take until it is ready.
        stop_timeout_s: how long it may take to finish what it judges, before it is killed.

    Raises (on entering):
        LocalServerFailed: it ended or was not ready in time; shows its last output.
    """

    def __init__(
        self,
        arguments: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        log: str | os.PathLike[str] | None = None,
        start_timeout_s: float = 60.0,
        stop_timeout_s: float = 10.0,
    ) -> None:
        self.url = ""
        self._arguments = arguments
        self._env = {**os.environ, **_OWN, **(env or {})}
        self._log_path = log
        self._start_timeout_s = start_timeout_s
        self._stop_timeout_s = stop_timeout_s
        self._log: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The server's process id while it runs."""
        return self._process.pid if self._process else None

    def start(self) -> Self:
        """Starts the server and returns once it is ready. Raises as the class says."""
        self._log = (
            open(self._log_path, "ab+") if self._log_path else tempfile.TemporaryFile()  # noqa: SIM115
        )
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            self._process = self._spawn(listener.fileno(), self._log)
        try:
            self._wait_ready(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Ends the server: politely, then by force. Idempotent."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(self._stop_timeout_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _spawn(self, listener: int, log: IO[bytes]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "verifier_server.cli.main", "serve"]
        command += ["--fd", str(listener), "--exit-with-parent", str(os.getpid())]
        return subprocess.Popen(
            [*command, *self._arguments],
            pass_fds=[listener],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=self._env,
            # Ctrl-C is the caller's to handle: it may still want verdicts while it ends.
            start_new_session=True,
        )

    def _wait_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self._start_timeout_s
        with httpx.Client(base_url=self.url, trust_env=False, timeout=1.0) as http:
            while time.monotonic() < deadline:
                if process.poll() is not None:
                    raise self._failed(f"ended with status {process.returncode}")
                try:
                    if http.get("/readyz").status_code == 200:
                        return
                except httpx.TransportError:
                    pass
                time.sleep(_POLL_S)
        raise self._failed(f"was not ready within {self._start_timeout_s:g} s")

    def _failed(self, what: str) -> LocalServerFailed:
        assert self._log is not None
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - _TAIL_BYTES))
        tail = self._log.read().decode(errors="replace").strip()
        return LocalServerFailed(
            f"the local verifier server {what}; its last output:\n{tail or '(none)'}\n",
            remedy="run `verifier-server doctor`",
        )
