"""How bwrap is told to make a box: what is the same for every run here, and what is not."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandboxes.ids import new_host_id
from sandboxes.layout import BOX_ID, WORK

# bwrap starts this line as the program; `box` says why.
_GATE = 'echo; read _ && cd "$0" && unset OLDPWD && exec "$@"'
_BASE_OPTIONS = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--hostname", "box", "--die-with-parent", "--new-session"),
)
_SETPRIV_OPTIONS = ("--clear-groups", "--inh-caps=-all", "--ambient-caps=-all", "--")
_USERNS_REMEDY = (
    "allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
    "user.max_user_namespaces>0, kernel.apparmor_restrict_unprivileged_userns=0; in a "
    "container, run it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
)
_REMEDIES = {
    "No permissions to create": _USERNS_REMEDY,
    "Creating new namespace failed": _USERNS_REMEDY,
    "setting up uid map": _USERNS_REMEDY,
    "Can't mount proc": "in a container, run it with --security-opt systempaths=unconfined",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is the same for every box on this host.

    Attributes:
        bwrap: path of the binary.
        mounts: its options for the fixed part of the file system.
        seccomp: the filter program.
        setpriv: path of setpriv(1) if we are root, else None.
    """

    bwrap: str
    mounts: tuple[str, ...]
    seccomp: bytes
    setpriv: str | None

    def new_owner(self) -> int | None:
        """Uid and gid of a new box's program, and of what is laid down for it; None for ours."""
        return new_host_id() if self.setpriv else None

    def command(self, argv: Sequence[str], cwd: str, owner: int | None) -> list[str]:
        """What bwrap starts in the box for a program, as that owner."""
        gate = ["/bin/sh", "-c", _GATE, f"{WORK}/{cwd}", *argv]
        if self.setpriv is None:
            return gate
        return [self.setpriv, f"--reuid={owner}", f"--regid={owner}", *_SETPRIV_OPTIONS, *gate]

    def options(
        self,
        env: Mapping[str, str],
        mounts: Sequence[str],
        *,
        info: int,
        seccomp: int,
        hold: int,
    ) -> bytes:
        """The options for one run, as `bwrap --args` reads them.

        Args:
            env: the whole environment of the program.
            mounts: options for the part of the file system that is this run's.
            info: where bwrap writes the pid of the box's init.
            seccomp: the filter, to be read.
            hold: as root, where bwrap waits for the id maps.
        """
        options = ["--info-fd", str(info), "--seccomp", str(seccomp), *_BASE_OPTIONS]
        if self.setpriv:
            # A byte each for bwrap's parent and for its child, which closes it.
            options += ["--userns-block-fd", str(hold), "--block-fd", str(hold)]
            options += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        else:
            options += ["--uid", str(BOX_ID), "--gid", str(BOX_ID)]
        # Nothing in there is a program's to write, its own entries neither.
        options += [*self.mounts, "--proc", "/proc", "--remount-ro", "/proc", *mounts]
        for name, value in env.items():
            options += ["--setenv", name, value]
        return b"".join(os.fsencode(option) + b"\0" for option in options)


def set_up_remedy(said: str) -> str:
    """What to do about an error message of bwrap's."""
    for words, remedy in _REMEDIES.items():
        if words in said:
            return remedy
    return ""


__all__ = ["Recipe", "set_up_remedy"]
