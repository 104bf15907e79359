"""What this host offers the oci provider, found out once by trying."""

from __future__ import annotations

import itertools
import os

from sandboxes.base import Finding, SandboxError, SandboxUnavailable
from sandboxes.embedded.cgroups import CgroupParent
from sandboxes.oci.leftovers import HOME, Hierarchies, make_home, remove_home, sweep_homes
from sandboxes.oci.maker import Maker
from sandboxes.oci.roots import Kind, source_of
from sandboxes.oci.runtime import RUNTIMES, Runtime
from sandboxes.oci.stock import Stock
from sandboxes.owner import owner_mark

_PYTHON = Kind("python")
_numbers = itertools.count()


class Host:
    """A runtime that works, and the stock of containers that it makes.

    Args:
        asked: the runtime to use; None for the first that works.
        bound: how many containers wait at most.

    Raises:
        SandboxUnavailable: none works here; says why and the remedy.
    """

    def __init__(self, asked: str | None, bound: int) -> None:
        self._cgroups = _find_cgroups()
        sweep_homes()
        Hierarchies(self._cgroups).sweep()
        self._home = HOME / f"{owner_mark()}.{next(_numbers)}"
        self._passed_over: list[Finding] = []
        try:
            make_home(self._home)
            self._runtime, self._maker, self.stock = self._first_that_works(asked, bound)
        except OSError as error:
            remove_home(self._home)
            raise SandboxUnavailable(
                f"{self._home} can't be made: {error}",
                remedy="make /run a file system that can be written to and has room",
            ) from error
        except SandboxUnavailable:
            remove_home(self._home)
            raise

    @property
    def isolation(self) -> str:
        """The level that boxes here really have."""
        return self._maker.isolation

    def findings(self) -> list[Finding]:
        """What holds a program here."""
        return [
            *self._passed_over,
            Finding("box", True, f"a program ran in a container of {self._runtime.version()}"),
            Finding("root file system", True, source_of(_PYTHON)),
            Finding("namespaces", True, "user, pid, network, ipc, uts, mount, cgroup"),
            Finding("unprivileged", True, "an id of its own, without capabilities"),
            Finding("seccomp", True, "the runtime's around the launcher, ours around a program"),
            Finding("memory limit", True, f"cgroup v{self._cgroups.version}"),
            Finding("process limit", True, "cgroup"),
            Finding("cpu time limit", True, "cgroup"),
        ]

    def close(self) -> None:
        """Destroys all containers, and removes what they lay in. Idempotent."""
        self.stock.close()
        self._maker.close()
        remove_home(self._home)

    def _first_that_works(self, asked: str | None, bound: int) -> tuple[Runtime, Maker, Stock]:
        for name in RUNTIMES if asked is None else (asked,):
            try:
                runtime = Runtime.find(name)
                maker = Maker(runtime, self._cgroups, self._home)
                stock = Stock(maker.make, maker.isolation, bound)
                try:
                    stock.add(_PYTHON)
                except SandboxError:
                    stock.close()
                    maker.close()
                    raise
            except SandboxError as error:
                self._passed_over.append(Finding(name, False, str(error.args[0]), error.remedy))
            else:
                return runtime, maker, stock
        reasons = "; ".join(finding.detail for finding in self._passed_over)
        raise SandboxUnavailable(
            f"no OCI runtime works here: {reasons}",
            remedy=" or ".join(dict.fromkeys(f.remedy for f in self._passed_over if f.remedy)),
        )


def _find_cgroups() -> CgroupParent:
    """Where containers' groups can be made.

    Raises:
        SandboxUnavailable: nowhere. A runtime run by an ordinary user would start containers
            all the same, without the memory limit.
    """
    remedy = "run as root, or use another sandbox"
    if os.geteuid() != 0:
        raise SandboxUnavailable("containers without Docker take root", remedy=remedy)
    parent = CgroupParent.find()
    if parent is None:
        raise SandboxUnavailable("no cgroup is writable here", remedy=remedy)
    return parent


__all__ = ["Host"]
