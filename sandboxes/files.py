"""Files into and out of a work directory that hostile programs write to.

Everything goes through a descriptor of that directory, one path component at a time, and
no link is ever followed, so no path leads out of it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Executable, so that a program compiled in one run can be laid down for the next.
_FILE_MODE, _FOLDER_MODE = 0o755, 0o755


def relative_parts(path: str) -> tuple[str, ...]:
    """The components of a path below the work directory; none for the directory itself.

    Raises:
        ValueError: the path is absolute, leaves the directory or can't be a path.
    """
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise ValueError(f"{path!r} is not a path below the work directory")
    return parts


def file_parts(path: str) -> tuple[str, ...]:
    """Like `relative_parts`, for a file.

    Raises:
        ValueError: also where the path names the directory itself.
    """
    parts = relative_parts(path)
    if not parts or path.endswith("/"):
        raise ValueError(f"{path!r} names no file")
    return parts


def check_tree(paths: Iterable[str]) -> None:
    """Checks that files at these paths can lie in one directory.

    Raises:
        ValueError: a path leaves the directory, or is a file and a directory.
    """
    parts = {path: file_parts(path) for path in paths}
    folders = {p[:depth] for p in parts.values() for depth in range(1, len(p))}
    for path, names in parts.items():
        if names in folders:
            raise ValueError(f"{path!r} is a file and a directory")


def lay_files(root: int, files: Mapping[str, bytes], owner: int | None) -> None:
    """Writes files below the directory `root` (a descriptor), parents made as needed.

    Args:
        root: the work directory.
        files: contents by path.
        owner: uid and gid of what is made; None for our own.
    """
    for path, content in files.items():
        *folders, name = file_parts(path)
        with _walk(root, folders, make_for=owner, make=True) as folder:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(name, flags, _FILE_MODE, dir_fd=folder)
            with open(file, "wb", buffering=0) as out:
                view = memoryview(content)
                while view:
                    view = view[out.write(view) :]
                os.fchmod(file, _FILE_MODE)
                _give(file, owner)


def make_folder(root: int, path: str, owner: int | None) -> None:
    """Makes a directory below `root`, with its parents."""
    with _walk(root, relative_parts(path), make_for=owner, make=True):
        pass


def read_file(root: int, path: str, max_bytes: int) -> bytes:
    """The content of a regular file below `root`.

    Raises:
        FileNotFoundError: there is none, or it is no regular file that we may read.
        ValueError: it is larger than `max_bytes`, or `path` leaves the directory.
    """
    *folders, name = file_parts(path)
    try:
        with _walk(root, folders) as folder:
            # Without waiting: it may be a pipe that nobody writes to.
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        raise FileNotFoundError(f"the program left no file {path!r}: {error.strerror}") from None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise FileNotFoundError(f"the program left no regular file {path!r}")
        content = bytearray()
        while len(content) <= max_bytes and (chunk := os.read(file, max_bytes + 1 - len(content))):
            content += chunk
    finally:
        os.close(file)
    if len(content) > max_bytes:
        raise ValueError(f"{path!r} is larger than {max_bytes} bytes")
    return bytes(content)


@contextlib.contextmanager
def _walk(
    root: int,
    folders: list[str] | tuple[str, ...],
    *,
    make: bool = False,
    make_for: int | None = None,
) -> Iterator[int]:
    here = os.open(".", _DIRECTORY, dir_fd=root)
    try:
        for name in folders:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, _FOLDER_MODE, dir_fd=here)
            below = _open_folder(name, here)
            os.close(here)
            here = below
            if make:
                _give(here, make_for)
        yield here
    finally:
        os.close(here)


def _open_folder(name: str, parent: int) -> int:
    """Raises OSError: there is none, or it is a link (which gVisor's `open` follows here)."""
    folder = os.open(name, _DIRECTORY, dir_fd=parent)
    if not os.path.samestat(os.fstat(folder), os.lstat(name, dir_fd=parent)):
        os.close(folder)
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
    return folder


def _give(file: int, owner: int | None) -> None:
    if owner is not None:
        os.fchown(file, owner, owner)


__all__ = ["check_tree", "file_parts", "lay_files", "make_folder", "read_file", "relative_parts"]
