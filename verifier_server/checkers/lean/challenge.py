"""The task's statement as compiled modules, before any hostile text is looked at.

`AnswerKeyContext` holds what the header declares, where it does; `AnswerKeyChallenge` the
statement, under a name of ours and without a proof. Whether header and statement were read
rightly shows when a proof of ours that rests on a gap is judged like any submission: it must
match the statement and lean on that gap alone. For tier `sound` that proof's module is exported,
and is what a submission's export is compared with.

An allowed axiom is one that the task's imports hold: a submission may not bring its own under
the name. Nor may it declare what the kernel knows by its name, as in a library of the task's
own that lacks it: by another `Nat.gcd`, two is four. `AnswerKeyReserved` takes these names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from verifier_server.checkers.lean.axioms import ask_axioms, known_constants
from verifier_server.checkers.lean.box import Compiled, Workshop, describe
from verifier_server.checkers.lean.export.closure import Missing
from verifier_server.checkers.lean.export.compare import (
    NATIVE,
    PRIMITIVES,
    Expected,
    asked,
    expectation,
)
from verifier_server.checkers.lean.export.reader import ExportError
from verifier_server.checkers.lean.exporter import is_whole, read, run_exporter
from verifier_server.checkers.lean.messages import Message
from verifier_server.checkers.lean.statement import Head, Statement
from verifier_server.checkers.lean.submission import CONTEXT, top
from verifier_server.errors import BadReference, SandboxFault

CHALLENGE = "AnswerKeyChallenge"
SUBMISSION = "AnswerKeySubmission"
RESERVED = "AnswerKeyReserved"
_KERNELS_OWN = (*PRIMITIVES, *NATIVE)
_ASKED = "answer_key_challenge"
_GAP, _OWN_GAP = "answer_key_gap", "answer_key_own_gap"
_LACKS = re.compile(r"unknown module prefix|object file .* does not exist|incompatible header")
_PROBE = "prelude\ntheorem answer_key_probe : (p : Prop) → p → p := fun _ h => h\n"


@dataclass(frozen=True, slots=True)
class Challenge:
    """A compiled statement.

    Attributes:
        modules: compiled modules that a submission may import, by name: the context, if any.
        reserved: the module that takes the names which no submission may declare.
        statement_module: the compiled statement itself.
        asked: the constant in it that states the theorem, by full name.
        axioms: those of the allowed axioms that there are without a submission.
        stated: the module in which the theorem stands under its own name, with a gap for a
            proof.
        expected: what its export asks of a submission's; None: it was not exported.
    """

    modules: dict[str, bytes]
    reserved: bytes
    statement_module: bytes
    asked: str
    axioms: tuple[str, ...]
    stated: bytes = b""
    expected: Expected | None = None

    def beside(self, submission: bytes) -> dict[str, bytes]:
        """All compiled modules, a submission's among them, by name."""
        return {
            **self.modules,
            RESERVED: self.reserved,
            CHALLENGE: self.statement_module,
            SUBMISSION: submission,
        }


def compile_challenge(
    workshop: Workshop, statement: Statement, axioms: Sequence[str], *, exported: bool
) -> Challenge:
    """Compiles a task's statement and judges a proof of ours against it.

    Args:
        workshop: runs Lean.
        statement: the task's.
        axioms: full names of those that a proof may rest on.
        exported: whether it is to be exported as well, for tier `sound`.

    Raises:
        BadReference: header and statement don't compile, or were not understood.
        SandboxFault: this host can't compile them: a library is missing, Lean doesn't work.
    """
    head, modules = statement.head, {}
    if statement.declares:
        context = workshop.compile(CONTEXT, f"{top(head, [])}{head.rest}\n", {})
        modules[CONTEXT] = _compiled(workshop, context, "the header")
    theorem = f"{statement.before}{statement.keyword} {_ASKED}{statement.after} := {_GAP} _\n"
    text = f"{top(head, modules)}{_axiom(_GAP)}{statement.scope}\n{theorem}"
    stated = _compiled(workshop, workshop.compile(CHALLENGE, text, modules), "the statement")
    known = known_constants(workshop, head, modules, [*axioms, *_KERNELS_OWN])
    challenge = Challenge(
        modules,
        _reserve(workshop, [name for name in _KERNELS_OWN if name not in known]),
        stated,
        statement.in_namespace(_ASKED),
        tuple(name for name in axioms if known.get(name) == (name,)),
    )
    challenge = replace(challenge, stated=_judge_own_proof(workshop, statement, challenge))
    if not exported:
        return challenge
    return replace(challenge, expected=_expect(workshop, challenge, statement.full_name))


def _reserve(workshop: Workshop, names: Sequence[str]) -> bytes:
    text = "prelude\n" + "".join(map(_axiom, names))
    return _compiled(workshop, workshop.compile(RESERVED, text, {}), "a module of names")


def _expect(workshop: Workshop, challenge: Challenge, theorem: str) -> Expected:
    modules = {**challenge.modules, SUBMISSION: challenge.stated}
    result = run_exporter(workshop, SUBMISSION, modules, asked(theorem, challenge.axioms)).result
    if not is_whole(result):
        raise SandboxFault(
            f"the statement can't be exported: {describe('lean4export', result)}",
            remedy="raise VERIFIER_LEAN_EXPORT_BYTES or the item's limits, or mend lean4export",
        )
    try:
        return expectation(read(result.stdout), theorem, challenge.axioms)
    except (ExportError, Missing) as error:
        raise SandboxFault(
            f"the statement's export can't be used: {error}",
            remedy="build lean4export for this Lean, in a version that writes format 3.1",
        ) from error


def require_lean(workshop: Workshop) -> None:
    """Tells a submission that breaks Lean from a Lean that is broken.

    Raises:
        SandboxFault: Lean doesn't compile what it must.
    """
    probe = workshop.compile("AnswerKeyProbe", _PROBE, {})
    if probe.olean is None:
        raise SandboxFault(f"Lean doesn't work in a box: {probe.describe()}")


def lacks_library(said: str) -> bool:
    """Whether these words of Lean's tell of a module that is not there."""
    return _LACKS.search(said) is not None


def require_libraries(workshop: Workshop, head: Head) -> None:
    """Tells a file that doesn't compile from imports of the task's that this host lacks.

    Raises:
        SandboxFault: it lacks them.
    """
    alone = workshop.compile("AnswerKeyProbe", top(head, []), {})
    if alone.olean is None and alone.error is not None:
        _require_found(alone.error, "the header")


def _require_found(error: Message, what: str) -> None:
    if lacks_library(error.text):
        raise SandboxFault(
            f"{what} imports what this host lacks: {error}",
            remedy="add it to VERIFIER_LEAN_PATH or VERIFIER_LEAN_PROJECT, or correct the header",
        )


def _judge_own_proof(workshop: Workshop, statement: Statement, challenge: Challenge) -> bytes:
    """Judges a proof that rests on a gap; returns its module."""
    proof = (
        f"{top(statement.head, challenge.modules)}{_axiom(_OWN_GAP)}{statement.scope}\n"
        f"{statement.text} := {_OWN_GAP} _\n"
    )
    own = workshop.compile(SUBMISSION, proof, challenge.modules)
    submission = _compiled(workshop, own, "the statement")
    modules = challenge.beside(submission)
    found = ask_axioms(
        workshop, statement.head, modules, asked=challenge.asked, given=statement.full_name
    )
    if found.axioms != (_OWN_GAP,):
        require_lean(workshop)
        raise BadReference(
            f"the header was not understood: a proof of `{statement.full_name}` in its place "
            f"does not match the statement ({found.run.describe()})",
            remedy="keep the header to imports, `open`, `variable`, `namespace` and declarations "
            "that begin at the first column",
        )
    return submission


def _compiled(workshop: Workshop, run: Compiled, what: str) -> bytes:
    if run.olean is not None:
        return run.olean
    if run.error is not None:
        _require_found(run.error, what)
    require_lean(workshop)
    raise BadReference(f"{what} does not compile: {run.describe()}")


def _axiom(name: str) -> str:
    return f"axiom {name} : (p : Prop) → p\n"


__all__ = [
    "CHALLENGE",
    "SUBMISSION",
    "Challenge",
    "compile_challenge",
    "lacks_library",
    "require_lean",
    "require_libraries",
]
