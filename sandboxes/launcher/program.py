"""The launcher itself: sets itself up as asked, then is a box, or makes them (`boxes`).

It is started as `python3 DIR`, where DIR holds `launcher_files()`, and is PID 1 of its place.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Mapping

from sandboxes.base import MIB
from sandboxes.confinement.kernel import gain_no_privileges, set_dumpable
from sandboxes.launcher.box import Box, Tools
from sandboxes.launcher.confine import Confinement
from sandboxes.launcher.messages import BrokenStream, Failed, Ready, Setup
from sandboxes.launcher.stream import Stream
from sandboxes.launcher.warm import Program, WarmInterpreter
from sandboxes.metering import CgroupFiles

# Kernel memory (stacks, page tables, pipes) that no status file tells.
_KERNEL_BYTES = 4 * MIB


def serve() -> Program | None:
    """Serves the host on stdin and stdout until it goes away.

    Returns:
        In a fork that is to go on as a Python program, that program; otherwise nothing.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which PID 1 does not get
    stream = Stream()
    try:
        setup = stream.receive()
        if not isinstance(setup, Setup):
            stream.send(Failed(f"a {type(setup).__name__} comes before any Setup"))
            return None
        try:
            tools = _set_up(stream, setup)
        except (OSError, ImportError) as error:
            stream.send(Failed(f"the launcher could not set itself up: {error}"))
            return None
        ready = Ready(_own_bytes(), tools.confinement.layers)
        if setup.namespaces:
            # Not imported where it is not needed: its modules are a third of a start.
            from sandboxes.launcher.boxes import serve_boxes

            return serve_boxes(tools, ready)
        stream.send(ready)
        return Box(tools).serve()
    except BrokenStream:
        raise SystemExit(1) from None  # the host went away


def _set_up(stream: Stream, setup: Setup) -> Tools:
    if os.getpid() != 1:
        raise OSError("it is not PID 1, so it could not kill what a program leaves")
    gain_no_privileges()
    set_dumpable(False)
    accounts = _accounts(setup.meter)
    counted = setup.namespaces or setup.own_kernel
    confinement = Confinement.find(per_process_memory=accounts is None, own_users=counted)
    # What was started with flags that programs don't ask for is none of their interpreters.
    warm = WarmInterpreter(setup.preload) if setup.preload and not sys.flags.isolated else None
    gc.collect()
    gc.freeze()  # a collection in a fork then leaves our pages shared
    return Tools(stream, confinement, accounts, warm)


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
