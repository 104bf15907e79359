"""Python programs run by a fork of this interpreter, which has imported modules already.

To the program it looks like a fresh `python3`: where anything would be amiss (other flags,
variables that Python or the C library read when they start, a file that does not compile),
it is a fresh one, started by exec. What shows is that modules are there before they are
imported, and two frames of ours below the program's first, which don't count as recursion.
Sources: `Modules/main.c`, `Python/pythonrun.c`, `Lib/runpy.py`.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import io
import os
import runpy
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import BuiltinImporter, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from sandboxes.launcher.ending import end
from sandboxes.layout import LAUNCHER

# Variables that are read when an interpreter starts, by name or by how it begins.
_READ_AT_START = ("HOME", "LANG", "LANGUAGE", "PATH", "TZ")
_READ_AT_START_PREFIXES = ("PYTHON", "LC_", "LD_", "MALLOC_", "GLIBC_")
# Below HOME; its packages are found when an interpreter starts.
_USER_PACKAGES = ".local/"
# Where in a thread's state its recursion is counted: near its start, see `_forget_calls`.
_STATE_INTEGERS, _SHALLOW = 24, 50
# Which say what is so already.
_IDLE_FLAGS = ("-B",)
_C_LONG = 1 << 63


@dataclass(frozen=True, slots=True)
class Command:
    """What a `python3` is asked to do: run a file, a module (-m) or a text (-c).

    Attributes:
        kind: "-c", "-m" or, for a file, nothing.
        what: the text, the module's name or the file's path.
        arguments: what follows.
    """

    kind: str
    what: str
    arguments: tuple[str, ...]

    @classmethod
    def parse(cls, argv: Sequence[str]) -> Command | None:
        """None if it is anything else, or asked for with flags that we don't have."""
        if argv[0] != "python3":
            return None
        rest = list(argv[1:])
        while rest and rest[0] in _IDLE_FLAGS:
            rest.pop(0)
        if len(rest) > 1 and rest[0] in ("-c", "-m"):
            return cls(rest[0], rest[1], tuple(rest[2:]))
        if rest and not rest[0].startswith("-"):
            return cls("", rest[0], tuple(rest[1:]))
        return None

    @property
    def folder(self) -> str:
        """Where modules are looked for first."""
        if self.kind == "-c":
            return ""
        return os.getcwd() if self.kind == "-m" else os.path.dirname(os.path.realpath(self.what))


class Program:
    """A Python program that this process is to become. `run` it as the last thing of all.

    Args:
        command: what it is.
        code: compiled; None for a module, which is found when it runs.
        names: of its `__main__`.
    """

    def __init__(self, command: Command, code: CodeType | None, names: dict[str, Any]) -> None:
        self._module = command.what
        self._code = code
        self._names = names
        self._our_handlers = atexit._ncallbacks()

    def run(self) -> None:
        """Runs it; ends like it. Below it, there is but this frame and its caller's."""
        code, names, status = self._code, self._names, 0
        self._code, self._names = None, {}
        try:
            if code is not None:
                exec(code, names)  # noqa: S102
            else:
                runpy._run_module_as_main(self._module)  # type: ignore[attr-defined]
        except SystemExit as error:
            asked = _status(error)
            if asked is None:
                gc.unfreeze()
                raise  # the interpreter says what it is asked to say
            status = asked
        except KeyboardInterrupt as error:
            _report(error)
            sys.excepthook = lambda *_: None
            gc.unfreeze()
            raise  # the interpreter ends itself by SIGINT
        except BaseException as error:  # noqa: BLE001
            _report(error)
            status = 1
        del code, names  # nothing of the program's is held by us now
        if sys.gettrace() is None and sys.getprofile() is None:
            end(status, self._our_handlers)
        gc.unfreeze()
        raise SystemExit(status)


class WarmInterpreter:
    """This interpreter, to be forked.

    Args:
        modules: are imported now. They must start no threads, and read no variable when they
            are imported that a program may have set otherwise.

    Raises:
        ImportError: there is no such module.
    """

    def __init__(self, modules: Sequence[str]) -> None:
        for name in modules:
            importlib.import_module(name)
        self._variables = _at_start(os.environ)

    def become(
        self, argv: Sequence[str], env: Mapping[str, str], files: Mapping[str, bytes]
    ) -> Program | None:
        """Makes this process what a fresh interpreter would be; None where it can't.

        Args:
            argv: the command line.
            env: the whole environment.
            files: what lies in the work directory.
        """
        if _at_start(env) != self._variables or any(f.startswith(_USER_PACKAGES) for f in files):
            return None
        command = Command.parse(argv)
        if command is None or _hides_ours(command.folder):
            return None
        gc.freeze()  # all that is here by now is ours
        main = ModuleType("__main__")
        names = vars(main)
        names.update(__annotations__={}, __builtins__=sys.modules["builtins"])
        code = None
        warned, sys.stderr = sys.stderr, io.StringIO()
        try:
            if command.kind == "-c":
                code = compile(command.what, "<string>", "exec", dont_inherit=True)
                names["__loader__"] = BuiltinImporter
            elif command.kind == "":
                code = _compile_file(command.what, names)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return None  # a fresh one knows how to say so, and will warn, too
        finally:
            warned, sys.stderr = sys.stderr, warned
        sys.stderr.write(warned.getvalue())
        _dress(command, argv, env)
        sys.modules["__main__"] = main
        return Program(command, code, names)


def _hides_ours(folder: str) -> bool:
    """Whether a module that we have imported would be another one's if it were imported now."""
    ours = {name.partition(".")[0] for name in sys.modules} - {"__main__"}
    return os.path.isdir(folder or ".") and any(
        name.partition(".")[0] in ours for name in os.listdir(folder or ".")
    )


def _compile_file(path: str, names: dict[str, Any]) -> CodeType:
    with open(path, "rb") as file:
        source = file.read()
    if not path.endswith(".py") or b"\0" in source:
        raise ValueError("it may be no source text")
    absolute = path if path.startswith("/") else f"{os.getcwd()}/{path}"
    names.update(__file__=absolute, __cached__=None)
    names["__loader__"] = SourceFileLoader("__main__", absolute)
    return compile(source, absolute, "exec", dont_inherit=True)


def _dress(command: Command, argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Takes on what an interpreter has of its command line and environment, and takes off ours."""
    sys.path[:] = [command.folder, *(path for path in sys.path if path != LAUNCHER)]
    sys.path_importer_cache.pop(LAUNCHER, None)
    sys.argv[:] = [command.kind or command.what, *command.arguments]
    sys.orig_argv[:] = argv
    for name in [name for name in sys.modules if name.partition(".")[0] == "sandboxes"]:
        del sys.modules[name]
    os.environ.clear()
    os.environ.update(env)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if numpy := sys.modules.get("numpy.random"):  # the standard library's reseeds itself
        numpy.seed()
    _forget_calls(_calls_below(command))


def _calls_below(command: Command) -> int:
    """How many calls are below a program's first that are not below a fresh interpreter's."""
    ours = 2
    counts_builtins = sys.version_info < (3, 12)
    return ours + (1 if command.kind != "-m" and counts_builtins else 0)


def _forget_calls(count: int) -> None:
    """Lets this thread go so much deeper, at the same recursion limit.

    In a thread's state two integers lie side by side: how many more calls it may make, and
    the limit. Where they can't be found a program may go a few calls less deep.
    """
    state = ctypes.pythonapi.PyThreadState_Get
    state.restype = ctypes.c_void_p
    numbers = ctypes.cast(state(), ctypes.POINTER(ctypes.c_int * _STATE_INTEGERS)).contents
    limit = sys.getrecursionlimit()
    for remaining in range(_STATE_INTEGERS - 1):
        if numbers[remaining + 1] == limit and 0 < limit - numbers[remaining] < _SHALLOW:
            numbers[remaining] += count
            return


def _report(error: BaseException) -> None:
    """Tells of an exception that nobody caught, as the interpreter does."""
    trace = error.__traceback__.tb_next if error.__traceback__ else None  # without our frame
    error.__traceback__ = trace
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        _say("sys.excepthook is missing")
        hook = sys.__excepthook__
    try:
        hook(type(error), error, trace)
    except SystemExit:
        raise
    except BaseException as failure:  # noqa: BLE001
        failure.__traceback__ = failure.__traceback__ and failure.__traceback__.tb_next
        failure.__context__ = None
        for title, shown in (
            ("Error in sys.excepthook:", failure),
            ("\nOriginal exception was:", error),
        ):
            _say(title)
            sys.__excepthook__(type(shown), shown, shown.__traceback__)


def _say(text: str) -> None:
    """Like the interpreter, without its error stream if the program took that away."""
    if sys.stderr is None:
        os.write(2, f"{text}\n".encode())
    else:
        print(text, file=sys.stderr)  # noqa: T201


def _status(error: SystemExit) -> int | None:
    """The status that was asked for, if it was by a number that fits into a C long, or none."""
    code = error.code if type(error) is SystemExit else ""
    if code is None:
        return 0
    if issubclass(type(code), int):
        number = int.__int__(code)  # type: ignore[arg-type]
        return number if -_C_LONG <= number < _C_LONG else None
    return None


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in env.items()
        if name in _READ_AT_START or name.startswith(_READ_AT_START_PREFIXES)
    }


__all__ = ["Command", "Program", "WarmInterpreter"]
