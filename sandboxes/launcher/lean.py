"""What a launcher uses of `dataclasses`, `typing` and `platform`, without what those import.

They and theirs are two thirds of the processor time that a launcher's start takes, and a
single-use container starts one for each program. In the launcher's copies of our modules this
stands in for them (`bundle`); elsewhere the real ones are used.
"""

from __future__ import annotations

import os
from collections.abc import Callable

TYPE_CHECKING = False  # but type checkers take it for true
if TYPE_CHECKING:
    from typing import Any
else:
    Any = object

# Names for annotations, which nobody evaluates here, and for classes that add nothing.
Protocol = Self = NoReturn = object


# By module, what to write instead of `from MODULE import` and `import MODULE`.
_STANDING_IN = {
    b"from dataclasses import": b"from sandboxes.launcher.lean import",
    b"from typing import": b"from sandboxes.launcher.lean import",
    b"import platform": b"from sandboxes.launcher import lean as platform",
}


def lean_copy(source: bytes) -> bytes:
    """A module of ours with its imports of those turned into imports of this."""
    lines = source.split(b"\n")
    for number, line in enumerate(lines):
        for theirs, ours in _STANDING_IN.items():
            if line == theirs or line.startswith(theirs + b" "):
                lines[number] = ours + line.removeprefix(theirs)
    return b"\n".join(lines)


def machine() -> str:
    """Like `platform.machine`."""
    return os.uname().machine


class _Made:
    """The default of a field that is made anew for each object."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], Any]) -> Any:
    """Like `dataclasses.field`."""
    return _Made(default_factory)


def asdict(record: Any) -> dict[str, Any]:
    """Like `dataclasses.asdict`, for objects that hold none of their kind."""
    return dict(vars(record))


def dataclass(**_: bool) -> Callable[[type], type]:
    """Like `dataclasses.dataclass`, for classes with their fields in one place.

    Objects can be changed and not be hashed.
    """
    return _with_fields


class NamedTuple:
    """Like `typing.NamedTuple`, with attributes alone."""

    def __init_subclass__(cls) -> None:
        _with_fields(cls)


def _with_fields(cls: type) -> type:
    names = tuple(cls.__annotations__)
    defaults = {name: vars(cls)[name] for name in names if name in vars(cls)}

    def __init__(self: object, *given: Any, **named: Any) -> None:
        values = {**defaults, **dict(zip(names, given, strict=False)), **named}
        if len(given) > len(names) or values.keys() != set(names):
            raise TypeError(f"{cls.__name__} has the fields {', '.join(names)}")
        for name, value in values.items():
            setattr(self, name, value.make() if isinstance(value, _Made) else value)

    def __eq__(self: object, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    for function in (__init__, __eq__):
        setattr(cls, function.__name__, function)
    cls.__hash__ = None  # type: ignore[assignment]
    return cls


__all__ = [
    "Any",
    "NamedTuple",
    "NoReturn",
    "Protocol",
    "Self",
    "asdict",
    "dataclass",
    "field",
    "lean_copy",
    "machine",
]
