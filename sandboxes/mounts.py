"""Directories of the host that a box shall see, read-only."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from sandboxes.base import SandboxSpec, SandboxUnavailable
from sandboxes.layout import MOUNTS

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def mount_points(mounts: Mapping[str, str]) -> dict[str, str]:
    """The host directories by their paths in the box.

    Args:
        mounts: see `SandboxSpec`.

    Raises:
        ValueError: a name is no plain file name, or a host path is relative.
        SandboxUnavailable: a host path is no directory.
    """
    points = {}
    for name, host in sorted(mounts.items()):
        if not _NAME.fullmatch(name) or not os.path.isabs(host):
            raise ValueError(f"a mount needs a plain name and an absolute path, not {name}={host}")
        if not os.path.isdir(host):
            raise SandboxUnavailable(
                f"the box needs {host}, which is no directory of this host",
                remedy="correct the path, or install what belongs there",
            )
        points[f"{MOUNTS}/{name}"] = os.path.realpath(host)
    return points


def refuse_mounts(spec: SandboxSpec, provider: str) -> None:
    """Raises SandboxUnavailable where a spec has mounts, for providers that can't offer any."""
    if spec.mounts:
        raise SandboxUnavailable(
            f"{provider} boxes can't show directories of the host ({', '.join(spec.mounts)})",
            remedy="use the provider namespaces or bubblewrap for checkers that need them",
        )


__all__ = ["mount_points", "refuse_mounts"]
