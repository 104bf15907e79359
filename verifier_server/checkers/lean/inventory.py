"""What of Lean this host has, part by part, for `verifier-server doctor`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sandboxes.base import Finding
from verifier_server.checkers.lean.toolchain import Toolchain, find_toolchain, read_settings
from verifier_server.errors import SandboxFault
from verifier_server.settings import LeanSettings

_LIBRARY = "build it and name it in VERIFIER_LEAN_PATH or VERIFIER_LEAN_PROJECT"
_REMEDIES = {
    "exporter": ("lean4export", "build it for this Lean; set VERIFIER_LEAN_EXPORTER"),
    "leanchecker": ("leanchecker", "it comes with Lean; `sound` needs one that takes --export"),
    "comparator": ("comparator", "build it for this Lean; set VERIFIER_LEAN_COMPARATOR"),
    "nanoda": ("nanoda_bin", "cargo install nanoda_bin; set VERIFIER_LEAN_NANODA"),
    "repl": ("repl", "build it for this Lean; set VERIFIER_LEAN_REPL"),
}


def take_inventory(settings: LeanSettings | None = None) -> list[Finding]:
    """Each part of a full set-up: whether it is here, where, and how to get it."""
    try:
        settings = settings or read_settings()
        toolchain = find_toolchain(settings)
    except SandboxFault as error:
        return [Finding("tool chain", ok=False, detail=error.args[0], remedy=error.remedy)]
    return list(_parts(toolchain, settings))


def is_sound_age(toolchain: Toolchain, settings: LeanSettings) -> bool:
    """Whether this Lean is none of those whose kernels have known holes."""
    return toolchain.version >= tuple(map(int, settings.oldest_sound.split(".")))


def _parts(toolchain: Toolchain, settings: LeanSettings) -> Iterator[Finding]:
    yield Finding("tool chain", ok=True, detail=f"Lean {toolchain.name} at {toolchain.prefix}")
    yield Finding(
        "age",
        ok=is_sound_age(toolchain, settings),
        detail=f"tier `sound` takes {settings.oldest_sound} or later",
        remedy="install a newer Lean: kernels before have known holes",
    )
    for library, module in (("Lean's own", "Init"), ("Mathlib", "Mathlib")):
        found = _library(toolchain, module)
        yield Finding(library, ok=found is not None, detail=found or "none", remedy=_LIBRARY)
    for part, (name, remedy) in _REMEDIES.items():
        path = getattr(toolchain, part)
        yield Finding(name, ok=path is not None, detail=path or "none", remedy=remedy)


def _library(toolchain: Toolchain, module: str) -> str | None:
    """The directory that holds a compiled module, where Lean would find it."""
    folders = (*toolchain.libraries, os.path.join(toolchain.prefix, "lib", "lean"))
    return next((f for f in folders if os.path.isfile(os.path.join(f, f"{module}.olean"))), None)


__all__ = ["is_sound_age", "take_inventory"]
