"""The launcher itself: sets itself up as asked, then serves one box after another.

It is started as `python3 DIR`, where DIR holds `launcher_files()`, and is PID 1 of its place.
Without namespaces of its own making it is the one box. With them it only makes boxes: each
is a fork of it in fresh namespaces, which reads the next `Run` by itself, so that nothing of
a run is ever in the memory that later ones are forked from.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping

from sandboxes.base import MIB
from sandboxes.confinement.kernel import gain_no_privileges, set_dumpable
from sandboxes.launcher.box import Box, Tools
from sandboxes.launcher.confine import Confinement
from sandboxes.launcher.messages import BrokenStream, Failed, Ready, Setup
from sandboxes.launcher.namespaces import USERS_REMEDY, clone_box, enter_box, make_room
from sandboxes.launcher.stream import Stream
from sandboxes.metering import CgroupFiles

# Kernel memory (stacks, page tables, pipes) that no status file tells.
_KERNEL_BYTES = 4 * MIB


def serve() -> None:
    """Serves the host on stdin and stdout until it goes away."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which PID 1 does not get
    stream = Stream()
    try:
        setup = stream.receive()
        if not isinstance(setup, Setup):
            stream.send(Failed(f"a {type(setup).__name__} comes before any Setup"))
            return
        try:
            tools = _set_up(stream, setup)
        except OSError as error:
            stream.send(Failed(f"the launcher could not set itself up: {error}"))
            return
        ready = Ready(_own_bytes(), tools.confinement.layers)
        if setup.namespaces:
            _serve_boxes(tools, ready)
        else:
            stream.send(ready)
            Box(tools).serve()
    except BrokenStream:
        raise SystemExit(1) from None  # the host went away


def _serve_boxes(tools: Tools, ready: Ready | None) -> None:
    """One after another, each made before it is asked for, until one ends otherwise than well."""
    user = os.getuid(), os.getgid()
    try:
        while (pid := clone_box()) != 0:
            _, status = os.waitpid(pid, 0)
            if status != 0:
                return
            ready = None
        enter_box(user)
    except OSError as error:
        tools.stream.send(Failed(f"no box can be made here: {error}", USERS_REMEDY))
        os._exit(1)
    if ready is not None:  # only the first can tell that boxes can be made
        tools.stream.send(ready)
    Box(tools, make_room).serve()
    os._exit(0)


def _set_up(stream: Stream, setup: Setup) -> Tools:
    if os.getpid() != 1:
        raise OSError("it is not PID 1, so it could not kill what a program leaves")
    gain_no_privileges()
    set_dumpable(False)
    accounts = _accounts(setup.meter)
    counted = setup.namespaces or setup.own_kernel
    confinement = Confinement.find(per_process_memory=accounts is None, own_users=counted)
    return Tools(stream, confinement, accounts)


def _accounts(meter: Mapping[str, str | int]) -> CgroupFiles | None:
    if not meter:
        return None
    accounts = CgroupFiles(meter["memory"], meter["cpu"])
    for folder in {f for f in meter.values() if isinstance(f, int)}:
        os.close(folder)
    return accounts


def _own_bytes() -> int:
    with open("/proc/self/status") as status:
        lines = (line.split() for line in status)
        kinds = {words[0]: words for words in lines if words}
    unshared = [kinds[k] for k in ("RssAnon:", "RssShmem:") if k in kinds]
    told = unshared or [kinds["VmRSS:"]]  # gVisor says no more
    return 1024 * sum(int(words[1]) for words in told) + _KERNEL_BYTES


__all__ = ["serve"]
