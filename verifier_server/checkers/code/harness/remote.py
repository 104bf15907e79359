"""The asserts' side: objects that stand for the program's, which stay in its own process.

What crosses as data is real data here. What does not is a `Remote`, an instance of a shadow
of the program's class: shadows have the names and bases of the real ones, so that `except`,
`isinstance` and `issubclass` work, and forward what the real ones define.

Whether a Remote equals plain data is the one thing that a program must not decide: it would
return an object that equals whatever is expected. It decides only for classes that the
asserts name, in capitals as classes are named, so that equality may be the task; and then it
must tell the value from others like it, without knowing which is the one expected.

Whether it is less than plain data, what it leaves without that, or whether it starts so, are
questions of equality too: `abs(f(2) - 1.41) < 1e-2`. They are answered only by an instance
that the asserts made, of a class that they name, as long as it was not given back to them: a
result must not answer for itself.
"""

from __future__ import annotations

import random

from .siblings import siblings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .judge import Judge

_ORDER = frozenset({"__lt__", "__le__", "__gt__", "__ge__"})
_BINARY = [
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
]
_ARITHMETIC = frozenset(f"__{side}{name}__" for name in _BINARY for side in ("", "r", "i"))
_ASKED_OF_DATA = frozenset({"startswith", "endswith", "difference", "symmetric_difference"}) | {
    name for kind in (str, set, float) for name in dir(kind) if name.startswith("is")
}
_DIFFERENCES = frozenset({"__sub__", "__rsub__", "__xor__", "__rxor__"})
_LOWEST, _HIGHEST = -1e300, 1e300
_random = random.SystemRandom()


class Tampering(BaseException):
    """An object that answers so that it would pass whatever is expected."""


class RemoteType(type):
    """The type of shadows: what is done to a class is done to the program's."""

    _link: Judge
    _number: int

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        """A new instance, made in the program's process."""
        instance = cls._link.call(cls._number, args, keywords)
        _mark_made(instance)
        return instance

    def __getattr__(cls, name: str) -> Any:
        """Class attributes and methods."""
        if name.startswith("__") or "_number" not in vars(cls):
            raise AttributeError(name)
        found = cls._link.do("get", cls._number, name, ())
        if type(found) is cls:  # a member of an enumeration
            _mark_made(found)
        return found

    def __setattr__(cls, name: str, value: Any) -> None:
        """Sets it in the program's process; the language's own names stay here."""
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            cls._link.do("set", cls._number, name, (value,))

    def __bool__(cls) -> bool:
        return True


def _there(name: str) -> Any:
    """An attribute that the language would find here before it asks `__getattr__`."""
    return property(lambda self: self._link.do("get", self._handle, name, ()))


class Remote(metaclass=RemoteType):
    """An object of the program."""

    _link: Judge
    _handle: int
    _data: Any = None  # the built-in type of which it is a subclass, if it is data here
    _is_named = False
    _is_made = False  # by the asserts, and not given back to them since

    __dict__ = _there("__dict__")
    __doc__ = _there("__doc__")

    def __getattr__(self, name: str) -> Any:
        """Attributes and methods."""
        if name == "_handle" or (name in _ASKED_OF_DATA and not self._is_made):
            raise AttributeError(name)
        return self._link.do("get", self._handle, name, ())

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets it in the program's process; the language's own names stay here."""
        if name.startswith("__"):
            object.__setattr__(self, name, value)
        else:
            self._link.do("set", self._handle, name, (value,))

    def __delattr__(self, name: str) -> None:
        self._link.do("del", self._handle, name, ())

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


def _mark_made(value: Any) -> None:
    if isinstance(value, Remote):
        object.__setattr__(value, "_is_made", type(value)._is_named)


# What an Enum or a generic class is asked.
for _name in ("__getitem__", "__iter__", "__len__", "__contains__"):
    setattr(RemoteType, _name, _forward_on_class(_name))


def forward(name: str) -> Callable[..., Any]:
    """A special method of a shadow."""
    if name == "__call__":
        return _call

    def method(self: Any, *args: Any) -> Any:
        return self._link.do("op", self._handle, name, args)

    if name in ("__eq__", "__ne__"):
        return _equality(method, name)
    if name in _ORDER:
        return _order(method, name)
    if name in _ARITHMETIC:
        return _arithmetic(method, name)
    return _contains(method) if name == "__contains__" else method


def _call(self: Any, *args: Any, **keywords: Any) -> Any:
    return self._link.call(self._handle, args, keywords)


def _equality(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    def equality(self: Any, other: Any) -> Any:
        if isinstance(other, Remote):
            return method(self, other)
        return _told_apart(self, method, name, other) if type(self)._is_named else NotImplemented

    return equality


def _order(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    beyond = _LOWEST if name in ("__lt__", "__le__") else _HIGHEST

    def order(self: Any, other: Any) -> Any:
        if isinstance(other, Remote):
            return method(self, other)
        if not self._is_made:
            return NotImplemented
        said = method(self, other)
        if (
            said is True
            and type(other) in (int, float)
            and method(self, type(other)(beyond)) is True
        ):
            raise Tampering(f"an object of the program is on both sides of {beyond}")
        return said

    return order


def _arithmetic(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    def arithmetic(self: Any, other: Any, *modulus: Any) -> Any:
        made = self._is_made
        may_decide = isinstance(other, Remote) or made
        if not may_decide and not type(self)._is_named:
            return NotImplemented
        result = method(self, other, *modulus)
        if isinstance(result, Remote):
            if made:
                _mark_made(result)
            return result
        if name in _DIFFERENCES and type(other) in (int, float):
            _require_distinct(result, lambda sibling: method(self, sibling), other)
        return result if may_decide else NotImplemented

    return arithmetic


def _require_distinct(result: Any, ask: Callable[[Any], Any], other: Any) -> None:
    """Raises Tampering where another number leaves the same difference."""
    for sibling in siblings(other):
        difference = ask(sibling)
        if not isinstance(difference, Remote) and difference == result:
            raise Tampering("an object of the program leaves one difference to different values")


def _contains(method: Callable[..., Any]) -> Callable[..., Any]:
    def contains(self: Any, item: Any) -> Any:
        if isinstance(item, Remote) or self._is_made:
            return method(self, item)
        return any(found is item or found == item for found in self)

    return contains


def _told_apart(self: Any, method: Callable[..., Any], name: str, other: Any) -> Any:
    """Asks about the value among its siblings, in an order that tells nothing.

    Raises:
        Tampering: a sibling counts as equal too.
    """
    others = siblings(other)
    if not others:
        return NotImplemented
    questions = [*others, other]
    order = list(range(len(questions)))
    _random.shuffle(order)
    equal = {}
    for place in order:
        said = method(self, questions[place])
        equal[place] = said is not NotImplemented and bool(said) is (name == "__eq__")
    is_equal = equal.pop(len(others))
    if is_equal and any(equal.values()):
        raise Tampering("an object of the program equals different values")
    return is_equal is (name == "__eq__")
