"""The `oci` provider: single-use containers made by crun or runc, with no daemon.

As root only. What an ordinary user lacks is a memory cgroup: a runtime would start his
containers without the limit, and a limit that is dropped in silence is none. The kernel is
shared with the host; a runtime's bug is the host's risk, as with Docker.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from sandboxes.base import (
    Finding,
    Probe,
    Sandbox,
    SandboxBroken,
    SandboxError,
    SandboxSpec,
    SandboxUnavailable,
)
from sandboxes.launcher.sandbox import LauncherSandbox
from sandboxes.layout import environment
from sandboxes.mounts import refuse_mounts
from sandboxes.oci.host import Host
from sandboxes.oci.stock import usual_bound

_RUNTIMES = ("python", "c", "cpp", "node", "java", "go", "rust", "bash")


class OciProvider:
    """Boxes that are containers of their own, made by an OCI runtime.

    Args:
        runtime: `crun` or `runc`; None for the first of these that works here.
        bound: how many containers wait at most.
    """

    name = "oci"

    def __init__(self, runtime: str | None = None, bound: int | None = None) -> None:
        self._asked = runtime
        self._bound = usual_bound() if bound is None else bound
        self._host: Host | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def probe(self) -> Probe:
        """See `SandboxProvider`: runs a tiny program in a container."""
        try:
            host = self._open()
            with self.create(SandboxSpec()) as box:
                result = box.exec(["python3", "-c", "print('ran')"])
            if result.stdout != b"ran\n":
                raise SandboxBroken(f"a program ended by {result.reason} ({result.stderr!r})")
        except SandboxError as error:
            finding = Finding("box", False, str(error.args[0]), error.remedy)
            return Probe(self.name, False, "none", (finding,))
        return Probe(self.name, True, host.isolation, tuple(host.findings()))

    def create(self, spec: SandboxSpec) -> Sandbox:
        """See `SandboxProvider`."""
        if spec.runtime not in _RUNTIMES:
            raise SandboxUnavailable(
                f"no {spec.runtime} in containers", remedy=f"use one of: {', '.join(_RUNTIMES)}"
            )
        refuse_mounts(spec, self.name)
        return LauncherSandbox(self._open().stock, spec, environment(spec.packages))

    def close(self) -> None:
        """See `SandboxProvider`."""
        with self._lock:
            host, self._host = self._host, None
        if host is not None:
            host.close()

    def _open(self) -> Host:
        with self._lock:
            if self._host is None:
                self._host = Host(self._asked, self._bound)
            return self._host


__all__ = ["OciProvider"]
