"""The Lean that this host has: where its parts are, and what they are.

Asked in this order: `VERIFIER_LEAN_COMMAND`, the Lake project `VERIFIER_LEAN_PROJECT`, `lean`
on the PATH, elan's. Compiled libraries are those of `VERIFIER_LEAN_PATH` and of the project.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sandboxes.layout import MOUNTS
from verifier_server.errors import SandboxFault
from verifier_server.settings import LeanSettings

_ASK_S = 120.0
_VERSION = re.compile(
    r"version (?P<numbers>\d+(?:\.\d+)+)\S*(?:.*commit (?P<commit>[0-9a-f]{8,}))?"
)
_REMEDY = "install Lean and set VERIFIER_LEAN_COMMAND to its `lean`, see docs/lean.md"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A Lean that works, by host paths.

    Attributes:
        prefix: the tool chain's directory.
        command: its `lean`, relative to `prefix`.
        version: as numbers.
        name: version and commit, for verdicts.
        libraries: directories of compiled modules, in the order in which they are searched.
        exporter: `lean4export`, if there is one.
        leanchecker: the official kernel's replay, if there is one.
        nanoda: an independent kernel, if there is one.
        identity: changes when any of it does.
    """

    prefix: str
    command: str
    version: tuple[int, ...]
    name: str
    libraries: tuple[str, ...]
    exporter: str | None
    leanchecker: str | None
    nanoda: str | None
    identity: str

    @property
    def mounts(self) -> dict[str, str]:
        """What a box must show, by name."""
        libraries = {f"library{n}": path for n, path in enumerate(self.libraries)}
        tools = {"exporter": self.exporter, "nanoda": self.nanoda}
        folders = {name: os.path.dirname(path) for name, path in tools.items() if path}
        return {"lean": self.prefix, **libraries, **folders}

    @property
    def environment(self) -> dict[str, str]:
        """What Lean and its tools must find in their environment, in a box."""
        own = [f"{MOUNTS}/lean/lib/lean"]
        path = [".", *(f"{MOUNTS}/library{n}" for n in range(len(self.libraries))), *own]
        return {"LEAN_PATH": ":".join(path), "LEAN_SYSROOT": f"{MOUNTS}/lean"}

    @property
    def lean(self) -> str:
        """`lean` in a box."""
        return f"{MOUNTS}/lean/{self.command}"


def find_toolchain(settings: LeanSettings | None = None) -> Toolchain:
    """The tool chain in force; found once per process and settings.

    Raises:
        SandboxFault: there is none, or it doesn't answer; says the remedy.
    """
    return _find(settings or LeanSettings())


@lru_cache(maxsize=4)
def _find(settings: LeanSettings) -> Toolchain:
    lean, libraries = _locate(settings)
    prefix, command = _prefix(lean)
    said = _ask([lean, "--version"])
    match = _VERSION.search(said)
    if match is None:
        raise SandboxFault(f"{lean} --version says {said[:100]!r}, no version", remedy=_REMEDY)
    exporter = _tool(settings.exporter, "lean4export")
    leanchecker = _tool(None, os.path.join(prefix, "bin", "leanchecker"))
    nanoda = _tool(settings.nanoda, "nanoda_bin")
    tools = [os.path.join(prefix, command), *filter(None, (exporter, leanchecker, nanoda))]
    return Toolchain(
        prefix=prefix,
        command=command,
        version=tuple(map(int, match["numbers"].split("."))),
        name=" ".join(filter(None, [match["numbers"], (match["commit"] or "")[:12]])),
        libraries=libraries,
        exporter=exporter,
        leanchecker=leanchecker,
        nanoda=nanoda,
        identity=_identity(said, tools, libraries),
    )


def _locate(settings: LeanSettings) -> tuple[str, tuple[str, ...]]:
    """The `lean` to use, and the directories of compiled modules."""
    listed = [path for path in (settings.path or "").split(":") if path]
    lean = settings.command
    if settings.project:
        lake = shutil.which("lake") or os.path.expanduser("~/.elan/bin/lake")
        listed += _ask([lake, "env", "printenv", "LEAN_PATH"], settings.project).split(":")
        lean = lean or _ask([lake, "env", "sh", "-c", "command -v lean"], settings.project)
    lean = lean or shutil.which("lean") or os.path.expanduser("~/.elan/bin/lean")
    if shutil.which(lean) is None:
        raise SandboxFault(f"there is no Lean on this host (looked for {lean})", remedy=_REMEDY)
    for path in listed:
        if not os.path.isdir(path):
            raise SandboxFault(
                f"{path} is no directory of compiled modules", remedy="correct VERIFIER_LEAN_PATH"
            )
    return lean, tuple(dict.fromkeys(os.path.abspath(path) for path in listed))


def _prefix(lean: str) -> tuple[str, str]:
    """The tool chain's directory and its `lean` below it: elan's `lean` is none itself."""
    found = os.path.realpath(shutil.which(lean) or lean)
    for prefix in (_ask([lean, "--print-prefix"]), os.path.dirname(os.path.dirname(found))):
        if os.path.isfile(os.path.join(prefix, "bin", "lean")):
            return os.path.realpath(prefix), "bin/lean"
    raise SandboxFault(f"{lean} belongs to no tool chain with a bin/lean", remedy=_REMEDY)


def _tool(asked: str | None, usual: str) -> str | None:
    """An optional tool's path: what was asked for must be there."""
    found = shutil.which(asked or usual)
    if asked and not found:
        raise SandboxFault(f"{asked} is no executable", remedy="correct the VERIFIER_LEAN_ setting")
    return os.path.realpath(found) if found else None


def _ask(argv: Sequence[str], folder: str | None = None) -> str:
    try:
        done = subprocess.run(
            argv, cwd=folder, capture_output=True, text=True, timeout=_ASK_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", "") or error).strip()[-300:]
        raise SandboxFault(f"{' '.join(argv)} failed: {said}", remedy=_REMEDY) from error
    return done.stdout.strip()


def _identity(said: str, tools: Sequence[str], libraries: Sequence[str]) -> str:
    """A digest of names, sizes and times: contents would be gigabytes."""
    digest = hashlib.sha256(said.encode())
    for path in [*tools, *_compiled(libraries)]:
        state = os.stat(path)
        digest.update(f"\n{path} {state.st_size} {state.st_mtime_ns}".encode())
    return digest.hexdigest()[:16]


def _compiled(libraries: Sequence[str]) -> Iterator[str]:
    for library in libraries:
        yield from sorted(str(path) for path in Path(library).rglob("*.olean*"))


__all__ = ["Toolchain", "find_toolchain"]
