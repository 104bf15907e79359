"""What a run uses and whether that is too much: by its cgroup, or by a watchdog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sandboxes.base import ExitReason, Limits
from sandboxes.embedded.cgroups import Cgroup
from sandboxes.embedded.procfs import ProcessMeter

_CGROUP_CHECK_S = 0.05
_WATCHDOG_CHECK_S = 0.02


@dataclass(frozen=True, slots=True)
class Reading:
    """What was used up to now, and the limit that it hit, if any."""

    reason: ExitReason | None
    cpu_s: float
    memory_bytes: int | None


class Meter(Protocol):
    """Looks at a running box, every `check_every_s` and once more when the program has ended."""

    check_every_s: float

    def read(self) -> Reading:
        """What was used so far."""


class CgroupMeter:
    """The kernel holds the memory limit; a kill for it ends the run, CPU time is added up."""

    check_every_s = _CGROUP_CHECK_S

    def __init__(self, limits: Limits, cgroup: Cgroup) -> None:
        self._limits = limits
        self._cgroup = cgroup
        self._set_up_s = cgroup.cpu_s()  # what bwrap took

    def read(self) -> Reading:
        """See `Meter`."""
        cpu_s = self._cgroup.cpu_s() - self._set_up_s
        reason = _cpu_reason(cpu_s, self._limits)
        if self._cgroup.was_out_of_memory():
            reason = ExitReason.MEMORY_LIMIT
        return Reading(reason, cpu_s, self._cgroup.peak_memory_bytes())


class WatchdogMeter:
    """Nothing holds the total but this."""

    check_every_s = _WATCHDOG_CHECK_S

    def __init__(self, limits: Limits, processes: ProcessMeter) -> None:
        self._limits = limits
        self._processes = processes

    def read(self) -> Reading:
        """See `Meter`."""
        cpu_s = self._processes.cpu_s()
        memory = self._processes.memory_bytes(self._limits.memory_bytes)
        reason = _cpu_reason(cpu_s, self._limits)
        if memory > self._limits.memory_bytes:
            reason = ExitReason.MEMORY_LIMIT
        return Reading(reason, cpu_s, self._processes.peak_memory_bytes)


def _cpu_reason(cpu_s: float, limits: Limits) -> ExitReason | None:
    over = limits.cpu_s is not None and cpu_s > limits.cpu_s
    return ExitReason.TIME_LIMIT if over else None


__all__ = ["CgroupMeter", "Meter", "Reading", "WatchdogMeter"]
