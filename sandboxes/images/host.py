"""A root file system from what runs on this host: its Python, a shell, common tools.

No distribution, no network, no privilege: seconds. Files keep their host paths, so nothing needs
relocating; what isn't needed to run Python and shell programs isn't there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from sandboxes.images.errors import WayClosed
from sandboxes.images.tree import copy, make_folders

OFFERS = ("python", "bash")
_TOOLS = (
    *("sh", "bash", "cat", "ls", "cp", "mv", "rm", "ln", "mkdir", "rmdir", "touch", "chmod"),
    *("echo", "printf", "true", "false", "test", "[", "env", "printenv", "sleep", "date", "seq"),
    *("expr", "yes", "head", "tail", "sort", "uniq", "wc", "tr", "cut", "paste", "join", "comm"),
    *("tee", "tac", "rev", "nl", "fold", "split", "shuf", "factor", "basename", "dirname", "stat"),
    *("realpath", "readlink", "mktemp", "mkfifo", "kill", "id", "uname", "pwd", "od", "md5sum"),
    *("sha256sum", "base64", "numfmt", "sed", "grep", "awk", "find", "xargs", "diff", "cmp", "bc"),
    *("timeout", "nice", "nohup", "setsid", "dd", "df", "du", "sync", "ps"),
)
_TOOLS_PATH = "/usr/bin:/bin"
# Of the standard library: tests, and what needs a display or an installer.
_LEFT_OUT = {
    *("test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3"),
    *("site-packages", "dist-packages", "__pycache__"),
}
_LINKS_INTO_USR = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_LOADED_BY_NAME = ("libgcc_s.so.1",)  # by the C library, when a thread ends


def describe() -> str:
    """What such a file system is made of."""
    return f"python {sys.version.split()[0]} of {os.path.realpath(sys.executable)}"


def copy_host(root: Path) -> None:
    """Fills an empty directory.

    Raises:
        WayClosed: this host lacks ldd(1) or a shell.
    """
    ldd = shutil.which("ldd")
    if ldd is None or shutil.which("sh", path=_TOOLS_PATH) is None:
        raise WayClosed("this host has no ldd or sh", remedy="apt install libc-bin dash")
    for name in _LINKS_INTO_USR:
        if os.path.islink(f"/{name}"):
            (root / name).symlink_to(os.readlink(f"/{name}"))
            make_folders(root / os.readlink(f"/{name}").lstrip("/"), root)
    programs = [os.path.realpath(sys.executable), *_tools()]
    modules = list(_standard_library())
    binaries = [*programs, *(path for path in modules if ".so" in os.path.basename(path))]
    for path in sorted({*programs, *modules, *_libraries(ldd, binaries), *_loader_files()}):
        copy(root, path, _resolved(path))


def _tools() -> Iterator[str]:
    for name in _TOOLS:
        path = shutil.which(name, path=_TOOLS_PATH)
        if path is not None:
            yield path


def _standard_library() -> Iterator[str]:
    for folder, folders, names in os.walk(sysconfig.get_path("stdlib")):
        folders[:] = [f for f in folders if f not in _LEFT_OUT and not f.startswith("config-")]
        for name in names:
            path = os.path.join(folder, name)
            if not name.startswith("_tkinter") and not name.endswith(".a") and os.path.isfile(path):
                yield path


def _libraries(ldd: str, binaries: Iterable[str]) -> set[str]:
    """The shared libraries that these need, by the paths where the loader looks for them."""
    done = subprocess.run([ldd, *binaries], capture_output=True, text=True, check=False)
    found = set(re.findall(r"(/\S+) \(0x", done.stdout))
    folders = {os.path.dirname(path) for path in found}
    by_name = (os.path.join(f, name) for f in folders for name in _LOADED_BY_NAME)
    return found | {path for path in by_name if os.path.exists(path)}


def _loader_files() -> Iterator[str]:
    return (path for path in ("/etc/ld.so.cache", "/etc/localtime") if os.path.exists(path))


def _resolved(path: str) -> str:
    """The file's own name, where the links of its folders lead."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


__all__ = ["OFFERS", "copy_host", "describe"]
