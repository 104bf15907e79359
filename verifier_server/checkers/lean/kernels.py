"""Kernels that replay an export from nothing: the official one, and an independent one.

`leanchecker --export FILE` is Lean's own kernel; older ones take no exports and don't count.
`nanoda_bin CONFIG` is another author's, in another language. Each must first accept a small
true proof and refuse a false one here, so that neither a tool that doesn't work nor one that
takes everything is ever believed.

Sources: `src/LeanChecker.lean` of leanprover/lean4, the README of ammkrn/nanoda_lib.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sandboxes.base import ExecResult, ExitReason
from verifier_server.checkers.lean.box import Workshop, describe, limit_of
from verifier_server.errors import SandboxFault
from verifier_server.verdict import Outcome

log = logging.getLogger(__name__)

_EXPORT, _CONFIG = "export.ndjson", "nanoda.json"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A program that replays an export.

    Attributes:
        name: for verdicts.
        tool: its name in the tool chain.
        arguments: after the program.
        files: that it needs beside the export, given the axioms that are allowed.
    """

    name: str
    tool: str
    arguments: tuple[str, ...]
    files: Callable[[Sequence[str]], Mapping[str, bytes]]

    def run(self, workshop: Workshop, export: bytes, axioms: Sequence[str]) -> ExecResult:
        """Replays an export.

        Raises:
            SandboxFault: the box failed.
        """
        program = workshop.toolchain.tool(self.tool)
        files = {_EXPORT: export, **self.files(axioms)}
        return workshop.run([str(program), *self.arguments], files).result


def _nanoda_config(axioms: Sequence[str]) -> Mapping[str, bytes]:
    config = {
        "export_file_path": _EXPORT,
        "use_stdin": False,
        "permitted_axioms": list(axioms),
        "unpermitted_axiom_hard_error": True,
        "nat_extension": True,
        "string_extension": True,
    }
    return {_CONFIG: json.dumps(config).encode()}


KERNELS = (
    Kernel("official", "leanchecker", ("--export", _EXPORT), lambda _: {}),
    Kernel("nanoda", "nanoda", (_CONFIG,), _nanoda_config),
)


_found: dict[str, tuple[Kernel, ...]] = {}


@dataclass(frozen=True, slots=True)
class Replay:
    """What a kernel made of an export. `limit` is the one that ended it, if any did."""

    kernel: str
    accepted: bool
    limit: Outcome | None
    said: str


def find_kernels(workshop: Workshop) -> tuple[Kernel, ...]:
    """The kernels that work here; found once per process and tool chain.

    Raises:
        SandboxFault: a box failed, or a kernel accepts what is false.
    """
    identity = workshop.toolchain.identity
    if identity not in _found:
        _found[identity] = tuple(k for k in KERNELS if _works(k, workshop))
    return _found[identity]


def replay(workshop: Workshop, export: bytes, axioms: Sequence[str]) -> list[Replay]:
    """Has every kernel replay an export.

    Args:
        workshop: runs them.
        export: the submission's.
        axioms: full names of those that it may hold.

    Raises:
        SandboxFault: a box failed, or a kernel no longer works.
    """
    done = [_replay(kernel, workshop, export, axioms) for kernel in find_kernels(workshop)]
    told = {at.accepted for at in done if at.limit is None}
    if len(told) > 1:
        log.error("kernels disagree: %s", "; ".join(f"{at.kernel}: {at.said}" for at in done))
    return done


def _replay(kernel: Kernel, workshop: Workshop, export: bytes, axioms: Sequence[str]) -> Replay:
    result = kernel.run(workshop, export, axioms)
    if _accepts(result):
        return Replay(kernel.name, accepted=True, limit=None, said="accepted")
    limit = limit_of(result)
    if limit is None and not _works(kernel, workshop):
        raise SandboxFault(f"the kernel {kernel.name} no longer works: {_said(kernel, result)}")
    return Replay(kernel.name, accepted=False, limit=limit, said=_said(kernel, result))


def _works(kernel: Kernel, workshop: Workshop) -> bool:
    """Whether a kernel is here and tells true from false.

    Raises:
        SandboxFault: it doesn't, or not within the limits.
    """
    if workshop.toolchain.tool(kernel.tool) is None:
        return False
    true, false = _probe(holds=True), _probe(holds=False)
    ended = kernel.run(workshop, true, ())
    if limit_of(ended) is not None:
        raise SandboxFault(
            f"a small proof takes the kernel {kernel.name} too long: "
            f"{describe(kernel.tool, ended)}",
            remedy="raise the item's limits, or see why this host is so slow",
        )
    if not _accepts(ended):
        log.warning("no kernel of tier sound: %s", describe(kernel.tool, ended))
        return False
    if _accepts(kernel.run(workshop, false, ())):
        raise SandboxFault(
            f"the kernel {kernel.name} accepts a false proof", remedy="remove or replace it"
        )
    return True


def _accepts(result: ExecResult) -> bool:
    return result.reason is ExitReason.EXITED and result.exit == 0


def _said(kernel: Kernel, result: ExecResult) -> str:
    told = result.stdout[-300:].decode(errors="replace").strip()
    return told or describe(kernel.tool, result)


def _probe(*, holds: bool) -> bytes:
    """The export of `theorem probe : ∀ p : Prop, p → p`, or `… → p` with the same proof."""
    meta = {
        "exporter": {"name": "lean4export", "version": "3.1.0"},
        "lean": {"githash": "", "version": ""},
        "format": {"version": "3.1.0"},
    }
    bind = {"name": 1, "binderInfo": "default"}
    stated = 4 if holds else 6
    lines: list[object] = [
        {"meta": meta},
        {"str": {"pre": 0, "str": "p"}, "in": 1},
        {"str": {"pre": 0, "str": "probe"}, "in": 2},
        {"sort": 0, "ie": 0},
        {"bvar": 0, "ie": 1},
        {"bvar": 1, "ie": 2},
        {"forallE": {**bind, "type": 1, "body": 2}, "ie": 3},
        {"forallE": {**bind, "type": 0, "body": 3}, "ie": 4},
        {"lam": {**bind, "type": 1, "body": 1}, "ie": 5},
        {"forallE": {**bind, "type": 0, "body": 1}, "ie": 6},
        {"lam": {**bind, "type": 0, "body": 5}, "ie": 7},
        {"thm": {"name": 2, "levelParams": [], "type": stated, "value": 7, "all": [2]}},
    ]
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


__all__ = ["KERNELS", "Kernel", "Replay", "find_kernels", "replay"]
