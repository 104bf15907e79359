"""The `Sandbox` of every provider whose places hold a launcher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self

from sandboxes.base import ExecResult, Limits, SandboxSpec
from sandboxes.confinement.limits import check_arguments
from sandboxes.files import check_tree, file_parts, relative_parts
from sandboxes.launcher.messages import Run
from sandboxes.launcher.slot import Slot

_ROOM_BYTES = 16 * 1024  # for a file's directories and last page


class SlotPool(Protocol):
    """Where slots come from. One that is leased is nobody else's until it is given back."""

    isolation: str

    def lease(self, spec: SandboxSpec, limits: Limits, laid_bytes: int) -> Slot:
        """A slot for one program.

        Args:
            spec: of its box.
            limits: of the program.
            laid_bytes: of the files that are written for it, which come on top of
                `disk_bytes`: their size must never be why a program can't run.

        Raises:
            SandboxUnavailable, LimitUnsupported, SandboxBroken: there is none to be had.
        """

    def give_back(self, slot: Slot) -> None:
        """Takes a slot back: for another program, or to destroy it if it is spent."""


class LauncherSandbox:
    """See `Sandbox`. Every program has a slot of its own, kept until the next for `read`."""

    def __init__(self, pool: SlotPool, spec: SandboxSpec, environment: Mapping[str, str]) -> None:
        self._pool = pool
        self._spec = spec
        self._environment = environment
        self._files: dict[str, bytes] = {}
        self._slot: Slot | None = None

    @property
    def isolation(self) -> str:
        """The level really in force."""
        return self._slot.isolation if self._slot else self._pool.isolation

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> ExecResult:
        """See `Sandbox`."""
        limits = limits or self._spec.limits
        relative_parts(cwd)
        variables = {**self._environment, **(env or {})}
        check_arguments(argv, variables)
        run = Run(tuple(argv), cwd, variables, limits, stdin, self._files)
        self.close()
        laid_bytes = sum(len(content) + _ROOM_BYTES for content in self._files.values())
        self._slot = self._pool.lease(self._spec, limits, laid_bytes)
        return self._slot.run(run)

    def write(self, files: Mapping[str, bytes]) -> None:
        """See `Sandbox`."""
        check_tree((*self._files, *files))
        self._files.update(files)

    def read(self, path: str, max_bytes: int) -> bytes:
        """See `Sandbox`."""
        file_parts(path)
        if self._slot is None:
            raise FileNotFoundError("no program has run yet")
        return self._slot.read(path, max_bytes)

    def close(self) -> None:
        """Gives the slot back. Idempotent."""
        if self._slot is not None:
            slot, self._slot = self._slot, None
            self._pool.give_back(slot)


__all__ = ["LauncherSandbox", "SlotPool"]
