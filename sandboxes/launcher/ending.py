"""How a program ends in a fork of an interpreter: as in a fresh one, at less cost.

A fresh interpreter takes itself apart in the end, module by module, which runs what the
program left to be run then: finalizers, and files closed that were not yet flushed. In a fork
most of it is ours and does nothing, but each page touched is copied. So where nothing is left
that would do anything when it goes, nothing is taken apart. Source: `Py_FinalizeEx`.
"""

from __future__ import annotations

import _io
import _thread
import atexit
import gc
import sys
from _weakref import ReferenceType
from collections.abc import Callable
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CoroutineType,
    FunctionType,
    GeneratorType,
)

from sandboxes.confinement.kernel import leave

Kind = type[object]

_LOWEST_BYTE = 0xFF
# By number: an object that we held would not be taken apart with the rest, nor flushed.
_OUR_STREAMS = id(sys.stdout), id(sys.stderr)
# More than so many are as quickly taken apart as looked at.
_MOST_OBJECTS = 200_000
# Modules whose weak references do no more, when their objects go, than forget them.
_BOOKKEEPERS = ("weakref", "_weakrefset", "logging")
_TRACKED = 1 << 14  # Py_TPFLAGS_HAVE_GC: the collector knows all objects of this kind
# Asked of `type` itself, so that no class of a program's has a say.
_bases: Callable[[Kind], tuple[Kind, ...]] = type.__dict__["__mro__"].__get__
_names: Callable[[Kind], dict[str, object]] = type.__dict__["__dict__"].__get__
_flags: Callable[[Kind], int] = type.__dict__["__flags__"].__get__
_callback: Callable[[object], object] = ReferenceType.__dict__["__callback__"].__get__

# Kinds that have a finalizer, and what shows that it would do nothing.
_IDLE: dict[Kind, Callable[..., bool]] = {
    GeneratorType: lambda thing: thing.gi_frame is None,
    CoroutineType: lambda thing: thing.cr_frame is None,
    AsyncGeneratorType: lambda thing: thing.ag_frame is None,
    _io.BytesIO: lambda thing: True,
    _io.StringIO: lambda thing: True,
    _io.FileIO: lambda thing: thing.closed,
    _io.BufferedReader: lambda thing: thing.closed,
    _io.BufferedWriter: lambda thing: thing.closed,
    _io.TextIOWrapper: lambda thing: thing.closed,
}


def end(status: int, our_handlers: int) -> None:
    """Ends this process with a status; returns if the interpreter must do it in its usual way.

    What is ours must be frozen (`gc.freeze`).

    Args:
        status: for exit(3).
        our_handlers: how many functions to be called in the end there were before the program.
    """
    try:
        if _is_alone() and atexit._ncallbacks() == our_handlers:
            if threading := sys.modules.get("threading"):
                threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            if _is_alone() and _leaves_nothing():
                leave(status & _LOWEST_BYTE)
    except BaseException:  # noqa: BLE001
        return  # the interpreter knows what to say of it


def _is_alone() -> bool:
    """Whether no thread but this lives, and all that is written goes the way that we know."""
    return _thread._count() == 0 and (id(sys.stdout), id(sys.stderr)) == _OUR_STREAMS


def _leaves_nothing() -> bool:
    """Whether nothing would be seen of the end of any object that the program made."""
    things = gc.get_objects()
    if len(things) > _MOST_OBJECTS:
        return False
    suspects = {kind for kind in set(map(type, things)) if _is_suspect(kind)}
    return all(_is_idle(thing) for thing in things if type(thing) in suspects)


def _is_suspect(kind: Kind) -> bool:
    return _has_finalizer(kind) or bool({type, ReferenceType} & {*_bases(kind)})


def _has_finalizer(kind: Kind) -> bool:
    return any("__del__" in _names(base) for base in _bases(kind))


def _is_idle(thing: object) -> bool:
    kind = type(thing)
    if kind in _IDLE:
        return _IDLE[kind](thing)
    if type in _bases(kind):  # objects of which the collector knows nothing are not looked at
        return not _has_finalizer(thing) or bool(_flags(thing) & _TRACKED)  # type: ignore[arg-type]
    if ReferenceType in _bases(kind):
        return _only_keeps_books(_callback(thing))
    return False


def _only_keeps_books(callback: object) -> bool:
    """Whether a weak reference's callback is none, or one that nobody sees."""
    if type(callback) is FunctionType:
        return callback.__globals__.get("__name__") in _BOOKKEEPERS
    return callback is None or (
        type(callback) is BuiltinFunctionType and callback.__name__ == "_destroy"
    )


__all__ = ["end"]
