"""Root file systems on the host, filled file by file: all in them is open to all to read."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterable
from pathlib import Path


def lay(root: Path, contents: Iterable[tuple[str, bytes]]) -> None:
    """Writes files, by their absolute paths below `root`."""
    for path, content in contents:
        target = _place(root, path)
        target.write_bytes(content)
        target.chmod(0o644)


def copy(root: Path, source: str, path: str) -> None:
    """Copies a host's file, of a link what it leads to, to an absolute path below `root`."""
    target = _place(root, path)
    shutil.copyfile(source, target)
    target.chmod(0o755 if Path(source).stat().st_mode & stat.S_IXUSR else 0o644)


def make_folders(folder: Path, root: Path) -> None:
    """A directory and those above it, open whatever the umask, and whatever the host's are."""
    if folder != root and not folder.is_dir():
        make_folders(folder.parent, root)
        folder.mkdir()
        folder.chmod(0o755)


def _place(root: Path, path: str) -> Path:
    target = root / path.lstrip("/")
    make_folders(target.parent, root)
    return target


__all__ = ["copy", "lay", "make_folders"]
