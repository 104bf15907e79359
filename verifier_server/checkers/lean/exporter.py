"""Has `lean4export` print a compiled module's constants, in a box of its own.

It maps the module into its memory as it is, so a hostile one may take it over, and then it
prints what that wants. That is no harm: statement, axioms and kernels are all judged by what
it prints, and by nothing else.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

from sandboxes.base import ExecResult, ExitReason
from verifier_server.checkers.lean.box import Ran, Workshop
from verifier_server.checkers.lean.export.graph import Graph
from verifier_server.checkers.lean.export.reader import read_export
from verifier_server.checkers.lean.toolchain import read_settings
from verifier_server.errors import SandboxFault


def run_exporter(
    workshop: Workshop, module: str, modules: Mapping[str, bytes], constants: Sequence[str]
) -> Ran:
    """Runs it over a module; what is not there it leaves out.

    Args:
        workshop: runs it.
        module: the module's name.
        modules: it and those that it imports beside the libraries, by name.
        constants: full names of those to export, with all that they reach.

    Raises:
        SandboxFault: there is no exporter, or the box failed.
    """
    exporter = workshop.toolchain.tool("exporter")
    if exporter is None:
        raise SandboxFault("there is no lean4export", remedy="set VERIFIER_LEAN_EXPORTER")
    files = {f"{name}.olean": content for name, content in modules.items()}
    # As options and names are told apart by dashes, neither can be taken for the other.
    argv = [exporter, "--ignore-missing", module, "--", *constants]
    return workshop.run(argv, files, output_bytes=read_settings().export_bytes)


def is_whole(result: ExecResult) -> bool:
    """Whether the exporter ended well and all that it said is here."""
    ended = result.reason is ExitReason.EXITED and result.exit == 0
    return ended and not result.truncated


def read(export: bytes) -> Graph:
    """What an export says. Raises ExportError."""
    return read_export(io.BytesIO(export))


__all__ = ["is_whole", "read", "run_exporter"]
