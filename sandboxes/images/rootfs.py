"""Images unpacked: the root file systems of boxes that no container engine makes.

They lie in a cache, each in a directory of its own under a name that is never used again, for
boxes may be running from an older one. A link names the one in use.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandboxes.base import SandboxUnavailable
from sandboxes.images.contents import STAMP, Stamp
from sandboxes.images.errors import ImageError

_ROOTS_CACHE = Path("/var/cache")  # a box's user must be able to pass; not through root's home


def cache_folder() -> Path:
    """Where unpacked images lie."""
    named = os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named, "answerkey", "rootfs")
    home = _ROOTS_CACHE if os.geteuid() == 0 else Path.home() / ".cache"
    return home / "answerkey" / "rootfs"


def rootfs(runtime: str) -> Path:
    """The root file system for boxes of a runtime.

    Raises:
        SandboxUnavailable: there is none, or one with an older launcher; says the remedy.
    """
    remedy = f"run `verifier-server sandbox build {runtime} --export`"
    link = cache_folder() / runtime
    if not link.exists():
        raise SandboxUnavailable(f"no file system for {runtime} boxes at {link}", remedy=remedy)
    folder = link.resolve()
    stamp = read_stamp(folder)
    if stamp is None or not stamp.is_current:
        why = "has an older launcher" if stamp else "is incomplete"
        raise SandboxUnavailable(f"the file system for {runtime} boxes {why}", remedy=remedy)
    return folder


def read_stamp(folder: Path) -> Stamp | None:
    """What an unpacked image says of itself; None if it says nothing that makes sense."""
    try:
        return Stamp.of_file((folder / STAMP.lstrip("/")).read_text())
    except (OSError, ValueError, TypeError, KeyError):
        return None


@contextmanager
def new_rootfs(runtime: str) -> Iterator[Path]:
    """An empty directory to fill; when that is done, it is the runtime's file system."""
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"{runtime}-{secrets.token_hex(6)}"
    folder.mkdir()
    for each in (cache.parent, cache, folder):
        each.chmod(0o755)  # whatever the umask
    link = folder.with_suffix(".new")
    try:
        yield folder
        link.symlink_to(folder.name)
        link.rename(cache / runtime)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def unpack(tar: Iterable[bytes], folder: Path) -> None:
    """Unpacks an exported image, without device nodes, all of it ours.

    Raises:
        ImageError: tar(1) fails: no space, no right.
    """
    command = ["tar", "-x", "-p", "--no-same-owner", "--exclude=dev/*", "--exclude=.dockerenv"]
    command += ["-C", str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    try:
        for piece in tar:
            process.stdin.write(piece)
    except BrokenPipeError:
        pass  # tar says why
    finally:
        _, said = process.communicate()
    if process.returncode:
        raise ImageError(f"{folder} can't be filled: {said.decode(errors='replace').strip()}")


def remove_replaced() -> int:
    """Removes unpacked images that newer ones have replaced and no box runs from; says how many."""
    used = {entry.resolve() for entry in _entries() if entry.is_symlink()}
    return _remove([e for e in _entries() if not e.is_symlink() and e.resolve() not in used])


def remove_all() -> int:
    """Removes every unpacked image that no box runs from; says how many."""
    for entry in _entries():
        if entry.is_symlink():
            entry.unlink()
    return remove_replaced()


def _entries() -> list[Path]:
    cache = cache_folder()
    return list(cache.iterdir()) if cache.is_dir() else []


def _remove(folders: Iterable[Path]) -> int:
    mounts = _mounts_of_all()
    unused = [folder for folder in folders if folder.name not in mounts]
    for folder in unused:
        shutil.rmtree(folder, ignore_errors=True)
    return len(unused)


def _mounts_of_all() -> str:
    """What every process has mounted: a root file system is named there while a box has it."""
    mounts: list[str] = []
    for path in Path("/proc").glob("[0-9]*/mountinfo"):
        with suppress(OSError):  # it ended, or is another user's
            mounts.append(path.read_text(errors="replace"))
    return "".join(mounts)


__all__ = [
    "cache_folder",
    "new_rootfs",
    "read_stamp",
    "remove_all",
    "remove_replaced",
    "rootfs",
    "unpack",
]
