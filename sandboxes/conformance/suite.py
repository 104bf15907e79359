"""All attacks, by group."""

from __future__ import annotations

from dataclasses import replace

from sandboxes.conformance.attack import Attack
from sandboxes.conformance.buffers import BUFFER_ATTACKS
from sandboxes.conformance.disk import DISK_ATTACKS
from sandboxes.conformance.durations import TIME_ATTACKS
from sandboxes.conformance.honest import HONEST_PROGRAMS
from sandboxes.conformance.kernel import KERNEL_ATTACKS
from sandboxes.conformance.leftovers import LEFTOVER_ATTACKS
from sandboxes.conformance.lifecycle import LIFECYCLE_ATTACKS
from sandboxes.conformance.memory import MEMORY_ATTACKS
from sandboxes.conformance.neighbours import NEIGHBOUR_ATTACKS
from sandboxes.conformance.network import NETWORK_ATTACKS
from sandboxes.conformance.processes import PROCESS_ATTACKS
from sandboxes.conformance.shared import SHARED_ATTACKS
from sandboxes.conformance.streams import STREAM_ATTACKS
from sandboxes.conformance.view import VIEW_ATTACKS

_GROUPS = {
    "processes": PROCESS_ATTACKS,
    "memory": MEMORY_ATTACKS,
    "kernel memory": BUFFER_ATTACKS,
    "disk": DISK_ATTACKS,
    "time": TIME_ATTACKS,
    "streams": STREAM_ATTACKS,
    "ends": LIFECYCLE_ATTACKS,
    "leftovers": LEFTOVER_ATTACKS,
    "neighbours": NEIGHBOUR_ATTACKS,
    "one user": SHARED_ATTACKS,
    "network": NETWORK_ATTACKS,
    "kernel": KERNEL_ATTACKS,
    "view": VIEW_ATTACKS,
    "honest": HONEST_PROGRAMS,
}
ATTACKS: tuple[Attack, ...] = tuple(
    replace(attack, group=group) for group, attacks in _GROUPS.items() for attack in attacks
)

__all__ = ["ATTACKS"]
