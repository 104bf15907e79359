"""The candidate's process: loads the program and does what the asserts' process asks.

Nothing in here is trusted: the program can bend all of it, and thereby its own values alone.
"""

from __future__ import annotations

import builtins
import copy
import os
import sys
from functools import cache
from types import CoroutineType, ModuleType

from .codec import DATA_TYPES, MUTABLE_TYPES, is_builtin, pack, restore, unpack
from .console import replace_stdout
from .link import SPECIAL, Gone, Link
from .shared_state import set_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_MODULE = "solution"
_bases = type.__dict__["__bases__"].__get__
_name = type.__dict__["__name__"].__get__
_error_args = BaseException.__dict__["args"].__get__


def serve_candidate(read_fd: int, write_fd: int, file: str) -> NoReturn:
    """Serves until the other side ends."""
    server = Candidate(read_fd, write_fd, os.path.abspath(file))
    try:
        while True:
            message = server.receive()
            server.send(server.serve(message[1], message[2:]))
    except Gone:
        os._exit(0)


class Candidate(Link):
    """Does operations on the program's objects."""

    def __init__(self, read_fd: int, write_fd: int, path: str) -> None:
        super().__init__(read_fd, write_fd)
        self._path = path
        self._code: Any = None
        self._names: dict[str, Any] = {}
        self._objects: list[Any] = []
        self._ids: dict[int, int] = {}
        self._arguments: list[Any] = []
        self._foreign: dict[int, Any] = {}
        self._loop: Any = None
        self._printed = replace_stdout()
        builtins.input = lambda prompt="": self.ask("input", str(prompt))

    def serve(self, operation: str, rest: list[Any]) -> list[Any]:
        """Does one operation; whatever it raises is the answer."""
        outer, self._arguments = self._arguments, []
        try:
            value = self._do(operation, rest)
            answer = ["=", self._pack_result(value), self._changes(rest)]
        except Gone:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it raises is its own
            answer = ["!", self._export(error), self._changes(rest)]
        finally:
            self._arguments = outer
        return [*answer, self._printed.take()]

    def _do(self, operation: str, rest: list[Any]) -> Any:
        if operation in ("compile", "load"):
            return self._compile() if operation == "compile" else self._load()
        if operation == "name":
            if rest[0] not in self._names:
                raise NameError(f"name {rest[0]!r} is not defined")
            return self._names[rest[0]]
        if operation in ("seed", "setenv"):
            return set_state(operation, [unpack(tree, self._resolve) for tree in rest[0]])
        target, name = self._objects[rest[0]], rest[1]
        self._arguments = [unpack(tree, self._resolve) for tree in rest[2]]
        if operation == "get":
            return getattr(target, name)
        if operation == "set":
            return setattr(target, name, *self._arguments)
        if operation == "del":
            return delattr(target, name)
        if operation == "call":
            keywords = {key: unpack(tree, self._resolve) for key, tree in rest[3].items()}
            return target(*self._arguments, **keywords)
        if operation == "await":
            return self._await(target)
        if operation in ("copy", "deepcopy"):
            return getattr(copy, operation)(target)
        if name == "__getitem__":
            return target[self._arguments[0]]
        return getattr(type(target), name)(target, *self._arguments)

    def _await(self, awaitable: Any) -> Any:
        import asyncio  # slow to import, rarely needed

        async def result() -> Any:
            return await awaitable

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(result())

    def _compile(self) -> None:
        with open(self._path, "rb") as stream:
            self._code = compile(stream.read(), self._path, "exec", dont_inherit=True)

    def _load(self) -> None:
        module = ModuleType(_MODULE)
        module.__file__ = self._path
        sys.modules[_MODULE] = module
        sys.argv[:] = [self._path]
        self._names = module.__dict__
        exec(self._code, self._names)  # noqa: S102

    def _changes(self, rest: list[Any]) -> list[Any]:
        """The arguments that the operation changed in place: their places and new values."""
        sent = rest[2] if len(rest) > 2 else []
        now = [pack(argument, self._export) for argument in self._arguments]
        pairs = zip(sent, now, strict=False)
        return [[place, new] for place, (old, new) in enumerate(pairs) if old != new]

    def _pack_result(self, value: Any) -> Any:
        """An argument that comes back is told as such: it may be asked for by `is`."""
        for place, argument in enumerate(self._arguments):
            if argument is value and type(value) in MUTABLE_TYPES:
                return ["a", place]
        return pack(value, self._export)

    def _export(self, value: Any) -> list[Any]:
        kind = type(value)
        if issubclass(kind, Foreign):
            return ["j", value._number]
        if kind is ModuleType:
            return ["m", value.__name__]
        if issubclass(kind, type):
            return self._export_class(value)
        number, _ = self._number(value)
        if kind is CoroutineType or _name(kind) == "async_generator_asend":
            return ["co", number]
        extra = None
        if issubclass(kind, BaseException):
            extra = [pack(arg, self._export) for arg in _error_args(value)]
        else:
            base = next((b for b in DATA_TYPES if issubclass(kind, b)), None)
            if base is not None:
                extra = pack(restore(base, value), self._export)
        if issubclass(kind, BaseException) and is_builtin(kind):
            return ["o", number, ["bt", _name(kind)], extra]
        return ["o", number, self._export_class(kind), extra]

    def _export_class(self, cls: Any) -> list[Any]:
        number, known = self._number(cls)
        if known:
            return ["k", number]
        bases: list[Any] = []
        for base in _bases(cls):
            known = is_builtin(base)
            bases.append(["bt", _name(base)] if known else self._export_class(base))
        special = {
            name: vars(k)[name] is not None
            for k in reversed(cls.__mro__)
            if k is not object and k is not BaseException
            for name in SPECIAL & vars(k).keys()
        }
        description = [_name(cls), bases, special]
        if issubclass(cls, BaseException) and _top_module(cls) in sys.stdlib_module_names:
            # The asserts' own, if they know it.
            return ["kx", number, cls.__module__, *description]
        return ["k", number, *description]

    def _number(self, value: Any) -> tuple[int, bool]:
        number = self._ids.get(id(value))
        if number is not None:
            return number, True
        self._objects.append(value)
        self._ids[id(value)] = len(self._objects) - 1
        return len(self._objects) - 1, False

    def _resolve(self, tag: str, rest: list[Any]) -> Any:
        if tag in ("o", "k"):
            return self._objects[rest[0]]
        if tag == "bf":
            return getattr(builtins, rest[0])
        number, kind, name, special = rest
        if number not in self._foreign:
            cls = _instance_class(name, tuple(special)) if kind == "instance" else _FOREIGN[kind]
            self._foreign[number] = cls(self, number, name)
        return self._foreign[number]

    def ask(self, operation: str, *rest: Any) -> Any:
        """Does an operation on an object of the asserts' process."""
        kind, tree, *_ = self.request(operation, *rest)
        if kind == "!":
            is_mine = tree[0] == "o"
            raise self._objects[tree[1]] if is_mine else getattr(builtins, tree[0])(tree[1])
        return unpack(tree, self._resolve)

    def pack(self, *values: Any) -> list[Any]:
        """Arguments of `ask`."""
        return [pack(value, self._export) for value in values]


class Foreign:
    """An object of the asserts' process."""

    _link: Candidate
    _number: int

    def __init__(self, link: Candidate, number: int, name: str) -> None:
        object.__setattr__(self, "_link", link)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "__name__", name)


class Function(Foreign):
    """A callable: it can be called and no more."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Calls it in its own process."""
        packed = dict(zip(keywords, self._link.pack(*keywords.values()), strict=True))
        return self._link.ask("call", self._number, self._link.pack(*args), packed)


class Iterator(Foreign):
    """An iterator."""

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        return self._link.ask("op", self._number, "__next__", [])


class Instance(Foreign):
    """An instance of a class that the asserts define, or of one that they may hand out."""

    def __getattr__(self, name: str) -> Any:
        return self._link.ask("get", self._number, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._link.ask("set", self._number, name, self._link.pack(value))

    __hash__ = object.__hash__


def _forward(name: str) -> Any:
    def method(self: Instance, *args: Any) -> Any:
        return self._link.ask("op", self._number, name, self._link.pack(*args))

    return Function.__call__ if name == "__call__" else method


@cache
def _instance_class(name: str, special: tuple[str, ...]) -> Any:
    """What the language asks the type for is there only if the real one has it."""
    return type(
        name,
        (Instance,),
        {each: _forward(each) for each in special} | {"__hash__": object.__hash__},
    )


def _top_module(cls: Any) -> str:
    return str(cls.__module__).partition(".")[0]


_FOREIGN = {"function": Function, "iterator": Iterator}
