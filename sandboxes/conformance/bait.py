"""What attacks look for on the host, laid out while they run: all of it must stay unseen."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

# Variables that a box may well have of its own.
_USUAL_VARIABLES = {
    "PATH",
    "HOME",
    "LANG",
    "USER",
    "LOGNAME",
    "PWD",
    "TMPDIR",
    "TERM",
    "HOSTNAME",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
}
# A box made of an image may well have some of its own.
_PRIVATE = (
    *("/etc/shadow", "/etc/passwd", "/etc/group", "/etc/ssh", "/etc/machine-id", "/root", "/home"),
    *("/var/lib", "/var/log", "/var/run/docker.sock", "/run", "/boot", "/srv", "/opt"),
)
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108


@contextlib.contextmanager
def lay_bait() -> Iterator[Mapping[str, object]]:
    """Open ports, sockets with names, files, variables, a pid: what each is, for programs."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = f"answerkey-bait-{secrets.token_hex(8)}"
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind("\0" + abstract)
        listener.listen()
        yield {
            "port": server.getsockname()[1],
            "port6": _port6(stack),
            "abstract": abstract,
            "secrets": [*_secret_files(stack), str(Path(__file__).resolve())],
            "files": _identities(),
            "environment": sorted({*os.environ} - _USUAL_VARIABLES),
            "pid": os.getpid(),
            "name": platform.node(),
        }


def _identities() -> dict[str, list[int]]:
    """Device and inode of files that are the host's business, by path."""
    paths = filter(os.path.exists, _PRIVATE)
    return {path: [stat.st_dev, stat.st_ino] for path in paths for stat in [os.stat(path)]}


def _port6(stack: ExitStack) -> int | None:
    """Of a listener on the IPv6 loopback, where the host has one."""
    with contextlib.suppress(OSError):
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
        return int(stack.enter_context(server).getsockname()[1])
    return None


def _secret_files(stack: ExitStack) -> Iterator[str]:
    for folder in (Path(tempfile.gettempdir()), _SHARED_MEMORY):
        if os.access(folder, os.W_OK):
            file = tempfile.NamedTemporaryFile(prefix="secret-", dir=folder)  # noqa: SIM115
            stack.enter_context(file)
            file.write(b"secret")
            file.flush()
            yield file.name


__all__ = ["lay_bait"]
