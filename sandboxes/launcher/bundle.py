"""The files that make up a launcher, for whoever puts it into an image or a box."""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Mapping
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import MappingProxyType

from sandboxes.launcher.lean import lean_copy
from sandboxes.layout import LAUNCHER

_MAIN = b"""\
import sys

sys.path.insert(0, __file__.rpartition("/")[0])  # not there if this file was named, not its folder
from sandboxes.launcher.program import serve

program = serve()
if program is not None:
    program.run()
"""
_MODULES = (
    *("__init__", "base", "layout", "files", "process", "procfs", "metering"),
    *("confinement/__init__", "confinement/kernel", "confinement/landlock"),
    *("confinement/limits", "confinement/rules", "confinement/seccomp", "confinement/syscalls"),
    *("launcher/__init__", "launcher/box", "launcher/boxes", "launcher/confine", "launcher/ending"),
    *(
        "launcher/lean",
        "launcher/messages",
        "launcher/namespaces",
        "launcher/program",
        "launcher/stream",
    ),
    *("launcher/warm",),
)


@cache
def launcher_files() -> Mapping[str, bytes]:
    """Contents by path, below the directory that `python3` is given (`layout.LAUNCHER`)."""
    package = Path(__file__).parent.parent
    paths = [f"{module}.py" for module in _MODULES]
    files = {f"{package.name}/{path}": lean_copy((package / path).read_bytes()) for path in paths}
    return MappingProxyType({"__main__.py": _MAIN, **files})


@cache
def compiled_launcher_files() -> Mapping[str, bytes]:
    """The same for the interpreter that runs us and no other, which has not to compile them."""
    files = launcher_files()
    modules = {path: content for path, content in files.items() if path != "__main__.py"}
    header = MAGIC_NUMBER + bytes(12)  # of no source: nothing is looked up but these
    compiled = {
        f"{path}c": header + marshal.dumps(compile(content, f"{LAUNCHER}/{path}", "exec"))
        for path, content in modules.items()
    }
    return MappingProxyType({"__main__.py": files["__main__.py"], **compiled})


@cache
def launcher_digest() -> str:
    """Of all files and their paths: says whether an image holds this very launcher."""
    digest = hashlib.sha256()
    for path, content in sorted(launcher_files().items()):
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return f"sha256:{digest.hexdigest()}"


__all__ = ["compiled_launcher_files", "launcher_digest", "launcher_files"]
