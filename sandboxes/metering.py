"""What a run uses and whether that is too much: by its cgroup, or by a watchdog."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import Protocol

from sandboxes.base import ExitReason, Limits
from sandboxes.procfs import ProcessMeter

_CGROUP_CHECK_S = 0.05
_WATCHDOG_CHECK_S = 0.02
_FILE_BYTES = 4096


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


class CgroupFiles:
    """A cgroup's accounts, of version 1 or 2, through files that stay open.

    Args:
        memory, cpu: the group's folders by controller (the same in version 2), each a path
            or a descriptor.

    Raises:
        OSError: they are no such folders, or closed to us.
    """

    def __init__(self, memory: str | int, cpu: str | int) -> None:
        self._files: list[int] = []
        try:
            self._oom = self._open(memory, "memory.oom_control", "memory.events")
            self._memory = self._open(memory, "memory.usage_in_bytes", "memory.current")
            self._cpu = self._open(cpu, "cpuacct.usage", "cpu.stat")
            self._peak: int | None = None
            with contextlib.suppress(FileNotFoundError):  # version 2 before Linux 5.19
                self._peak = self._open(memory, "memory.max_usage_in_bytes", "memory.peak")
        except OSError:
            self.close()
            raise

    def kills_for_memory(self) -> int:
        """How many processes of the group the kernel killed for memory."""
        return _field(_text(self._oom), "oom_kill")

    def memory_bytes(self) -> int:
        """What the group holds now."""
        return int(_text(self._memory))

    def peak_memory_bytes(self) -> int | None:
        """The most it held at once since that was last reset; None: the kernel doesn't say."""
        return None if self._peak is None else int(_text(self._peak))

    def cpu_s(self) -> float:
        """CPU seconds of all its processes, dead ones included."""
        text = _text(self._cpu)
        return int(text) / 1e9 if text.strip().isdigit() else _field(text, "usage_usec") / 1e6

    def close(self) -> None:
        """Closes the files."""
        while self._files:
            os.close(self._files.pop())

    def _open(self, folder: str | int, *names: str) -> int:
        """The first of these files that is there."""
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                flags = os.O_RDONLY | os.O_CLOEXEC
                if isinstance(folder, int):
                    self._files.append(os.open(name, flags, dir_fd=folder))
                else:
                    self._files.append(os.open(os.path.join(folder, name), flags))
                return self._files[-1]
        raise FileNotFoundError(f"a cgroup without {' or '.join(names)}")


class CgroupMeter:
    """The kernel holds the memory limit; a kill for it ends the run, CPU time is added up."""

    check_every_s = _CGROUP_CHECK_S

    def __init__(self, limits: Limits, files: CgroupFiles) -> None:
        self._limits = limits
        self._files = files
        # What was there before the program: its maker's, or earlier programs'.
        self._cpu_s = files.cpu_s()
        self._kills = files.kills_for_memory()
        self._memory_bytes = files.memory_bytes()
        self._peak_bytes = files.peak_memory_bytes()

    def read(self) -> Reading:
        """See `Meter`."""
        cpu_s = self._files.cpu_s() - self._cpu_s
        reason = cpu_reason(cpu_s, self._limits)
        if self._files.kills_for_memory() > self._kills:
            reason = ExitReason.MEMORY_LIMIT
        return Reading(reason, cpu_s, self._peak())

    def _peak(self) -> int | None:
        peak = self._files.peak_memory_bytes()
        if peak is None or self._peak_bytes is None or peak == self._peak_bytes:
            return None  # not known, or an earlier program's
        return max(0, peak - self._memory_bytes)


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
        reason = cpu_reason(cpu_s, self._limits)
        if memory > self._limits.memory_bytes:
            reason = ExitReason.MEMORY_LIMIT
        return Reading(reason, cpu_s, self._processes.peak_memory_bytes)


def cpu_reason(cpu_s: float, limits: Limits) -> ExitReason | None:
    """The limit that so much CPU time hits, if any."""
    over = limits.cpu_s is not None and cpu_s > limits.cpu_s
    return ExitReason.TIME_LIMIT if over else None


def _text(file: int) -> str:
    return os.pread(file, _FILE_BYTES, 0).decode()


def _field(text: str, name: str) -> int:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


__all__ = ["CgroupFiles", "CgroupMeter", "Meter", "Reading", "WatchdogMeter", "cpu_reason"]
