"""The providers `container` and `nested`: boxes in the containers of a Docker engine.

`container`: a program gets a container of its own, taken from a stock of such that wait with
their launcher ready, and destroyed after it. `nested`: long-lived containers, in which the
launcher makes fresh namespaces for each program; recycled after some hundred programs, and
at once after any that had to be killed.

An open provider belongs to one process: it is not to be used by its forks.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from typing import ClassVar

from sandboxes.base import (
    Finding,
    Probe,
    Sandbox,
    SandboxError,
    SandboxSpec,
    SandboxUnavailable,
)
from sandboxes.docker.engine import Engine, require_sdk
from sandboxes.docker.images import Images
from sandboxes.docker.labels import Household
from sandboxes.docker.nets import Nets
from sandboxes.docker.pool import Parts, Pool
from sandboxes.docker.runtimes import runtime_named
from sandboxes.docker.slots import Kind, SlotMaker
from sandboxes.launcher.sandbox import LauncherSandbox
from sandboxes.layout import environment
from sandboxes.mounts import refuse_mounts

IMAGE = "answerkey-sandbox:{runtime}"
_LOOK = "print(open('/proc/self/status').read())"


class DockerProvider:
    """What both levels are. Nothing is asked of the engine before the first box or probe.

    Args:
        runtime: OCI runtime, by the engine's name for it.
        image: template of the images' names.
        most_ready: most containers of one kind that wait for programs.
        most_runs: programs after which a long-lived container is replaced.
        url: where the engine listens; None for `DOCKER_HOST`, or the usual place.
    """

    name: ClassVar[str]
    _namespaces: ClassVar[bool]
    _launcher_pids: ClassVar[int]

    def __init__(
        self,
        *,
        runtime: str = "runc",
        image: str = IMAGE,
        most_ready: int = 4,
        most_runs: int = 500,
        url: str | None = None,
    ) -> None:
        self._runtime_name = runtime
        self._image = image
        self._most_ready = most_ready
        self._most_runs = most_runs
        self._url = url
        self._lock = threading.Lock()
        self._opened: Pool | None = None

    @property
    def isolation(self) -> str:
        """The level of all its boxes."""
        return f"docker+{self._runtime_name}" + ("+namespaces" if self._namespaces else "")

    @property
    def known_gaps(self) -> Mapping[str, str]:
        """Why an attack of the conformance suite is not held, by the attack's name."""
        try:
            return self._pool().known_gaps
        except SandboxError:
            return {}

    def create(self, spec: SandboxSpec) -> Sandbox:
        """See `SandboxProvider`."""
        refuse_mounts(spec, self.name)
        pool = self._pool()
        pool.expect(spec)
        return LauncherSandbox(pool, spec, environment(spec.packages, spec.preload))

    def probe(self) -> Probe:
        """Runs a tiny program in a box and says what holds it."""
        try:
            findings = self._try()
        except SandboxError as error:
            finding = Finding("box", False, error.args[0], error.remedy)
            return Probe(self.name, False, "none", (finding,))
        return Probe(self.name, True, self.isolation, findings)

    def close(self) -> None:
        """Removes all containers. Idempotent."""
        with self._lock:
            pool, self._opened = self._opened, None
        if pool is not None:
            pool.close()

    def _pool(self) -> Pool:
        """Raises SandboxUnavailable: the engine can't be reached, or lacks the runtime."""
        with self._lock:
            if self._opened is None:
                require_sdk()
                self._opened = self._open(Engine(self._url))
            return self._opened

    def _open(self, engine: Engine) -> Pool:
        about, runtime = engine.about(), runtime_named(self._runtime_name)
        if self._runtime_name not in about.runtimes:
            raise SandboxUnavailable(
                f"the engine has no runtime {self._runtime_name}",
                remedy="install it and name it in `runtimes` of /etc/docker/daemon.json, or use "
                f"one of: {', '.join(sorted(about.runtimes))}",
            )
        if self._namespaces and runtime.own_kernel:
            raise SandboxUnavailable(
                f"{self._runtime_name} makes no namespaces that hold anything",
                remedy="use it with the provider `container`",
            )
        kind = Kind(
            self.isolation,
            self._runtime_name,
            runtime,
            self._namespaces,
            runtime.meter(about.cgroup_version),
            self._launcher_pids,
            about.cgroup_version,
            own_users=not about.remaps_users,
        )
        household = Household(engine)
        household.sweep()
        shared = self._namespaces or runtime.own_kernel
        nets = Nets(
            engine, household, "runc" if runtime.own_kernel else kind.runtime_name, shared=shared
        )
        parts = Parts(
            kind,
            Images(engine, self._image),
            household,
            SlotMaker(engine, household, kind),
            nets,
        )
        most_runs = self._most_runs if self._namespaces else 1
        return Pool(parts, most_ready=self._most_ready, most_runs=most_runs)

    def _try(self) -> tuple[Finding, ...]:
        """Findings from a first program."""
        with contextlib.closing(self.create(SandboxSpec())) as box:
            result = box.exec(["python3", "-I", "-S", "-c", _LOOK])
        if result.exit != 0:
            raise SandboxUnavailable(f"a first program in a box went wrong: {result}")
        status = dict(line.partition(":")[::2] for line in result.stdout.decode().splitlines())
        runtime = runtime_named(self._runtime_name)
        own = "the container's own kernel" if runtime.own_kernel else "the container's cgroup"
        pids = "RLIMIT_NPROC in its own user namespace" if self._namespaces else own
        return (
            Finding("box", True, f"a program ran in one, {self.isolation}"),
            Finding("unprivileged", int(status["CapEff"], 16) == 0, "no capabilities"),
            Finding("seccomp", status["Seccomp"].strip() == "2", "the program is filtered"),
            Finding("memory limit", True, "the container's cgroup"),
            Finding("process limit", True, pids),
        )


class ContainerProvider(DockerProvider):
    """A container for each program, from a warm stock."""

    name = "container"
    _namespaces = False
    _launcher_pids = 1


class NestedProvider(DockerProvider):
    """Fresh namespaces for each program, in long-lived containers."""

    name = "nested"
    _namespaces = True
    _launcher_pids = 32


__all__ = ["IMAGE", "ContainerProvider", "NestedProvider"]
