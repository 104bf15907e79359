"""Serves a task's own modules from memory, as they were before the candidate's code ran.

Whatever the candidate does to the files, or plants as byte code beside them, is never loaded.
The module under test itself can be replaced by a stub, so that tests can be collected where
no candidate has been.
"""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

# A module whose every name is a class that can be called, raised, derived from and, like one
# value or a sequence of one, computed with.
STUB = """
from unittest.mock import MagicMock

class _Kind(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock()

def _is(value):
    return lambda cls, *args: value

for _name in "add radd sub rsub mul rmul truediv rtruediv floordiv mod pow neg or and".split():
    setattr(_Kind, f"__{_name}__", lambda cls, *args: MagicMock())
for _name in ("lt", "le", "gt", "ge", "contains"):
    setattr(_Kind, f"__{_name}__", _is(True))
for _name in ("len", "int", "index"):
    setattr(_Kind, f"__{_name}__", _is(1))
_Kind.__iter__ = lambda cls: iter([MagicMock()])
_Kind.__getitem__ = lambda cls, key: MagicMock()

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    make = lambda cls, *args, **keywords: (
        MagicMock() if cls is stub else Exception.__new__(cls, *args)
    )
    stub = _Kind(name, (Exception,), {"__new__": make})
    globals()[name] = stub
    return stub
"""


class TaskFinder(MetaPathFinder):
    """Finds modules below `root` among `sources`, texts by absolute path."""

    def __init__(self, root: str, sources: dict[str, str]) -> None:
        self._root = root
        self._sources = sources

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The first module of that name on the path, if it is the task's."""
        last = name.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            place = os.path.join(os.path.abspath(folder), last)
            if not place.startswith(self._root):
                continue
            for file in (os.path.join(place, "__init__.py"), f"{place}.py"):
                if file in self._sources:
                    return spec_from_loader(name, TaskLoader(file, self._sources[file]))
                if os.path.exists(file):
                    return None
        return None


class TaskLoader(SourceLoader):
    """Loads one text; there is no byte code for it."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._text = text

    def get_filename(self, fullname: str) -> str:
        """Where it lies on disk."""
        return self._file

    def get_data(self, path: str) -> bytes:
        """The text that was given, for that file alone."""
        if path != self._file:
            raise OSError(path)
        return self._text.encode(errors="surrogatepass")
