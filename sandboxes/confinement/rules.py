"""Which arguments a system call of the list (`syscalls`) may have, as data.

Two filters are made from it: the BPF program that every box loads (`seccomp`) and the profile
of a container, in which the box's launcher runs (`docker.seccomp`).
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass

_NAMESPACES = 0x7E020000  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}
_UNIX, _INET, _INET6 = 1, 2, 10
_STREAM, _DATAGRAM = 1, 2
_IP, _TCP, _UDP = 0, 6, 17
_FILE_TYPE, _FIFO, _REGULAR, _UNTYPED = 0o170000, 0o010000, 0o100000, 0
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423  # terminal input and discipline
_PR_SET_PDEATHSIG = 1  # the box's init must not be made to outlive us
_PRIO_PROCESS, _ITSELF = 0, 0
_RLIMIT_CORE = 4  # a soft limit of 0 would have the host's crash handler started


@dataclass(frozen=True, slots=True)
class Only:
    """The argument, masked, is one of `values`, or the call fails with `error`.

    Arguments are 32 bits wide: so many the kernel looks at in all calls below, but for pointers.
    """

    argument: int
    values: tuple[int, ...]
    error: int = errno.EPERM
    mask: int = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Never:
    """The argument is none of `values`, or the call fails with `error`.

    Attributes:
        unless_null: another argument, a pointer; where that is null the rule holds all the same.
    """

    argument: int
    values: tuple[int, ...]
    error: int = errno.EPERM
    unless_null: int | None = None


Rule = Only | Never

_NODES = (_FIFO, _REGULAR, _UNTYPED)
# The call is allowed where every rule holds; the first that doesn't names the error.
RULES: Mapping[str, tuple[Rule, ...]] = {
    "clone": (Only(0, (0,), mask=_NAMESPACES),),
    "clone3": (Only(0, (), errno.ENOSYS),),  # its flags lie behind a pointer
    "socket": (
        Only(0, (_INET, _INET6), errno.EAFNOSUPPORT),
        Only(1, (_STREAM, _DATAGRAM), errno.EPROTONOSUPPORT, mask=0xFF),
        Only(2, (_IP, _TCP, _UDP), errno.EPROTONOSUPPORT),
    ),
    "socketpair": (Only(0, (_UNIX,), errno.EAFNOSUPPORT),),
    "ioctl": (Never(1, (_TIOCSTI, _TIOCLINUX, _TIOCSETD)),),
    "prctl": (Never(0, (_PR_SET_PDEATHSIG,)),),
    "mknod": (Only(1, _NODES, mask=_FILE_TYPE),),
    "mknodat": (Only(2, _NODES, mask=_FILE_TYPE),),
    # A box's init may have the program's id: it must not be starved or limited by it.
    "prlimit64": (Only(0, (_ITSELF,)), Never(1, (_RLIMIT_CORE,), unless_null=2)),
    "setrlimit": (Never(0, (_RLIMIT_CORE,)),),
    "setpriority": (Only(0, (_PRIO_PROCESS,)), Only(1, (_ITSELF,))),
}

__all__ = ["RULES", "Never", "Only", "Rule"]
