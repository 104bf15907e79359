"""The sandbox protocol: disposable boxes that run hostile programs under limits.

This package knows nothing of checkers or verdicts. A provider makes boxes; a box takes
files, runs programs (argv lists and bytes, never shell strings) and dies whole. What a host
can't enforce is refused when the box is created, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Protocol, Self

MIB = 1 << 20


class SandboxError(Exception):
    """A failure of the sandbox, never of the program in it. `remedy` says what to do."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} ({self.remedy})" if self.remedy else message


class SandboxUnavailable(SandboxError):
    """This host can't run this provider at all."""


class LimitUnsupported(SandboxError):
    """The spec asks for a limit that this host can't enforce."""


class SandboxBroken(SandboxError):
    """The box failed while in use (its set-up died, its engine went away)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use. Each is enforced or the box is refused.

    Attributes:
        time_s: wall-clock seconds from the program's start until it is killed.
        cpu_s: CPU seconds over all its processes; None for no limit apart from `time_s`.
        memory_bytes: memory of all its processes together.
        output_bytes: of stdout and of stderr, each.
        disk_bytes: of the writable file system.
        file_bytes: of one file.
        pids: processes and threads alive at once.
        open_files: descriptors in one process.
    """

    time_s: float = 10.0
    cpu_s: float | None = None
    memory_bytes: int = 512 * MIB
    output_bytes: int = 16 * MIB
    disk_bytes: int = 64 * MIB
    file_bytes: int = 32 * MIB
    pids: int = 64
    open_files: int = 256


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What a box must offer.

    Attributes:
        limits: defaults of its programs.
        runtime: the tool chain that must be on its PATH ("python": `python3`).
        packages: distributions that its `python3` must be able to import, beside the standard
            library. Each by name: what they require is not added.
        preload: modules that a `python3` program may find imported already; a hint, which
            spares it the time where a provider keeps warm interpreters.
        mounts: host directories that it must show, read-only, by the names that they have below
            `layout.MOUNTS`. Trusted configuration, never taken from a request.
        allow_weak: accept a box that can't enforce `memory_bytes` over all processes
            together (only per process); `Sandbox.isolation` then says so.
    """

    limits: Limits = field(default_factory=Limits)
    runtime: str = "python"
    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    mounts: Mapping[str, str] = field(default_factory=dict)
    allow_weak: bool = False


class ExitReason(StrEnum):
    """Why a program ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """What a program used; None where this host can't measure it."""

    wall_s: float
    cpu_s: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ExecResult:
    """How a program ended and what it wrote.

    Attributes:
        reason: why it ended. A limit that was hit wins over the exit status: a program
            whose child was killed for memory reports MEMORY_LIMIT though it exited 0.
        exit: exit status if it exited, else None.
        signal: number of the signal that ended it, else None.
        stdout, stderr: what it wrote, up to `output_bytes` each.
        truncated: whether either stream was cut.
        usage: what it used.
    """

    reason: ExitReason
    exit: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    truncated: bool
    usage: ResourceUsage


class Sandbox(Protocol):
    """One disposable box. Every `exec` runs in fresh namespaces over the written files."""

    @property
    def isolation(self) -> str:
        """The level really in force, for the verdict (`bubblewrap`, `docker+runc`…)."""

    def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> ExecResult:
        """Runs a program to its end and kills what it left behind.

        Args:
            argv: program (looked up on the box's PATH; exit status 127 if it is not there,
                126 if it can't be run) and arguments.
            stdin: fed concurrently with reading; unread input is no error.
            cwd: relative to the box's work directory.
            env: added to the box's minimal environment.
            limits: instead of the spec's.

        Raises:
            SandboxBroken: the box failed; nothing is known about the program.
            LimitUnsupported: `limits` asks for what this host can't enforce.
            ValueError: `cwd` leaves the work directory, or an argument that no kernel takes
                (a NUL, 100 kB); large input belongs into a file or stdin.
        """

    def write(self, files: Mapping[str, bytes]) -> None:
        """Puts files, executable ones, at paths relative to the work directory.

        Every later program finds them there as written, whatever an earlier one did to them.

        Raises:
            ValueError: a path is absolute or leaves the work directory.
        """

    def read(self, path: str, max_bytes: int) -> bytes:
        """A regular file that the last program left, without following links.

        Raises:
            FileNotFoundError: there is none, or it is no regular file.
            ValueError: it is larger than `max_bytes`, or `path` leaves the directory.
        """

    def close(self) -> None:
        """Kills and removes all. Idempotent."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a host can or can't do. `remedy` says how to gain it."""

    what: str
    ok: bool
    detail: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a provider found on this host, by trying."""

    provider: str
    available: bool
    isolation: str
    findings: tuple[Finding, ...] = ()


class SandboxProvider(Protocol):
    """Makes boxes of one kind."""

    name: str

    def probe(self) -> Probe:
        """Tries what this host can enforce. Never raises for a host that can't."""

    def create(self, spec: SandboxSpec) -> Sandbox:
        """A new box.

        Raises:
            SandboxUnavailable: this host can't run this provider; says why and the remedy.
            LimitUnsupported: a limit of the spec can't be enforced here.
        """

    def close(self) -> None:
        """Frees what the provider holds (pools). Idempotent."""
