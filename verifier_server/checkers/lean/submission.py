"""From a completion to the module that is judged.

A completion is a proof, which goes under the task's own statement, or a file that proves the
named theorem. Either way the module imports what the task's header imports, and what the
header declares comes from the task's own module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from verifier_server.checkers.lean.source import read_source
from verifier_server.checkers.lean.statement import Head, Statement, read_head

CONTEXT = "AnswerKeyContext"
_STARTS_FILE = re.compile(
    r"\s*(?:@\[[^\]]*\]\s*)?(?:private\s+|protected\s+|noncomputable\s+)*"
    r"(?:theorem|lemma|def|abbrev|instance|structure|inductive|class|namespace|section|open"
    r"|variable|universe|set_option|axiom|example)(?![\w'!?.])"
)
_BY = re.compile(r"\s*by(?![\w'!?.])")


def top(head: Head, modules: Iterable[str]) -> str:
    """The first lines of a module: the task's imports, and these."""
    lines = ["prelude"] if head.prelude else []
    lines += [f"import {module}" for module in dict.fromkeys((*head.imports, *modules))]
    return "".join(f"{line}\n" for line in lines)


def is_file(text: str, name: str) -> bool:
    """Whether a completion is a file that has a theorem of that name."""
    code = read_source(text).code
    last = re.escape(name.rpartition(".")[2].strip("«»"))
    named = rf"(?<![\w.])(?:theorem|lemma)\s+(?:\S*\.)?(?:{last}(?![\w'!?])|«{last}»)"
    return re.search(named, code) is not None


def is_other_file(text: str) -> bool:
    """Whether a completion that has no such theorem is a file all the same."""
    return bool(read_head(text).imports or _STARTS_FILE.match(read_source(text).code))


def with_file(text: str, statement: Statement, header: str) -> str:
    """The module of a completion that is a file."""
    head = read_head(text)
    own = [CONTEXT] if statement.declares else []
    rest = head.rest
    # A file may begin as the task told it to; then what that declares is there already.
    declared = "".join(read_head(header).rest.split())
    if statement.declares and (below := _below(rest, declared)) is not None:
        rest = f"\n{statement.scope}\n{below}"
    return f"{top(statement.head, [*head.imports, *own])}{rest}\n"


def with_proof(proof: str, statement: Statement) -> str:
    """The module of a completion that is a proof."""
    own = [CONTEXT] if statement.declares else []
    theorem = f"{statement.text}{_joined(proof, statement)}"
    return f"{top(statement.head, own)}{statement.scope}\n{theorem}\n"


def _joined(proof: str, statement: Statement) -> str:
    code = read_source(proof).code
    if code.lstrip().startswith((":=", "|")):
        return f"\n{proof}"
    if not statement.tactics or _BY.match(code):
        return f" :=\n{proof}"
    return " := by\n" + re.sub(r"^", "  ", proof, flags=re.MULTILINE)


def _below(text: str, beginning: str) -> str | None:
    """What follows `beginning` in a text, blanks apart; None where it begins otherwise."""
    count = 0
    if not beginning:
        return text
    for at, character in enumerate(text):
        if character.isspace():
            continue
        if character != beginning[count]:
            return None
        count += 1
        if count == len(beginning):
            return text[at + 1 :]
    return None


__all__ = ["CONTEXT", "is_file", "is_other_file", "top", "with_file", "with_proof"]
