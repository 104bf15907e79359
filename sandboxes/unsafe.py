"""The `unsafe` provider: a plain subprocess with rlimits. No sandbox at all.

A program here can read what this user can read, open connections and fork a daemon that
lives on. It exists for hosts where nothing else works and their owner said so, explicitly,
and is named in every verdict's `isolation`.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from io import FileIO
from types import TracebackType
from typing import Self, cast

from sandboxes.base import (
    ExecResult,
    Finding,
    Limits,
    Probe,
    ResourceUsage,
    SandboxBroken,
    SandboxSpec,
)
from sandboxes.confinement.limits import CORE_BYTES
from sandboxes.files import file_parts, lay_files, make_folder, read_file, relative_parts
from sandboxes.mounts import refuse_mounts
from sandboxes.packages import package_entries
from sandboxes.process import Streams

_ISOLATION = "none(unsafe)"


class UnsafeProvider:
    """Runs programs as this very user."""

    name = "unsafe"

    def probe(self) -> Probe:
        """Available everywhere, and holds next to nothing."""
        remedy = "use the bubblewrap provider"
        findings = (
            Finding("isolation", False, "programs run as this user, unconfined", remedy),
            Finding("memory limit", False, "per process only", remedy),
            Finding("disk limit", False, "per file only", remedy),
        )
        return Probe(self.name, True, _ISOLATION, findings)

    def create(self, spec: SandboxSpec) -> UnsafeSandbox:
        """A temporary directory, no more: who names this provider has accepted that."""
        refuse_mounts(spec, self.name)
        entries = package_entries(spec.packages)
        return UnsafeSandbox(spec.limits, sorted({os.path.dirname(p) for p in entries.values()}))

    def close(self) -> None:
        """Nothing is held."""


class UnsafeSandbox:
    """See `Sandbox`; the work directory is cleared before every program."""

    isolation = _ISOLATION

    def __init__(self, limits: Limits, packages: Sequence[str] = ()) -> None:
        self._limits = limits
        self._packages = packages
        self._files: dict[str, bytes] = {}
        self._folder: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> ExecResult:
        """See `Sandbox`."""
        limits = limits or self._limits
        relative_parts(cwd)
        self.close()
        self._folder = tempfile.mkdtemp(prefix="unsafe-box-")
        with ExitStack() as stack:
            root = os.open(self._folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, root)
            lay_files(root, self._files, None)
            make_folder(root, cwd, None)
            process = self._start(stack, argv, os.path.join(self._folder, cwd), env)
            return _serve(stack, process, stdin, limits)

    def write(self, files: Mapping[str, bytes]) -> None:
        """See `Sandbox`."""
        for path in files:
            file_parts(path)
        self._files.update(files)

    def read(self, path: str, max_bytes: int) -> bytes:
        """See `Sandbox`."""
        file_parts(path)
        if self._folder is None:
            raise FileNotFoundError("no program has run yet")
        root = os.open(self._folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return read_file(root, path, max_bytes)
        finally:
            os.close(root)

    def close(self) -> None:
        """Removes the directory. Idempotent."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _start(
        self, stack: ExitStack, argv: Sequence[str], cwd: str, env: Mapping[str, str] | None
    ) -> subprocess.Popen[bytes]:
        assert self._folder is not None
        tools = os.path.dirname(os.path.realpath(sys.executable))
        base = {"PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin", "HOME": self._folder}
        if self._packages:
            base["PYTHONPATH"] = os.pathsep.join(self._packages)
        # Held by its shell until the limits are set, like a box's program.
        command = ["/bin/sh", "-c", 'read _; exec "$@"', "sh", *argv]
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                bufsize=0,
                cwd=cwd,
                env={**base, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **(env or {})},
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxBroken(f"{argv[0]} can't be started: {error}") from error
        for file in (process.stdin, process.stdout, process.stderr):
            stack.enter_context(cast(FileIO, file))
        return process


def _serve(
    stack: ExitStack, process: subprocess.Popen[bytes], stdin: bytes, limits: Limits
) -> ExecResult:
    started = time.monotonic()
    try:
        _limit(process.pid, limits)
        ended = os.pidfd_open(process.pid)
        stack.callback(os.close, ended)
        files = [cast(FileIO, f) for f in (process.stdin, process.stdout, process.stderr)]
        streams = Streams(*files, feed=b"\n" + stdin, cap_bytes=limits.output_bytes)
        hit = streams.run(
            ended,
            deadline=started + limits.time_s,
            check=lambda: None,
            check_every_s=limits.time_s,
        )
    finally:
        # Before it is reaped, so that the group is still its own.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    streams.drain()
    usage = ResourceUsage(time.monotonic() - started)
    return streams.result(hit, None if hit else code, usage)


def _limit(pid: int, limits: Limits) -> None:
    rlimits = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_CORE: CORE_BYTES,
    }
    for kind, value in rlimits.items():
        resource.prlimit(pid, kind, (value, value))


__all__ = ["UnsafeProvider", "UnsafeSandbox"]
