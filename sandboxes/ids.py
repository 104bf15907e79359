"""An id on the host for each box alone.

The kernel counts some things by user and across all namespaces: pages in pipes, descriptors
in flight between sockets, pending signals and timers. Boxes that share a user could take them
from one another. Sources: pipe(7), unix(7), getrlimit(2).
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from sandboxes.layout import BOX_ID

# Above what systemd and container engines assign, below 2^31. Unlike a number that two
# processes would have to agree on, a pid is one process's alone.
FIRST_ID = 1_900_000_000
_FIRST_OF_BOXES = FIRST_ID + BOX_ID + 1
_AT_ONCE, _PIDS = 32, 1 << 22
_numbers = itertools.count()


def new_host_id() -> int:
    """Uid and gid on the host for a new box: nobody's, and no other living box's.

    One process's boxes begin to share when more than 32 of them live at once. Where this
    namespace has too few ids, all boxes share one.
    """
    number = _FIRST_OF_BOXES + os.getpid() % _PIDS * _AT_ONCE + next(_numbers) % _AT_ONCE
    return number if is_mapped(number) else BOX_ID


def has_own_ids() -> bool:
    """Whether this namespace has ids enough for boxes not to share one."""
    return is_mapped(_FIRST_OF_BOXES)


def is_mapped(number: int) -> bool:
    """Whether a uid and a gid of this number can be taken in our user namespace."""
    maps = (Path(f"/proc/self/{kind}").read_text().splitlines() for kind in ("uid_map", "gid_map"))
    return all(any(_covers(row, number) for row in rows) for rows in maps)


def _covers(row: str, number: int) -> bool:
    first, _, count = map(int, row.split())
    return first <= number < first + count


__all__ = ["FIRST_ID", "has_own_ids", "is_mapped", "new_host_id"]
