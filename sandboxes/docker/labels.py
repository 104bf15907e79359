"""Whose a container is, and its removal when that one is dead.

An owner that is killed takes its containers with it: the engine closes their stdin when the
attached client is gone, and the launcher ends. What is left are dead containers, and those
whose engine was away at that moment; whoever has a provider open removes them. Containers of
owners that can't be seen from here (another host's, another container's) are removed at
their deadline, which is far beyond the time that any is used.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from sandboxes.base import SandboxError
from sandboxes.docker.engine import Engine
from sandboxes.owner import is_orphaned, is_seen, owner_mark

OWNER = "answerkey.owner"
_HOST = "answerkey.host"
_HOUSEHOLD = "answerkey.household"
_UNTIL = "answerkey.until"  # seconds since 1970
_PREFIX = "answerkey-"


class Household:
    """The containers of one provider of this process.

    Attributes:
        is_behind: something of ours could not be removed when it should have been.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._mark = owner_mark()
        self._token = secrets.token_hex(8)
        # A PID namespace's number says nothing on another host, nor after a reboot.
        self._host = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self._lock = threading.Lock()
        self._names: set[str] = set()
        self.is_behind = False

    def new_name(self) -> str:
        """A name for a container, which is ours from now on."""
        name = _PREFIX + secrets.token_hex(8)
        with self._lock:
            self._names.add(name)
        return name

    def labels(self, lifetime_s: float) -> dict[str, str]:
        """For a new container that is not needed for longer than that."""
        until = str(int(time.time() + lifetime_s))
        own = {OWNER: self._mark, _HOST: self._host, _HOUSEHOLD: self._token}
        return {**own, _UNTIL: until}

    def remove(self, name: str) -> None:
        """Kills and removes one of ours. Raises SandboxError: the next sweep will try again."""
        with self._lock:
            self._names.discard(name)
        try:
            self._engine.remove(name)
        except SandboxError:
            self.is_behind = True
            raise

    def sweep(self) -> None:
        """Removes what dead owners left, and what of ours could not be removed before.

        Raises:
            SandboxError: the engine is away.
        """
        for name, labels in self._engine.containers(OWNER).items():
            if self._is_left_over(name, labels):
                self._engine.remove(name)
        self.is_behind = False

    def _is_left_over(self, name: str, labels: Mapping[str, str]) -> bool:
        if labels.get(_HOUSEHOLD) == self._token:
            with self._lock:
                return name not in self._names
        mark = labels[OWNER]
        if labels.get(_HOST) == self._host and is_seen(mark):
            return is_orphaned(mark)
        until = labels.get(_UNTIL, "")
        return not until.isdigit() or time.time() > int(until)


__all__ = ["OWNER", "Household"]
