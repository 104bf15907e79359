"""The process that makes one launcher's place and outlives it: a program of its own.

It clones itself into fresh namespaces, where it builds the box's file system, gives up root
for good and becomes the launcher, PID 1 of its place, so that nothing survives it. Outside,
it waits until the launcher or its owner has died, or the owner lets go of the leash, then
kills what is left and removes the place's cgroup. If the keeper itself is killed, the kernel
kills the launcher.

A child of the owner's own would not do: a parent-death signal tells of the death of the
parent's *thread*, and an owner has many.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from sandboxes.confinement.kernel import CLONE_NEWUSER, clone, die_with_parent
from sandboxes.embedded.mounts import make_root
from sandboxes.embedded.rootfs import Entry, Kind
from sandboxes.launcher.messages import Failed, encode
from sandboxes.launcher.namespaces import ALL_BUT_USERS, USERS_REMEDY, map_user
from sandboxes.layout import LAUNCHER, TOOLS

# Where a launcher finds its cgroup's folders, which are not in its file system.
MEMORY_FD, CPU_FD = 60, 61
_LENGTH = struct.Struct(">I")
_REMOVE_TRIES, _REMOVE_PAUSE_S = 100, 0.005


@dataclass(frozen=True)
class Order:
    """What to make.

    Attributes:
        entries: the box's file system, see `rootfs`.
        environment: of the launcher, which its programs' Python must agree with.
        user: uid and gid of the launcher.
        privileged: we are a root that can take that id; else it is ours by another name.
        cgroup: its folders by controller; empty for none.
        files: the launcher's, by path below `layout.LAUNCHER`.
    """

    entries: Sequence[Entry]
    environment: Mapping[str, str]
    user: int
    privileged: bool
    cgroup: Mapping[str, str]
    files: Mapping[str, bytes] = field(repr=False)


def write_order(order: Order) -> int:
    """A descriptor to read the order from, for the caller to close."""
    sizes = {path: len(content) for path, content in order.files.items()}
    head = json.dumps({**vars(order), "files": sizes}).encode()
    fd = os.memfd_create("order")
    with open(fd, "wb", closefd=False) as file:
        file.write(_LENGTH.pack(len(head)) + head + b"".join(order.files.values()))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def read_order(fd: int) -> Order:
    """What was written. Closes the descriptor."""
    with open(fd, "rb") as file:
        head = json.loads(file.read(*_LENGTH.unpack(file.read(_LENGTH.size))))
        files = {path: file.read(size) for path, size in head["files"].items()}
    entries = [Entry(Kind(kind), path, source) for kind, path, source in head["entries"]]
    return Order(**{**head, "entries": entries, "files": files})


def main() -> None:
    """Makes and keeps a place. Arguments: descriptors of the order, the leash, the owner."""
    order_fd, leash, owner = map(int, sys.argv[1:])
    order = read_order(order_fd)
    outside = os.getuid(), os.getgid()
    try:
        launcher = clone(ALL_BUT_USERS | (0 if order.privileged else CLONE_NEWUSER))
        if launcher == 0:
            _become_launcher(order, outside, (leash, owner))
    except OSError as error:
        os.write(1, encode(Failed(f"no place for boxes can be made here: {error}", USERS_REMEDY)))
        raise SystemExit(1) from None
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1):  # the launcher's stream, which must end with it
        os.dup2(null, fd)
    _keep(launcher, leash, owner)
    for folder in set(order.cgroup.values()):
        _remove(folder)


def _become_launcher(order: Order, outside: tuple[int, int], ours: Sequence[int]) -> NoReturn:
    for fd in ours:
        os.close(fd)
    if not order.privileged:
        map_user(order.user, outside)
    for folder in set(order.cgroup.values()):
        Path(folder, "cgroup.procs").write_text("0")
    folders = [
        (order.cgroup[c], fd) for c, fd in (("memory", MEMORY_FD), ("cpu", CPU_FD)) if order.cgroup
    ]
    for path, fd in folders:
        os.dup2(os.open(path, os.O_PATH | os.O_DIRECTORY), fd)
    make_root(order.entries, {f"{LAUNCHER}/{path}": c for path, c in order.files.items()})
    if order.privileged:
        os.setgroups([])
        os.setresgid(order.user, order.user, order.user)
        os.setresuid(order.user, order.user, order.user)
    die_with_parent(signal.SIGKILL)  # not before: it is forgotten when the uid changes
    os.execve(f"{TOOLS}/python3", ["python3", f"{LAUNCHER}/__main__.py"], dict(order.environment))  # noqa: S606


def _keep(launcher: int, leash: int, owner: int) -> None:
    """Returns when the launcher and all in its place are dead."""
    poll = select.poll()
    for fd in (os.pidfd_open(launcher), leash, owner):
        poll.register(fd, select.POLLIN)
    poll.poll()
    with contextlib.suppress(ProcessLookupError):
        os.kill(launcher, signal.SIGKILL)
    os.waitpid(launcher, 0)


def _remove(folder: str) -> None:
    for _ in range(_REMOVE_TRIES):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            return
        except OSError:  # busy for a moment after its last process died
            time.sleep(_REMOVE_PAUSE_S)
        else:
            return


__all__ = ["CPU_FD", "MEMORY_FD", "Order", "main", "read_order", "write_order"]
