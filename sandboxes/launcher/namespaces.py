"""Fresh namespaces for one run: what a process is in at once when `clone` has made it.

Its own users (one, with the id that we have), processes, mounts, network (a loopback
interface), System V objects, host name and, in view, cgroups. It is the init in there, with
all capabilities over what is in there and none over what is not.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct

from sandboxes.base import MIB
from sandboxes.confinement.kernel import (
    CLONE_NEWCGROUP,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    clone,
    die_with_parent,
    mount,
    set_dumpable,
    write_file,
)
from sandboxes.launcher.messages import Run
from sandboxes.layout import BOX_ID, SHARED_MEMORY, TEMPORARY

# All but users': who has the privilege needs none of those.
ALL_BUT_USERS = (
    CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
)
HOST_NAME = "box"
_SIOCSIFFLAGS, _IFF_UP, _IFF_RUNNING = 0x8914, 0x1, 0x40
USERS_REMEDY = (
    "allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
    "user.max_user_namespaces>0, kernel.apparmor_restrict_unprivileged_userns=0; in a "
    "container, run it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined"
)
# A file takes about 1 KiB of the kernel's memory beside its pages, an empty one too.
_BYTES_PER_INODE = 4096
_ROOM_BYTES = 16 * 1024  # for a laid file's directories and last page


def clone_box() -> int:
    """Clones us into fresh namespaces; 0 in the clone, which must `enter_box` first.

    Raises:
        OSError: the kernel refuses.
    """
    return clone(CLONE_NEWUSER | ALL_BUT_USERS)


def enter_box(outside: tuple[int, int]) -> None:
    """Settles in fresh namespaces.

    Args:
        outside: uid and gid of who made them, which the program has there, too.

    Raises:
        OSError: the kernel refuses.
    """
    set_dumpable(True)  # else our files in /proc are root's
    map_user(BOX_ID, outside)
    set_dumpable(False)
    die_with_parent(signal.SIGKILL)
    os.setpgid(0, 0)  # a group of our own; a session would cost a scheduling group as well
    socket.sethostname(HOST_NAME)
    mount_proc()
    _raise_loopback()


def make_room(run: Run) -> None:
    """Mounts what the run may write to.

    The files that are laid down come on top of `disk_bytes`: their size must never be why a
    program can't start.
    """
    disk_bytes = run.limits.disk_bytes
    laid_bytes = sum(len(content) + _ROOM_BYTES for content in run.files.values())
    _mount_memory(TEMPORARY, disk_bytes + laid_bytes + MIB)
    _mount_memory(SHARED_MEMORY, disk_bytes)


def map_user(user: int, outside: tuple[int, int]) -> None:
    """Names us in the new user namespace that we were cloned into.

    Args:
        user: our uid and gid in it.
        outside: what they are where we come from.
    """
    write_file("/proc/self/setgroups", b"deny")
    for kind, number in zip(("uid", "gid"), outside, strict=True):
        write_file(f"/proc/self/{kind}_map", f"{user} {number} 1".encode())


def mount_proc(root: str = "") -> None:
    """Shows the processes of our PID namespace, and no others, at `/proc` below a directory."""
    mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


def _mount_memory(folder: str, size_bytes: int) -> None:
    inodes = size_bytes // _BYTES_PER_INODE
    options = f"size={size_bytes},nr_inodes={inodes},mode=1777"
    mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, options)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", _IFF_UP | _IFF_RUNNING)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


__all__ = [
    "ALL_BUT_USERS",
    "HOST_NAME",
    "USERS_REMEDY",
    "clone_box",
    "enter_box",
    "make_room",
    "map_user",
    "mount_proc",
]
