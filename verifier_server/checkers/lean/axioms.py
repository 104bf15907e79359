"""Asks a Lean process that elaborated nothing of the submission's about its compiled module.

The process imports the task's compiled statement and the submission's module, has the kernel
accept the submission's theorem as a term of the statement's type, and tells which axioms that
rests on. Here alone Lean's output can speak for a submission. It can because the process runs
no text but ours: a module could bring code or notations along only by words for which it was
refused before (`flags`).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verifier_server.checkers.lean.box import Compiled, Workshop
from verifier_server.checkers.lean.statement import Head
from verifier_server.checkers.lean.submission import top
from verifier_server.errors import SandboxFault

_MODULE = "AnswerKeyCheck"
_NONE = "does not depend on any axioms"
_SOME = re.compile(r"depends on axioms: \[(?P<names>.*)\]", re.DOTALL)
_NAME = re.compile(r"(?:«[^»]*»|[^\s,«»])+")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the process found.

    Attributes:
        run: how it ended.
        statement_match: whether the theorem proves the statement; None where it did not say.
        axioms: full names of what the proof rests on; None where it did not say.
    """

    run: Compiled
    statement_match: bool | None
    axioms: tuple[str, ...] | None


def ask_axioms(
    workshop: Workshop, head: Head, modules: Mapping[str, bytes], *, asked: str, given: str
) -> Asked:
    """Whether the constant `given` proves what the constant `asked` states, and from what.

    Args:
        workshop: runs Lean.
        head: the task's imports.
        modules: the compiled modules that hold the two constants, by name.
        asked: the constant that states, by full name.
        given: the constant that shall prove, by full name.

    Raises:
        SandboxFault: the box failed.
    """
    # Chosen after the submission was compiled, so nothing in it can speak of it.
    name = f"answer_key_{secrets.token_hex(8)}"
    text = (
        f"{top(head, modules)}"
        # Without it a private axiom `propext` would read as the library's own.
        "set_option pp.privateNames true\n"
        f"theorem {name} : type_of% @_root_.{asked} := @_root_.{given}\n"
        f"#print axioms {name}\n"
    )
    run = workshop.compile(_MODULE, text, modules)
    if run.olean is None:
        return Asked(run, False if run.is_plain else None, None)
    told = [m.text for m in run.messages if m.severity == "information"]
    if len(run.messages) != 1 or len(told) != 1:
        return Asked(run, True, None)
    subject, _, rest = told[0].partition("' ")
    return Asked(run, True, _listed(rest) if subject == f"'{name}" else None)


def known_constants(
    workshop: Workshop, head: Head, modules: Mapping[str, bytes], names: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Which of these constants there are where a submission is not yet, and what they rest on.

    Args:
        workshop: runs Lean.
        head: the task's imports.
        modules: the compiled module of what the task declares, by name.
        names: full names.

    Raises:
        SandboxFault: the box failed, or Lean did.
    """
    first = top(head, modules)
    text = first + "".join(f"#print axioms _root_.{name}\n" for name in names)
    run = workshop.compile(_MODULE, text, modules)
    if not run.is_plain:
        raise SandboxFault(f"the task's constants could not be looked up: {run.describe()}")
    lines = {m.line: m.text.partition("' ")[2] for m in run.messages if m.severity != "error"}
    told = {
        name: _listed(lines.get(line, "")) for line, name in enumerate(names, first.count("\n") + 1)
    }
    return {name: axioms for name, axioms in told.items() if axioms is not None}


def _listed(text: str) -> tuple[str, ...] | None:
    if text == _NONE:
        return ()
    match = _SOME.fullmatch(text)
    return tuple(_NAME.findall(match["names"])) if match else None


__all__ = ["Asked", "ask_axioms", "known_constants"]
