"""Finishes the file system of a box. Runs in the image, or on the host with its Python.

    python3 finish.py ROOT

Names the interpreter, compiles what boxes import (their file systems are read-only, so byte
code that is missing costs time in every run), takes set-id bits off and names the user.
Standard library alone, any Python from 3.11 on.
"""

from __future__ import annotations

import compileall
import os
import stat
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from py_compile import PycInvalidationMode

_BOX = "opt/box"
_COMPILED = (f"{_BOX}/packages", "opt/answerkey")
_USER, _UID = "box", 64000
_MOUNT_POINTS = ("tmp", "proc", "sys", "dev", "dev/shm", "etc")


def main(root: Path) -> None:
    """Does all of it below `root`."""
    os.umask(0o022)
    for folder in _MOUNT_POINTS:
        (root / folder).mkdir(exist_ok=True)
    _name_interpreter(root)
    _add_user(root)
    _compile(root)
    _take_set_id_bits(root)


def _name_interpreter(root: Path) -> None:
    tools = root / _BOX / "bin"
    tools.mkdir(parents=True, exist_ok=True)
    interpreter = os.path.realpath(sys.executable)  # maybe by the name that is replaced here
    for name in ("python3", "python"):
        (tools / name).unlink(missing_ok=True)
        (tools / name).symlink_to(interpreter)


def _add_user(root: Path) -> None:
    lines = {
        "passwd": f"{_USER}:x:{_UID}:{_UID}::/tmp/box:/bin/sh",
        "group": f"{_USER}:x:{_UID}:",
    }
    for name, line in lines.items():
        path = root / "etc" / name
        before = path.read_text() if path.exists() else ""
        if line not in before.splitlines():
            path.write_text(f"{before}{line}\n")
        path.chmod(0o644)


def _compile(root: Path) -> None:
    standard_library = sysconfig.get_path("stdlib").lstrip("/")
    for folder in (standard_library, *_COMPILED):
        # Unchecked: what copies an image about may change the times of its files.
        compileall.compile_dir(
            root / folder,
            stripdir=str(root),
            prependdir="/",
            quiet=2,  # the standard library has tests of wrong syntax
            workers=0,
            invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
        )


def _take_set_id_bits(root: Path) -> None:
    for path in _files(root):
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
            os.chmod(path, stat.S_IMODE(mode) & 0o777)


def _files(root: Path) -> Iterator[str]:
    """Of this file system alone, not of what is mounted in it."""
    device = root.stat().st_dev
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if os.lstat(os.path.join(folder, f)).st_dev == device]
        yield from (os.path.join(folder, name) for name in names)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
