"""A box's file system as options of bwrap(1)."""

from __future__ import annotations

from collections.abc import Iterable

from sandboxes.embedded.rootfs import Entry, Kind
from sandboxes.layout import SHARED_MEMORY, TEMPORARY, WORK


def mount_options(entries: Iterable[Entry]) -> tuple[str, ...]:
    """The options for all that is read-only."""
    return tuple(option for entry in entries for option in _options(entry))


def writable_options(disk_bytes: int, laid_bytes: int) -> tuple[str, ...]:
    """The options for the writable part, and for closing all the rest.

    The files that are laid down come on top of `disk_bytes`: their size must never be why a
    box can't start. A tmpfs without a size, or a root left writable, is memory without limit.
    """
    size = str(disk_bytes + laid_bytes + (1 << 20))
    return (
        *("--perms", "1777", "--size", size, "--tmpfs", TEMPORARY),
        *("--perms", "1777", "--size", str(disk_bytes), "--tmpfs", SHARED_MEMORY),
        *("--perms", "0755", "--dir", WORK),
        *("--remount-ro", "/", "--chdir", WORK),
    )


def _options(entry: Entry) -> tuple[str, ...]:
    match entry.kind:
        case Kind.FOLDER:
            return ("--perms", "0755", "--dir", entry.path)
        case Kind.BIND:
            return ("--ro-bind", entry.source, entry.path)
        case Kind.DEVICE:
            return ("--dev-bind", entry.source, entry.path)
        case Kind.LINK:
            return ("--symlink", entry.source, entry.path)
        case Kind.COVER:
            cover = ("--perms", "0755", "--size", "4096", "--tmpfs", entry.path)
            return (*cover, "--remount-ro", entry.path)


__all__ = ["mount_options", "writable_options"]
