"""How a program ends in a fork of an interpreter: as in a fresh one, at less cost.

A fresh interpreter takes itself apart in the end, module by module, which runs what the
program left to be run then: finalizers, and files closed that were not yet flushed. In a fork
most of it is ours and does nothing, but each page touched is copied. So only what the program
made is taken apart, and then it is looked whether anything is left that would do something
when it goes. If so, the interpreter ends in its usual way. Source: `Py_FinalizeEx`.
"""

from __future__ import annotations

import _io
import _thread
import atexit
import gc
import sys
from collections.abc import Callable, Collection
from types import AsyncGeneratorType, CoroutineType, GeneratorType

from sandboxes.confinement.kernel import leave

_LOWEST_BYTE = 0xFF
# They run code when they go (`finally`), if they have started and not ended.
_SUSPENDED = (GeneratorType, CoroutineType, AsyncGeneratorType)


def end(status: int, our_modules: Collection[str], drop: Callable[[], None]) -> None:
    """Ends this process with a status; returns if the interpreter must do it in its usual way.

    What is ours must be frozen (`gc.freeze`).

    Args:
        status: for exit(3).
        our_modules: names of the modules that were there before the program.
        drop: lets go of what is still held of the program.
    """
    if threading := sys.modules.get("threading"):
        threading._shutdown()  # waits for the program's threads
    atexit._run_exitfuncs()
    if not _flush() or _thread._count() > 0:  # threads that are daemons
        return
    for name in [name for name in sys.modules if name not in our_modules]:
        del sys.modules[name]
    sys.last_type = sys.last_value = sys.last_traceback = None
    drop()
    gc.collect()
    if not any(map(_does_something, gc.get_objects())) and _flush():
        leave(status & _LOWEST_BYTE)


def _flush() -> bool:
    """Whether all that was written is out."""
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (OSError, ValueError, AttributeError):
        return False
    return True


def _does_something(thing: object) -> bool:
    """Whether anything could be seen of this object's end."""
    kind = type(thing)
    if issubclass(kind, _io._IOBase):
        return thing is not sys.stdout and thing is not sys.stderr
    return kind in _SUSPENDED or hasattr(kind, "__del__")


__all__ = ["end"]
