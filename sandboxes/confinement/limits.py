"""What a `Limits` means to the kernel, and which arguments it can take at all."""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Mapping, Sequence

from sandboxes.base import MIB, Limits

# The kernel's own: 128 KiB for one, 2 MiB for all.
_LONGEST_ARGUMENT_BYTES = 100_000
_LONGEST_ARGUMENTS_BYTES = 1_000_000
# No core file is that small; and where the host pipes cores to a program of its own, run as
# root, the kernel takes 1, and not 0, as a word not to start it (fs/coredump.c).
CORE_BYTES = 1
# And timers, of which each has a signal; what all boxes have together is counted by who made
# their user namespaces.
_PENDING_SIGNALS = 1024


def rlimits(limits: Limits, *, per_process_memory: bool) -> dict[int, int]:
    """The rlimits of the box's program, by `resource.RLIMIT_*`.

    Args:
        limits: of the run.
        per_process_memory: bound each process's private memory too, with room to spare: what
            it may take between two looks of a watchdog. Not its address space, of which many
            an honest program reserves far more than it uses.
    """
    values = {
        resource.RLIMIT_NPROC: limits.pids + 1,  # the box's init counts where it is our user's
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_CORE: CORE_BYTES,
        resource.RLIMIT_MEMLOCK: MIB,
        resource.RLIMIT_SIGPENDING: _PENDING_SIGNALS,
    }
    if limits.cpu_s is not None:  # the kernel's part; a meter adds the processes up
        values[resource.RLIMIT_CPU] = math.ceil(limits.cpu_s) + 1
    if per_process_memory:
        values[resource.RLIMIT_DATA] = 2 * limits.memory_bytes + 512 * MIB
    return values


def check_arguments(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Refuses what no kernel would run.

    Raises:
        ValueError: nothing to run, a NUL, a variable without a proper name, or too long.
    """
    texts = [*argv, *(f"{name}={value}" for name, value in env.items())]
    sizes = [len(os.fsencode(text)) for text in texts]
    if not argv or not argv[0]:
        raise ValueError("no program to run")
    if any("\0" in text for text in texts) or any(not name or "=" in name for name in env):
        raise ValueError("a NUL in an argument, or a variable without a proper name")
    if max(sizes) > _LONGEST_ARGUMENT_BYTES or sum(sizes) > _LONGEST_ARGUMENTS_BYTES:
        raise ValueError("arguments too long for any program; write them to a file")


__all__ = ["CORE_BYTES", "check_arguments", "rlimits"]
