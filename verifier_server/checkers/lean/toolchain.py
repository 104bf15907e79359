"""The Lean that this host has: where its parts are, and what they are.

Asked in this order: `VERIFIER_LEAN_COMMAND`, the Lake project `VERIFIER_LEAN_PROJECT`, `lean`
on the PATH, elan's. Compiled libraries are those of `VERIFIER_LEAN_PATH` and of the project.

A process finds it once and keeps to it: after a change the service must be started anew.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from sandboxes.layout import MOUNTS
from verifier_server.errors import SandboxFault
from verifier_server.settings import LeanSettings

_ASK_S = 120.0
# How long a search that found none is believed: asking costs time, and each item would ask.
_RETRY_S = 60.0
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
        comparator: the Lean project's own judge of proofs, if there is one.
        repl: `repl` of leanprover-community, if there is one.
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
    comparator: str | None
    repl: str | None
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
        return {
            "LEAN_PATH": ":".join(path),
            "LEAN_SYSROOT": f"{MOUNTS}/lean",
            # A tool may have been linked against Lean's libraries where they lie on the host.
            "LD_LIBRARY_PATH": f"{MOUNTS}/lean/lib/lean:{MOUNTS}/lean/lib",
        }

    @property
    def lean(self) -> str:
        """`lean` in a box."""
        return f"{MOUNTS}/lean/{self.command}"

    def tool(self, name: str) -> str | None:
        """The tool `exporter`, `leanchecker` or `nanoda` in a box, if there is one."""
        path: str | None = getattr(self, name)
        if path is None:
            return None
        folder = "lean/bin" if name == "leanchecker" else name
        return f"{MOUNTS}/{folder}/{os.path.basename(path)}"


_failures: dict[LeanSettings, tuple[float, SandboxFault]] = {}


def find_toolchain(settings: LeanSettings | None = None) -> Toolchain:
    """The tool chain in force; found once per process and settings.

    Raises:
        SandboxFault: there is none, or it doesn't answer; says the remedy. Not looked for
            again for a minute.
    """
    settings = settings or read_settings()
    if settings in _failures:
        failed_s, error = _failures[settings]
        if time.monotonic() - failed_s < _RETRY_S:
            raise SandboxFault(error.args[0], remedy=error.remedy)
    try:
        return _find(settings)
    except SandboxFault as error:
        _failures[settings] = (time.monotonic(), error)
        raise


def read_settings() -> LeanSettings:
    """The settings of the environment. Raises SandboxFault if they don't validate."""
    try:
        return LeanSettings()
    except ValidationError as error:
        first = error.errors()[0]
        name = f"VERIFIER_LEAN_{'_'.join(map(str, first['loc'])).upper()}"
        raise SandboxFault(f"{name}: {first['msg']}", remedy="see docs/settings.md") from error


@lru_cache(maxsize=4)
def _find(settings: LeanSettings) -> Toolchain:
    lean, libraries = _locate(settings)
    prefix, command = _prefix(lean)
    said = _ask([os.path.join(prefix, command), "--version"])
    match = _VERSION.search(said)
    if match is None:
        raise SandboxFault(f"{lean} --version says {said[:100]!r}, no version", remedy=_REMEDY)
    tools = {
        "exporter": _tool(settings.exporter, "lean4export"),
        "leanchecker": _tool(None, os.path.join(prefix, "bin", "leanchecker")),
        "nanoda": _tool(settings.nanoda, "nanoda_bin"),
        "comparator": _tool(settings.comparator, os.path.join(prefix, "bin", "comparator"))
        or _tool(None, "comparator"),
        # Not the PATH's: many programs are called so.
        "repl": _tool(settings.repl, settings.repl) if settings.repl else None,
    }
    programs = [os.path.join(prefix, command), *filter(None, tools.values())]
    return Toolchain(
        prefix=prefix,
        command=command,
        version=tuple(map(int, match["numbers"].split("."))),
        name=" ".join(filter(None, [match["numbers"], (match["commit"] or "")[:12]])),
        libraries=libraries,
        identity=_identity(said, [*programs, *_shared(prefix)], libraries),
        **tools,
    )


def _locate(settings: LeanSettings) -> tuple[str, tuple[str, ...]]:
    """The `lean` to use, and the directories of compiled modules."""
    listed = [path for path in (settings.path or "").split(":") if path]
    for path in listed:
        if not os.path.isdir(path):
            raise SandboxFault(
                f"{path} is no directory of compiled modules", remedy="correct VERIFIER_LEAN_PATH"
            )
    lean = settings.command
    if settings.project:
        lake = shutil.which("lake") or os.path.expanduser("~/.elan/bin/lake")
        found = _ask([lake, "env", "printenv", "LEAN_PATH"], settings.project).split(":")
        # Lake names a directory for each package, built or not.
        listed += [path for path in _below(settings.project, found) if os.path.isdir(path)]
        if lean is None:
            sysroot = _ask([lake, "env", "printenv", "LEAN_SYSROOT"], settings.project)
            lean = os.path.join(sysroot, "bin", "lean")
    lean = lean or shutil.which("lean") or os.path.expanduser("~/.elan/bin/lean")
    if shutil.which(lean) is None:
        raise SandboxFault(f"there is no Lean on this host (looked for {lean})", remedy=_REMEDY)
    return lean, tuple(dict.fromkeys(os.path.abspath(path) for path in listed))


def _below(folder: str, paths: Sequence[str]) -> list[str]:
    """Paths that a program said in `folder`, as seen from here."""
    return [os.path.join(folder, path) for path in paths if path]


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


def _shared(prefix: str) -> list[str]:
    """The shared libraries that are Lean: the program itself only calls them."""
    return sorted(str(path) for path in Path(prefix, "lib").rglob("lib*shared*"))


def _compiled(libraries: Sequence[str]) -> Iterator[str]:
    for library in libraries:
        yield from sorted(str(path) for path in Path(library).rglob("*.olean*"))


__all__ = ["Toolchain", "find_toolchain", "read_settings"]
