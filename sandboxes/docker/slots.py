"""Makes slots: a container, the launcher in it, the stream to that."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sandboxes.base import (
    MIB,
    ExecResult,
    ExitReason,
    Limits,
    LimitUnsupported,
    SandboxBroken,
    SandboxError,
    SandboxSpec,
)
from sandboxes.docker.channel import AttachChannel
from sandboxes.docker.engine import Engine
from sandboxes.docker.labels import Household
from sandboxes.docker.nets import LIFETIME_S, Net
from sandboxes.docker.profile import Profile, Resources
from sandboxes.docker.runtimes import Runtime
from sandboxes.ids import new_host_id
from sandboxes.launcher.messages import Run, Setup
from sandboxes.launcher.slot import Slot
from sandboxes.layout import BOX_ID, ENVIRONMENT, LAUNCHER, environment

_COMMAND = ("python3", "-I", LAUNCHER)
# What is to be forked as programs' interpreter starts as that does, with its variables.
_WARM_COMMAND = ("python3", LAUNCHER)
_VARIABLES = {name: ENVIRONMENT[name] for name in ("PATH", "LANG", "PYTHONDONTWRITEBYTECODE")}
# What a launcher is thought to hold, until the first of a kind has said.
_LAUNCHER_BYTES = 64 * MIB
# Room for files on top of `disk_bytes`, in steps, so that most boxes are of one kind.
_LAID_BYTES = 2 * MIB
_SLOT_DISK_BYTES = MIB
# For dying after the stream has ended.
_DEATH_S = 10.0
_KILLED = 137
_FEW_USERS = "the engine maps ids to few others, so all containers have one user"
_COUNTED_BY_USER = (
    "pipe buffers of all runs together",
    "descriptors in flight of all runs together",
)


@dataclass(frozen=True, slots=True)
class Order:
    """What can't be changed in a container once it is made.

    Attributes:
        image: id of its image.
        disk_bytes: of each of its tmpfs.
        preload: modules of its warm interpreter.
        packages: what that can import beside the standard library.
        resources: where the runtime can't change them, else None.
    """

    image: str
    disk_bytes: int
    preload: tuple[str, ...]
    packages: tuple[str, ...]
    resources: Resources | None


@dataclass(frozen=True, slots=True)
class Kind:
    """What all slots of a provider have in common.

    Attributes:
        isolation: for the verdict.
        runtime_name: as the engine knows it.
        runtime: what that is like.
        namespaces: whether launchers make them, see `Setup`.
        meter: see `Setup`.
        cgroup_version: of the engine's host.
        launcher_pids: processes that a launcher needs beside the program's.
        own_users: whether each container has a user of its own, whom the kernel counts apart.
    """

    isolation: str
    runtime_name: str
    runtime: Runtime
    namespaces: bool
    meter: Mapping[str, str | int]
    launcher_pids: int
    cgroup_version: str
    own_users: bool = True

    @property
    def known_gaps(self) -> Mapping[str, str]:
        """Why an attack is not held, by the attack's name."""
        gaps = dict(self.runtime.gaps)
        if self.cgroup_version == "1":
            gaps |= self.runtime.version_1_gaps
        if not self.own_users:
            gaps |= dict.fromkeys(_COUNTED_BY_USER, _FEW_USERS)
        return gaps

    def order(self, image: str, spec: SandboxSpec, limits: Limits, laid_bytes: int) -> Order:
        """For a program with these limits, into whose box so much is written."""
        # Whoever makes namespaces makes the file system in them, too.
        disk_bytes = _SLOT_DISK_BYTES if self.namespaces else limits.disk_bytes + _room(laid_bytes)
        resources = None
        if not self.runtime.updates:
            resources = self.resources(limits, _LAUNCHER_BYTES + 2 * _room(laid_bytes))
        packages = spec.packages if spec.preload else ()
        return Order(image, disk_bytes, spec.preload, packages, resources)

    def resources(self, limits: Limits, launcher_bytes: int = _LAUNCHER_BYTES) -> Resources:
        """For a program with these limits."""
        resources = self.runtime.resources(limits, launcher_bytes, self.launcher_pids)
        if self.cgroup_version != "1" or self.runtime.own_kernel:
            return resources
        return replace(resources, socket_bytes=resources.memory_bytes // 4)


class ContainerPlace:
    """See `Place`."""

    def __init__(
        self, engine: Engine, household: Household, kind: Kind, name: str, resources: Resources
    ) -> None:
        self.isolation = kind.isolation
        self.resources = resources
        self._engine = engine
        self._household = household
        self._kind = kind
        self._name = name

    def limit(self, limits: Limits, own_memory_bytes: int) -> None:
        """See `Place`."""
        wanted = self._kind.resources(limits, own_memory_bytes)
        if not self._kind.runtime.updates:
            if wanted.memory_bytes > self.resources.memory_bytes:
                raise LimitUnsupported(f"{self.isolation}: no room for so much input and output")
        elif wanted != self.resources:
            self._engine.update(self._name, wanted)
            self.resources = wanted

    def autopsy(self) -> ExitReason | None:
        """See `Place`.

        Raises:
            SandboxError: the engine doesn't say how it ended.
        """
        own_kernel = self._kind.runtime.own_kernel
        try:
            death = self._engine.death(self._name, _DEATH_S)
        except SandboxBroken:
            # That kernel keeps no program from stopping its launcher.
            if own_kernel and self._engine.is_running(self._name):
                return ExitReason.TIME_LIMIT
            raise
        if death.out_of_memory:
            return ExitReason.MEMORY_LIMIT
        # A kernel of its own dies whole for memory, and not always is that told; nor does it
        # keep a program from killing its launcher. Neither is a failure of ours.
        if own_kernel and not death.asked_for:
            return ExitReason.MEMORY_LIMIT if death.exit == _KILLED else ExitReason.SIGNALLED
        return None

    def destroy(self) -> None:
        """See `Place`. What can't be removed now is swept later."""
        with contextlib.suppress(SandboxError):
            self._household.remove(self._name)


class ContainerSlot(Slot):
    """A slot in a container.

    Attributes:
        order: what it was made for.
        net: whose network namespace it has joined, if it has.
        made_at: `time.monotonic()`.
        is_quiet: nothing but its launcher is alive in it.
    """

    def __init__(
        self, place: ContainerPlace, channel: AttachChannel, setup: Setup, order: Order
    ) -> None:
        super().__init__(place, channel, setup)
        self._container = place
        self._stream = channel
        self.order = order
        self.net: Net | None = None
        self.made_at = time.monotonic()
        self.is_quiet = True

    @property
    def resources(self) -> Resources:
        """What its container may use now."""
        return self._container.resources

    def is_alive(self) -> bool:
        """Whether its launcher still listens, as far as is known."""
        return not self._stream.is_broken()

    def run(self, run: Run) -> ExecResult:
        """See `Slot`. Where it returns, all that the program left is dead."""
        self.is_quiet = False
        result = super().run(run)
        self.is_quiet = True
        return result


class SlotMaker:
    """Makes the slots of one provider."""

    def __init__(self, engine: Engine, household: Household, kind: Kind) -> None:
        self._engine = engine
        self._household = household
        self._kind = kind

    def make(self, order: Order, resources: Resources, net: Net | None) -> ContainerSlot:
        """A slot whose launcher is ready.

        Raises:
            SandboxError: it can't be made; nothing is left.
        """
        kind, engine = self._kind, self._engine
        profile = Profile(
            order.image,
            _WARM_COMMAND if order.preload else _COMMAND,
            kind.runtime_name,
            order.resources or resources,
            order.disk_bytes,
            slot=kind.namespaces,
            user=new_host_id() if kind.own_users else BOX_ID,
        )
        if net is not None:
            profile = profile.joining(net.name)
        variables = environment(order.packages, order.preload) if order.preload else _VARIABLES
        name = self._household.new_name()
        place = ContainerPlace(engine, self._household, kind, name, profile.resources)
        try:
            engine.create(name, profile.body(variables, self._household.labels(LIFETIME_S)))
            channel = engine.attach(name)
        except BaseException:
            place.destroy()
            raise
        try:
            engine.start(name)
        except BaseException:
            channel.close()
            place.destroy()
            raise
        own_kernel = kind.runtime.own_kernel
        setup = Setup(kind.namespaces, kind.meter, order.preload, own_kernel)
        slot = ContainerSlot(place, channel, setup, order)
        slot.net = net
        return slot


def _room(laid_bytes: int) -> int:
    return (laid_bytes // _LAID_BYTES + 1) * _LAID_BYTES


__all__ = ["ContainerSlot", "Kind", "Order", "SlotMaker"]
