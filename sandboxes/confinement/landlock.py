"""What a program may do with files, where the kernel has Landlock: read all, write little.

A second wall behind the read-only mounts, and none is needed where the kernel has no
Landlock. Since ABI 6 it also keeps signals within the box. Source: landlock(7).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence

from sandboxes.confinement.kernel import syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
# How many rights on files each version of the interface knows.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_ALL_RIGHTS = 16
_SCOPES = 3  # no signal and no abstract socket of another domain
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def landlock_version() -> int:
    """Of the kernel's interface; 0 where it has none, or a filter hides it."""
    try:
        return syscall(_CREATE_RULESET, 0, 0, _VERSION)
    except OSError:
        return 0


def restrict_files(version: int, writable: Sequence[str]) -> None:
    """Leaves us reading and starting files anywhere, and writing below some directories.

    Args:
        version: of `landlock_version`, not 0.
        writable: directories.

    Raises:
        OSError: the kernel refuses.
    """
    handled = (1 << _RIGHTS.get(version, _ALL_RIGHTS)) - 1
    attributes = struct.pack("=QQQ", handled, 0, _SCOPES)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = syscall(_CREATE_RULESET, attributes[:size], size, 0)
    try:
        _allow(rules, "/", _EXECUTE | _READ | _LIST)
        for path in writable:
            _allow(rules, path, handled)
        for path in filter(os.path.exists, _DEVICES):
            _allow(rules, path, (_WRITE | _READ | _TRUNCATE | _IOCTL) & handled)
        syscall(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


__all__ = ["landlock_version", "restrict_files"]
