"""The asserts' end of the link: makes shadows of the program's classes, and guards its own.

What comes in is hostile: it names types and modules from closed lists, and objects by
numbers. What the program may ask in return is to call what it was given, and what is public
of instances of classes that the asserts define.
"""

from __future__ import annotations

import builtins
import sys
from types import AsyncGeneratorType, FunctionType, GeneratorType

from .codec import DATA_TYPES, Malformed, pack, unpack
from .link import SPECIAL, Gone, Link
from .remote import Remote, RemoteType, Tampering, forward

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

MODULE = "__main__"


class Judge(Link):
    """The asserts' end of the link; makes shadows and guards what the program may ask."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        super().__init__(read_fd, write_fd)
        self._shadows: dict[int, Any] = {}
        self._remotes: dict[int, Any] = {}
        self._exported: list[Any] = []
        self._naming = False
        self.operations = 0  # on the program's objects, so far

    def load(self, step: Literal["compile", "load"]) -> None:
        """Compiles the program, or runs its top level; what that raises is raised here."""
        self._answer(self.request(step))

    def name(self, name: str) -> Any:
        """What the program calls so. Raises NameError."""
        self._naming = name[:1].isupper()
        try:
            return self._answer(self.request("name", name))
        finally:
            self._naming = False

    def tell(self, operation: str, *args: Any) -> None:
        """Sets what the program's process shares, see `shared_state`."""
        self._answer(self.request(operation, [pack(arg, self._export) for arg in args]))

    def do(self, operation: str, number: int, name: str, args: tuple[Any, ...]) -> Any:
        """One operation on an object of the program; it leaves the arguments as they are."""
        self.operations += 1
        packed = [pack(arg, self._export) for arg in args]
        return self._answer(self.request(operation, number, name, packed))

    def call(self, number: int, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call with arguments as data; those changed in place are changed here too."""
        self.operations += 1
        packed = [pack(arg, self._export) for arg in args]
        named = {key: pack(value, self._export) for key, value in keywords.items()}
        return self._answer(self.request("call", number, "__call__", packed, named), args)

    def _answer(self, message: list[Any], args: tuple[Any, ...] = ()) -> Any:
        """The value, after the changes to `args`, or the exception."""
        if len(message) > 3 and type(message[3]) is str:
            sys.stdout.write(message[3])

        def resolve(tag: str, rest: list[Any]) -> Any:
            return args[rest[0]] if tag == "a" else self._resolve(tag, rest)

        try:
            for place, tree in message[2] if args else ():
                _update(args[place], unpack(tree, resolve))
            value = unpack(message[1], resolve)
        except (Malformed, LookupError, TypeError, ValueError, RecursionError) as error:
            raise Gone("the program broke the protocol of its runner") from error
        if message[0] == "!":
            raise value if isinstance(value, BaseException) else Gone("no exception was raised")
        return value

    # What comes in.

    def _resolve(self, tag: str, rest: list[Any]) -> Any:
        if tag == "j":
            return self._exported[rest[0]]
        if tag == "m":
            return __import__(rest[0]) if rest[0] in _SAFE_MODULES else None
        if tag == "k":
            return self._shadow(*rest)
        if tag == "kx":
            return self._exception_class(*rest)
        if tag == "o":
            return self._remote(*rest)
        if tag == "co":
            return self._await(*rest)
        raise Malformed(f"no tag {tag}")

    def _shadow(self, number: int, *description: Any) -> Any:
        if number in self._shadows:
            return self._shadows[number]
        name, base_trees, special = description
        bases = [unpack(tree, self._resolve) for tree in base_trees]
        if any(b.__module__ == MODULE for b in bases if type(b) is not RemoteType):
            raise Malformed("a class of the asserts is no base of the program's")
        named = self._naming or any(getattr(base, "_is_named", False) for base in bases)
        exception = any(issubclass(base, BaseException) for base in bases)
        named = named and not exception
        data = next((b for b in DATA_TYPES for base in bases if issubclass(base, b)), None)
        namespace = {"_link": self, "_number": number, "_is_named": named}
        namespace["__doc__"] = vars(Remote)["__doc__"]
        if not bases[1:] and name in _KINDS:
            namespace["__class__"] = property(lambda _: _KINDS[name])
        if data is None or named:
            kept = [b for b in bases if issubclass(b, Remote | BaseException) and b is not object]
            for special_name, defined in special.items():
                if special_name in SPECIAL and not exception:
                    namespace[special_name] = forward(special_name) if defined else None
        else:
            kept = [b for b in bases if b is not object]
            namespace["_data"] = data
        if not any(issubclass(b, Remote) for b in kept):
            kept.insert(0, Remote)
        shadow = type.__new__(RemoteType, str(name), tuple(kept), namespace)
        self._shadows[number] = shadow
        return shadow

    def _exception_class(self, number: int, module: str, name: str, *description: Any) -> Any:
        """An exception of the standard library that the asserts have imported, or a shadow."""
        is_standard = module.partition(".")[0] in _STANDARD
        known = getattr(sys.modules.get(module), name, None) if is_standard else None
        if isinstance(known, type) and issubclass(known, BaseException):
            self._shadows[number] = known
        return self._shadow(number, name, *description)

    def _remote(self, number: int, class_tree: list[Any], extra: Any) -> Any:
        if number in self._remotes:
            given_back = self._remotes[number]
            object.__setattr__(given_back, "_is_made", False)
            return given_back
        shadow = unpack(class_tree, self._resolve)
        is_shadow = type(shadow) is RemoteType
        if not is_shadow:
            return self._library_error(shadow, extra)
        if issubclass(shadow, BaseException):
            args = [unpack(tree, self._resolve) for tree in extra]
            instance = BaseException.__new__(shadow, *args)
        elif shadow._data is not None:
            value = unpack(extra, self._resolve)
            instance = shadow._data.__new__(shadow, value)
            if shadow._data in (list, dict, set):
                shadow._data.__init__(instance, value)
        else:
            instance = object.__new__(shadow)
        object.__setattr__(instance, "_handle", number)
        self._remotes[number] = instance
        return instance

    def _library_error(self, kind: Any, extra: Any) -> Any:
        if not issubclass(kind, BaseException):
            return None
        args = [unpack(tree, self._resolve) for tree in extra]
        return kind(*args) if kind.__module__ == "builtins" else kind.__new__(kind, *args)

    async def _await(self, number: int) -> Any:
        """Stands for a coroutine, which the program's process runs to its end."""
        return self.do("await", number, "", ())

    # What goes out.

    def _export(self, value: Any) -> list[Any]:
        kind = type(value)
        if kind is type(len) and value in vars(builtins).values():
            # The program has its own; called over the link, it would run here.
            return ["bf", value.__name__]
        if issubclass(kind, RemoteType):
            return ["k", value._number]
        if issubclass(kind, Remote):
            return ["o", value._handle]
        known = (n for n, exported in enumerate(self._exported) if exported is value)
        number = next(known, len(self._exported))
        if number == len(self._exported):
            self._exported.append(value)
        name = str(getattr(value, "__name__", kind.__name__))
        if _is_open(kind):
            special = {n for k in kind.__mro__[:-1] for n in SPECIAL & vars(k).keys()}
            has = [n for n in sorted(special) if getattr(kind, n) is not None]
            return ["j", number, "instance", kind.__name__, has]
        return ["j", number, "iterator" if hasattr(kind, "__next__") else "function", name, []]

    def serve(self, operation: str, rest: list[Any]) -> list[Any]:
        """Serves the program: calls of what it was given, and what is public of instances."""
        try:
            if operation == "input":
                return ["=", pack(builtins.input(str(rest[0])), self._export), []]
            target = self._exported[rest[0]]
            if operation == "call":
                args = [unpack(tree, self._resolve) for tree in rest[1]]
                named = {key: unpack(tree, self._resolve) for key, tree in rest[2].items()}
                value = target(*args, **named)
            else:
                value = self._serve_instance(target, operation, *rest[1:])
            return ["=", pack(value, self._export), []]
        except (Gone, Tampering):
            raise
        except Exception as error:  # noqa: BLE001 - what a callback raises is the caller's
            is_theirs = isinstance(error, Remote)
            return ["!", self._export(error) if is_theirs else _plain_error(error), []]

    def _serve_instance(self, target: Any, operation: str, name: str, *trees: Any) -> Any:
        own = _is_open(type(target))
        if operation == "op" and name in SPECIAL and (own or name == "__next__"):
            args = [unpack(tree, self._resolve) for tree in trees[0]]
            return getattr(type(target), name)(target, *args)
        if operation in ("get", "set") and own and not name.startswith("_"):
            if operation == "get":
                return getattr(target, name)
            return setattr(target, name, unpack(trees[0][0], self._resolve))
        raise AttributeError(name)


def _is_open(kind: Any) -> bool:
    """Whether the program may use what is public of its instances."""
    return kind.__module__ == MODULE or (kind.__module__, kind.__name__) in _OPEN


_OPEN = frozenset(
    {("_io", "StringIO"), ("_io", "BytesIO"), ("re", "Pattern"), ("types", "SimpleNamespace")}
)
# What `isinstance` and `inspect` say of objects that no program makes by calling a class.
_KINDS = {kind.__name__: kind for kind in (GeneratorType, AsyncGeneratorType, FunctionType)}
# A skipped test is no exception to the asserts that runs through.
_STANDARD = frozenset(sys.stdlib_module_names - {"unittest"})
_SAFE_MODULES = frozenset({"math", "string", "itertools", "collections", "functools", "re"})


def _plain_error(error: Exception) -> list[Any]:
    """An exception for the program: of the built-in kind nearest to it."""
    kind = next(k for k in type(error).__mro__ if k.__module__ == "builtins")
    return [kind.__name__, str(error)[:1000]]


def _update(old: Any, new: Any) -> None:
    """Makes a mutable argument what it was changed to, keeping what is in it where it can."""
    if old is new:
        return
    if isinstance(old, list) and isinstance(new, list):
        pairs = zip(old, new, strict=False)
        old[:] = [_merged(*pair) for pair in pairs] if len(old) == len(new) else new
    elif isinstance(old, dict) and isinstance(new, dict):
        merged = {key: _merged(old.get(key), value) for key, value in new.items()}
        old.clear()
        old.update(merged)
    elif isinstance(old, set) and isinstance(new, set):
        old.clear()
        old.update(new)
    elif isinstance(old, bytearray) and isinstance(new, bytearray):
        old[:] = new
    elif hasattr(old, "extend") and hasattr(new, "extend"):
        old.clear()
        old.extend(new)


def _merged(old: Any, new: Any) -> Any:
    if type(old) is type(new) and isinstance(old, list | dict | set | bytearray):
        _update(old, new)
        return old
    return new
