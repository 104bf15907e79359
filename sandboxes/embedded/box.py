"""One run in one box: set up by bwrap, held at a gate, confined, let go, killed whole.

bwrap starts a one-line shell as the program. It writes a newline to stdout (the set-up is
done; only bwrap's own failures come before) and reads one from stdin, before it becomes the
program by `exec`. While it waits, its host pid is known, so files are laid down through
/proc/PID/root, rlimits are set from outside (RLIMIT_NPROC set before the namespaces would
count the host's processes of that user) and its cgroup is joined.

bwrap tells a program killed by signal n and one that exits with 128 + n alike. The true wait
status is that of the zombie, so the box's init is stopped (SIGSTOP) before the program runs:
it can't reap the zombie before we have read it. Killing the init kills all in its namespace.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from io import FileIO
from pathlib import Path
from typing import NoReturn, Self

from sandboxes.base import ExitReason, SandboxBroken
from sandboxes.embedded.cgroups import Cgroup
from sandboxes.embedded.owner import box_label
from sandboxes.embedded.recipe import Recipe, set_up_remedy
from sandboxes.process import Streams
from sandboxes.procfs import read_stat

_SET_UP_S = 30.0
_DEATH_S = 30.0
_POLL_S = 0.0002
_INFO_BYTES = 4096


class Box:
    """A program held at the gate of a fresh box. Owns its processes and descriptors.

    Attributes:
        owner: uid and gid of the program and of what is laid down for it; None for ours.

    Raises:
        SandboxBroken: the box could not be set up; says what bwrap said.
    """

    def __init__(
        self,
        recipe: Recipe,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        mounts: Sequence[str],
        cgroup: Cgroup | None,
    ) -> None:
        self._recipe = recipe
        self.owner = recipe.new_owner()
        self._cgroup = cgroup
        self._fds = ExitStack()
        self._bwrap: subprocess.Popen[bytes] | None = None
        self._bwrap_fd: int | None = None
        self._init: int | None = None
        try:
            self._start(argv, cwd, env, mounts)
            self._hold()
        except OSError as error:
            self.close()
            raise SandboxBroken(f"a box could not be set up: {error}") from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def folder(self, path: str) -> int:
        """A descriptor of a directory as the program sees it, ours to use while the box is.

        A duplicate of it goes on working when all in the box is dead.

        Raises:
            SandboxBroken: the host does not let us look into the box.
        """
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        try:
            return self._own(os.open(f"/proc/{self.pid}/root{path}", flags))
        except OSError as error:
            raise SandboxBroken(f"{path} of a box can't be opened: {error}") from error

    def set_rlimits(self, rlimits: Mapping[int, int]) -> None:
        """Sets soft and hard limits, or what the host's hard limit leaves of them.

        Raises:
            SandboxBroken: the host does not let us.
        """
        for kind, wanted in rlimits.items():
            try:
                _, hard = resource.prlimit(self.pid, kind)
                value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
                resource.prlimit(self.pid, kind, (value, value))
            except OSError as error:
                raise SandboxBroken(f"the box's limits can't be set: {error}") from error

    def run(
        self,
        stdin: bytes,
        *,
        time_s: float,
        output_bytes: int,
        check: Callable[[], ExitReason | None],
        check_every_s: float,
    ) -> tuple[Streams, ExitReason | None]:
        """Lets the program go and serves it until it ends or hits a limit.

        Raises:
            SandboxBroken: the box died before its program started.
        """
        self._await_stopped_init()
        streams = Streams(
            self._stdin, self._stdout, self._stderr, feed=b"\n" + stdin, cap_bytes=output_bytes
        )
        reason = streams.run(
            self._program,
            deadline=time.monotonic() + time_s,
            check=check,
            check_every_s=check_every_s,
        )
        return streams, reason

    def exit_code(self) -> int:
        """Exit status of the program that has ended, or minus the signal that ended it.

        A program can wake the init (SIGCONT) to have its own wait status reaped unseen; it
        gets what bwrap makes of it.

        Raises:
            SandboxBroken: bwrap itself was killed.
        """
        with contextlib.suppress(OSError):
            stat = read_stat(self._process)
            if stat.state == "Z":
                return os.waitstatus_to_exitcode(stat.wait_status)
        code = self.kill()
        if code < 0:
            raise SandboxBroken(f"something killed bwrap (signal {-code}), and with it the box")
        return 128 - code if code > 128 else code

    def kill(self) -> int:
        """Kills all in the box and waits until it is dead; returns bwrap's exit status.

        Raises:
            SandboxBroken: it does not die.
        """
        assert self._bwrap is not None
        with contextlib.suppress(ProcessLookupError):
            if self._init is not None:
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
            elif self._bwrap.returncode is None:
                os.killpg(self._bwrap.pid, signal.SIGKILL)
        # bwrap reaps the init, which is dead only after everything in its namespace.
        if self._bwrap_fd is not None and not _is_readable_within(self._bwrap_fd, _DEATH_S):
            raise SandboxBroken(f"a killed box still lives after {_DEATH_S:.0f} s")
        return self._bwrap.wait()

    def close(self) -> None:
        """Kills what lives and frees all. Idempotent."""
        with self._fds:
            if self._bwrap is not None:
                self.kill()

    def _start(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], mounts: Sequence[str]
    ) -> None:
        """Starts bwrap, with an empty environment: its init shows its own to the program."""
        with ExitStack() as theirs:
            stdin, self._stdin = self._pipe(theirs, we_read=False)
            stdout, self._stdout = self._pipe(theirs, we_read=True)
            stderr, self._stderr = self._pipe(theirs, we_read=True)
            info, self._info = self._pipe(theirs, we_read=True)
            # Readable, too: if we die now, bwrap's death by SIGPIPE would leave its child behind.
            info = os.open(f"/proc/self/fd/{info}", os.O_RDWR | os.O_CLOEXEC)
            theirs.callback(os.close, info)
            hold, self._release = self._pipe(theirs, we_read=False)
            seccomp = _memory_file(theirs, self._recipe.seccomp)
            options = self._recipe.options(env, mounts, info=info, seccomp=seccomp, hold=hold)
            arguments = _memory_file(theirs, options)
            passed = [info, seccomp, arguments]
            passed += [hold] if self._recipe.setpriv else []
            command = self._recipe.command(argv, cwd, self.owner)
            self._bwrap = subprocess.Popen(  # the box sees this argv: no path of the host's in it
                [box_label(), "--args", str(arguments), "--", *command],
                executable=self._recipe.bwrap,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env={},
                cwd="/",
                pass_fds=passed,
                start_new_session=True,
            )
            self._bwrap_fd = self._own(os.pidfd_open(self._bwrap.pid))

    def _pipe(self, theirs: ExitStack, *, we_read: bool) -> tuple[int, FileIO]:
        """Their end, closed with `theirs`, and ours."""
        read, write = os.pipe()
        ours, other = (read, write) if we_read else (write, read)
        theirs.callback(os.close, other)
        if self.owner is not None:  # so that it may open /dev/stdin and /dev/stdout
            os.fchown(other, self.owner, self.owner)
        return other, self._fds.enter_context(FileIO(ours, "rb" if we_read else "wb"))

    def _hold(self) -> None:
        """Waits for the gate and stops the init."""
        deadline = time.monotonic() + _SET_UP_S
        init_pid = self._child_pid(deadline)
        if self._recipe.setpriv:
            # At once: if we die before, bwrap does, and its child waits on (see `owner`).
            _map_ids(init_pid)
            self._release.write(b"11")
        self._init = self._own(os.pidfd_open(init_pid))
        # The kernel may take 10 ms over this, so it is done while bwrap mounts.
        if self._cgroup is not None:
            self._cgroup.add(init_pid)
        if _read_within(self._stdout, 1, deadline) != b"\n":
            self._give_up()
        signal.pidfd_send_signal(self._init, signal.SIGSTOP)
        self._init_process = self._open_process(init_pid)
        children = Path(f"/proc/{init_pid}/task/{init_pid}/children").read_text().split()
        self.pid = int(children[0])
        self._process = self._open_process(self.pid)
        self._program = self._own(os.pidfd_open(self.pid))
        if self._cgroup is not None and not self._cgroup.holds(self.pid):
            self._cgroup.add(self.pid)

    def _child_pid(self, deadline: float) -> int:
        told = b""
        while b"}" not in told:
            chunk = _read_within(self._info, _INFO_BYTES, deadline)
            if not chunk:
                self._give_up()
            told += chunk
        pid: int = json.loads(told)["child-pid"]
        return pid

    def _give_up(self) -> NoReturn:
        self.kill()
        os.set_blocking(self._stderr.fileno(), False)
        said = (self._stderr.read(_INFO_BYTES) or b"").decode(errors="replace").strip()
        raise SandboxBroken(
            f"bwrap could not set the box up: {said or 'it took too long'}",
            remedy=set_up_remedy(said),
        )

    def _await_stopped_init(self) -> None:
        deadline = time.monotonic() + _SET_UP_S
        with contextlib.suppress(OSError):
            while time.monotonic() < deadline:
                if read_stat(self._init_process).state == "T":
                    return
                time.sleep(_POLL_S)
        raise SandboxBroken("the init of a box died, or could not be stopped")

    def _open_process(self, pid: int) -> int:
        return self._own(os.open(f"/proc/{pid}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))

    def _own(self, fd: int) -> int:
        self._fds.callback(os.close, fd)
        return fd


def _memory_file(stack: ExitStack, content: bytes) -> int:
    fd = os.memfd_create("box")
    stack.callback(os.close, fd)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _read_within(source: FileIO, size: int, deadline: float) -> bytes:
    """What comes before the deadline; nothing if it passes or the stream ends."""
    left_s = max(0.0, deadline - time.monotonic())
    return (source.read(size) or b"") if _is_readable_within(source.fileno(), left_s) else b""


def _is_readable_within(fd: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _map_ids(init_pid: int) -> None:
    """Maps every id to itself: the box's set-up needs root's, the program takes nobody's."""
    for kind in ("uid_map", "gid_map"):
        rows = [line.split() for line in Path(f"/proc/self/{kind}").read_text().splitlines()]
        mapping = "".join(f"{inside} {inside} {count}\n" for inside, _, count in rows)
        Path(f"/proc/{init_pid}/{kind}").write_text(mapping)


__all__ = ["Box"]
