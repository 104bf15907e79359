"""The asserts' side: objects that stand for the program's, which stay in its own process.

What crosses as data is real data here. What does not is a `Remote`, an instance of a shadow
of the program's class: shadows have the names and bases of the real ones, so that `except`,
`isinstance` and `issubclass` work, and forward what the real ones define.

Whether a Remote equals plain data is the one thing that a program must not decide: it would
return an object that equals whatever is expected. It decides only for classes that the
asserts name, in capitals as classes are named, so that equality may be the task; and then it
must tell the value from others like it, without knowing which is the one expected.
"""

from __future__ import annotations

import random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .judge import Judge

_ORDER = frozenset({"__lt__", "__le__", "__gt__", "__ge__"})
_DECOYS = 15


class Tampering(BaseException):
    """An object that answers so that it would pass whatever is expected."""


class RemoteType(type):
    """The type of shadows: what is done to a class is done to the program's."""

    _link: Judge
    _number: int

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        """A new instance, made in the program's process."""
        return cls._link.call(cls._number, args, keywords)

    def __getattr__(cls, name: str) -> Any:
        """Class attributes and methods."""
        if name.startswith("_") or "_number" not in vars(cls):
            raise AttributeError(name)
        return cls._link.do("get", cls._number, name, ())

    def __bool__(cls) -> bool:
        return True


def _there(name: str) -> Any:
    """An attribute that the language would find here before it asks `__getattr__`."""
    return property(lambda self: self._link.do("get", self._handle, name, ()))


class Remote(metaclass=RemoteType):
    """An object of the program."""

    _link: Judge
    _handle: int

    __dict__ = _there("__dict__")
    __doc__ = _there("__doc__")

    def __getattr__(self, name: str) -> Any:
        """Attributes and methods."""
        if name == "_handle":
            raise AttributeError(name)
        return self._link.do("get", self._handle, name, ())

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets it in the program's process; the language's own names stay here."""
        if name.startswith("__"):
            object.__setattr__(self, name, value)
        else:
            self._link.do("set", self._handle, name, (value,))

    def __copy__(self) -> Any:
        return self._link.do("copy", self._handle, "", ())

    def __deepcopy__(self, _: Any) -> Any:
        return self._link.do("deepcopy", self._handle, "", ())

    def __str__(self) -> str:
        return str(self._link.do("get", self._handle, "__str__", ())())

    def __repr__(self) -> str:
        return str(self._link.do("get", self._handle, "__repr__", ())())


def _forward_on_class(name: str) -> Callable[..., Any]:
    def method(cls: RemoteType, *args: Any) -> Any:
        return cls._link.do("op", cls._number, name, args)

    return method


# What an Enum or a generic class is asked.
for _name in ("__getitem__", "__iter__", "__len__", "__contains__"):
    setattr(RemoteType, _name, _forward_on_class(_name))


def forward(name: str) -> Callable[..., Any]:
    """A special method of a shadow."""

    def method(self: Any, *args: Any) -> Any:
        return self._link.do("op", self._handle, name, args)

    def call(self: Any, *args: Any, **keywords: Any) -> Any:
        return self._link.call(self._handle, args, keywords)

    def order(self: Any, other: Any) -> Any:
        may_decide = isinstance(other, Remote) or type(self)._is_named
        return method(self, other) if may_decide else NotImplemented

    def equality(self: Any, other: Any) -> Any:
        if isinstance(other, Remote):
            return method(self, other)
        return _told_apart(self, method, name, other) if type(self)._is_named else NotImplemented

    def contains(self: Any, item: Any) -> Any:
        if isinstance(item, Remote) or type(self)._is_named:
            return method(self, item)
        return any(found is item or found == item for found in self)

    if name in ("__eq__", "__ne__"):
        return equality
    if name in _ORDER:
        return order
    return {"__call__": call, "__contains__": contains}.get(name, method)


def _told_apart(self: Any, method: Callable[..., Any], name: str, other: Any) -> Any:
    """Asks about the value among decoys, in an order that tells nothing.

    Raises:
        Tampering: a decoy counts as equal too.
    """
    others = decoys(other)
    if not others:
        return NotImplemented
    questions = [*others, other]
    order = list(range(len(questions)))
    random.SystemRandom().shuffle(order)
    equal = {}
    for place in order:
        said = method(self, questions[place])
        equal[place] = said is not NotImplemented and bool(said) is (name == "__eq__")
    is_equal = equal.pop(len(others))
    if is_equal and any(equal.values()):
        raise Tampering("an object of the program equals different values")
    return is_equal is (name == "__eq__")


def decoys(value: Any) -> list[Any]:
    """Values of the same kind that are not this one; it does not stand out among them."""
    kind = type(value)
    found: list[Any] = []
    if kind is bool:
        found = [not value]
    elif kind is int:
        start = value - random.SystemRandom().randrange(_DECOYS + 1)
        found = list(range(start, start + _DECOYS + 1))
    elif kind in (float, complex):
        found = [value * (1 + n / 64) + n / 64 for n in range(-8, 9)]
    elif kind in (str, bytes):
        extra = "0" if kind is str else b"0"
        found = [value + extra, extra + value, value[1:], value[:-1], value[::-1], value * 2]
    elif kind in (list, tuple):
        extra = kind([0])
        found = [value + extra, extra + value, value[1:], value[:-1], value[::-1], value * 2]
    elif kind in (set, frozenset):
        found = [value | {n} for n in (0, "0", None)]
    elif kind is dict:
        found = [{**value, key: 0} for key in (0, "0", None)]
    return [decoy for decoy in found if decoy != value]
