"""What the embedded providers do not hold, by the name of the attack; see `conformance`."""

from __future__ import annotations

from collections.abc import Mapping

_UNCOUNTED = "a watchdog can't see the kernel's memory; no cgroup is writable here"
_ONE_USER = "all boxes have one user's id here, and the kernel counts these by user"
_KERNEL_MEMORY = (
    "memory in socket pairs",
    "memory in TCP connections",
    "memory in UDP sockets",
    "memory in the kernel's books of mappings",
)
_BY_USER = (
    "pipe buffers of all runs together",
    "descriptors in flight of all runs together",
)


def known_gaps(*, cgroup: bool, own_ids: bool) -> Mapping[str, str]:
    """Why each of these attacks is not held.

    Args:
        cgroup: whether a cgroup holds each box.
        own_ids: whether each box has an id of its own on the host.
    """
    gaps = {} if cgroup else dict.fromkeys(_KERNEL_MEMORY, _UNCOUNTED)
    return gaps if own_ids else {**gaps, **dict.fromkeys(_BY_USER, _ONE_USER)}


__all__ = ["known_gaps"]
