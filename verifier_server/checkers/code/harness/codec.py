"""Values between two processes that don't trust each other, as JSON.

Plain data crosses as a copy. None, bool, float, str and small int are themselves; all else is
an array that begins with a tag. What is no plain data crosses as a reference, which the
caller's `export` and `resolve` make and follow; no code and no type is ever loaded.
"""

from __future__ import annotations

import builtins
import sys
from collections import Counter, OrderedDict, defaultdict, deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SMALL = 1 << 53
_SEQUENCES: dict[str, Any] = {"l": list, "t": tuple, "s": set, "fs": frozenset, "q": deque}
_MAPPINGS: dict[str, Any] = {"d": dict, "od": OrderedDict, "cn": Counter, "dd": defaultdict}
_TAGS: dict[Any, str] = {kind: tag for tag, kind in (_SEQUENCES | _MAPPINGS).items()}
_SCALARS: dict[Any, Callable[[Any], list[Any]]] = {
    int: lambda x: ["i", f"{x:x}"],
    bytes: lambda x: ["b", x.hex()],
    bytearray: lambda x: ["ba", x.hex()],
    memoryview: lambda x: ["mv", x.hex()],
    complex: lambda x: ["c", x.real, x.imag],
    range: lambda x: ["r", *(f"{part:x}" for part in (x.start, x.stop, x.step))],
    type(Ellipsis): lambda x: ["..."],
    type(NotImplemented): lambda x: ["ni"],
}
_VIEWS: dict[Any, tuple[str, Callable[[Any], Any]]] = {
    type({}.keys()): ("dk", lambda items: dict.fromkeys(items).keys()),
    type({}.values()): ("dv", lambda items: dict(enumerate(items)).values()),
    type({}.items()): ("di", lambda items: dict(items).items()),
}
_VIEW_MAKERS = dict(_VIEWS.values())


def _parts(delta: Any) -> str:
    return f"{delta.days} {delta.seconds} {delta.microseconds}"


# Types of the standard library that cross as text: how it is written and read.
_BY_TEXT: dict[tuple[str, str], tuple[Callable[[Any], str], Callable[[Any, str], Any]]] = {
    ("decimal", "Decimal"): (str, lambda kind, text: kind(text)),
    ("fractions", "Fraction"): (str, lambda kind, text: kind(text)),
    ("uuid", "UUID"): (str, lambda kind, text: kind(text)),
    ("pathlib", "PosixPath"): (str, lambda kind, text: kind(text)),
    ("pathlib", "PurePosixPath"): (str, lambda kind, text: kind(text)),
    ("datetime", "date"): (
        lambda x: str(x.isoformat()),
        lambda kind, text: kind.fromisoformat(text),
    ),
    ("datetime", "time"): (
        lambda x: str(x.isoformat()),
        lambda kind, text: kind.fromisoformat(text),
    ),
    ("datetime", "datetime"): (
        lambda x: str(x.isoformat()),
        lambda kind, text: kind.fromisoformat(text),
    ),
    ("datetime", "timedelta"): (_parts, lambda kind, text: kind(*map(int, text.split()))),
}
DATA_TYPES: tuple[Any, ...] = (
    int,
    float,
    complex,
    str,
    bytes,
    tuple,
    list,
    dict,
    set,
    frozenset,
)
MUTABLE_TYPES = (list, dict, set, bytearray, deque, OrderedDict, Counter, defaultdict)


class Malformed(Exception):
    """The other side sent what is no value."""


def pack(value: Any, export: Callable[[Any], Any]) -> Any:
    """The JSON form of a value; `export` gives that of what is no plain data.

    Only exact built-in types are data; what a class says of itself is not asked.
    """
    kind = type(value)
    if value is None or kind in (bool, float, str):
        return value
    if kind is int and -_SMALL < value < _SMALL:
        return value
    if kind in _SCALARS:
        return _SCALARS[kind](value)
    tag = _TAGS.get(kind)
    if tag in _SEQUENCES:
        return [tag, [pack(item, export) for item in value]]
    if tag is not None:
        items = value.items()
        return [tag, [[pack(key, export), pack(item, export)] for key, item in items]]
    if kind in _VIEWS:
        return [_VIEWS[kind][0], [pack(item, export) for item in value]]
    return _pack_library(value, kind) or export(value)


def _pack_library(value: Any, kind: Any) -> list[Any] | None:
    """The form of a built-in type, or of a standard-library value that crosses as text."""
    if kind is type and is_builtin(value):
        return ["bt", value.__name__]
    for (module, name), (write, _) in _BY_TEXT.items():
        if kind is getattr(sys.modules.get(module), name, None):
            return ["x", module, name, write(value)]
    return None


def is_builtin(cls: Any) -> bool:
    """Whether it is what the language itself calls so."""
    return getattr(builtins, type.__dict__["__name__"].__get__(cls), None) is cls


def unpack(tree: Any, resolve: Callable[[str, list[Any]], Any]) -> Any:
    """The value of a JSON form; `resolve` follows the tags that are not data's.

    Raises:
        Malformed: it is none.
    """
    if tree is None or type(tree) in (bool, int, float, str):
        return tree
    try:
        tag, *rest = tree
        return _unpack(tag, rest, resolve)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error


def _unpack(tag: str, rest: list[Any], resolve: Callable[[str, list[Any]], Any]) -> Any:
    if tag in _SEQUENCES:
        return _SEQUENCES[tag]([unpack(item, resolve) for item in rest[0]])
    if tag in _MAPPINGS:
        items = {unpack(key, resolve): unpack(item, resolve) for key, item in rest[0]}
        return defaultdict(None, items) if tag == "dd" else _MAPPINGS[tag](items)
    if tag in _VIEW_MAKERS:
        return _VIEW_MAKERS[tag]([unpack(item, resolve) for item in rest[0]])
    if tag == "x":
        module, name, text = rest
        if (module, name) not in _BY_TEXT:
            raise Malformed(f"no type {module}.{name}")
        return _BY_TEXT[module, name][1](getattr(__import__(module), name), text)
    if tag == "bt":
        found = vars(builtins)[rest[0]]
        if not isinstance(found, type):
            raise Malformed(f"{rest[0]} is no type")
        return found
    return _READERS[tag](*rest) if tag in _READERS else resolve(tag, rest)


_READERS: dict[str, Callable[..., Any]] = {
    "i": lambda digits: int(digits, 16),
    "b": bytes.fromhex,
    "ba": bytearray.fromhex,
    "mv": lambda digits: memoryview(bytes.fromhex(digits)),
    "c": complex,
    "r": lambda *parts: range(*(int(part, 16) for part in parts)),
    "...": lambda: Ellipsis,
    "ni": lambda: NotImplemented,
}


def restore(base: Any, value: Any) -> Any:
    """An instance of a subclass of `base` as exact `base`, without a call to its methods."""
    if base is dict:
        return dict(dict.items(value))
    if base in (tuple, list, set, frozenset):
        return base(base.__iter__(value))
    if base is str:
        return str.__str__(value)
    if base is bytes:
        return bytes.__getitem__(value, slice(None)) + b""
    if base is complex:
        return complex(complex.real.__get__(value), complex.imag.__get__(value))
    return int.__int__(value) if base is int else float.__float__(value)
