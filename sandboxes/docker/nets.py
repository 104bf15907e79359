"""Empty network namespaces, made once and joined by many containers, one after another.

Half of a container's start is its network, even where it has none. So a container that only
waits holds a namespace with nothing but loopback, and the containers of programs join it. A
program has it for itself: of the containers that have joined it only one is used at a time,
and a net is free again when nothing of a program is alive in it. Programs can't change it:
that takes capabilities that they don't have, and what sockets there were died with them.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from sandboxes.base import MIB
from sandboxes.docker.channel import AttachChannel
from sandboxes.docker.engine import Engine
from sandboxes.docker.labels import Household
from sandboxes.docker.profile import Profile, Resources
from sandboxes.layout import ENVIRONMENT

# Nothing is used for longer than the first of these; containers of owners that can't be seen
# are removed after the second.
USED_FOR_S = 900.0
LIFETIME_S = 2 * 3600.0
# Ends when the engine closes its stdin: when its owner is gone.
_WAIT = ("python3", "-I", "-S", "-c", "import sys; sys.stdin.buffer.read()")
_RESOURCES = Resources(memory_bytes=32 * MIB, pids=4, cpus=0.1)


@dataclass(eq=False, slots=True)
class Net:
    """One namespace.

    Attributes:
        name: of the container that holds it.
        channel: keeps that alive.
        made_at: `time.monotonic()`.
        users: containers that have joined it.
        is_taken: whether one of them is in use.
    """

    name: str
    channel: AttachChannel
    made_at: float
    users: int = 0
    is_taken: bool = False

    @property
    def is_young(self) -> bool:
        """Whether it may still be joined."""
        return time.monotonic() - self.made_at < USED_FOR_S


class Nets:
    """The namespaces of one provider.

    Args:
        engine, household: where and whose they are.
        runtime: of the containers that hold them.
        shared: whether programs may use one at the same time, since each has a network of its
            own within it.
    """

    def __init__(self, engine: Engine, household: Household, runtime: str, *, shared: bool) -> None:
        self._engine = engine
        self._household = household
        self._runtime = runtime
        self._shared = shared
        self._lock = threading.Lock()
        self._nets: list[Net] = []

    def make(self, image: str) -> None:
        """Adds a namespace. Raises SandboxError: it can't be made; nothing is left."""
        name = self._household.new_name()
        profile = Profile(image, _WAIT, self._runtime, _RESOURCES, MIB)
        channel = None
        try:
            variables = {"PATH": ENVIRONMENT["PATH"]}
            labels = self._household.labels(LIFETIME_S)
            self._engine.create(name, profile.body(variables, labels))
            channel = self._engine.attach(name)
            self._engine.start(name)
        except BaseException:
            if channel is not None:
                channel.close()
            self._household.remove(name)
            raise
        with self._lock:
            self._nets.append(Net(name, channel, time.monotonic()))

    def wanted(self, programs: int) -> bool:
        """Whether so many programs at once need one more."""
        with self._lock:
            young = sum(net.is_young for net in self._nets)
        return young < (1 if self._shared else programs)

    def join(self, *, take: bool) -> Net | None:
        """The namespace that the next container is to join; None: there is none.

        Args:
            take: for use at once, so it must be free.
        """
        with self._lock:
            fit = [n for n in self._nets if n.is_young and not (take and self._is_busy(n))]
            if not fit:
                return None
            net = min(fit, key=lambda n: n.users)
            net.users += 1
            net.is_taken = net.is_taken or take
            return net

    def take(self, net: Net) -> bool:
        """Takes a namespace for a container that has joined it; False: it is in use."""
        with self._lock:
            if self._is_busy(net):
                return False
            net.is_taken = True
            return True

    def free(self, net: Net) -> None:
        """Nothing of a program is alive in it any more."""
        with self._lock:
            net.is_taken = False

    def leave(self, net: Net) -> None:
        """A container that had joined it is gone."""
        with self._lock:
            net.users -= 1

    def trim(self, *, idle: bool) -> None:
        """Removes those that died or are old; where nothing is going on, all that aren't used."""
        with self._lock:
            unused = [n for n in self._nets if not n.users and (idle or not n.is_young)]
            gone = [n for n in self._nets if n in unused or n.channel.is_broken()]
            self._nets = [n for n in self._nets if n not in gone]
        self._remove(gone)

    def close(self) -> None:
        """Removes all."""
        with self._lock:
            gone, self._nets = self._nets, []
        self._remove(gone)

    def _is_busy(self, net: Net) -> bool:
        return net.is_taken and not self._shared

    def _remove(self, nets: list[Net]) -> None:
        for net in nets:
            net.channel.close()
            self._household.remove(net.name)


__all__ = ["LIFETIME_S", "USED_FOR_S", "Net", "Nets"]
