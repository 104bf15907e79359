"""Whether a submission's export proves what the task's export stated, and from what.

The task's export is boiled down to a few digests once (`Expected`); a submission's must have
the same. That covers the theorem's type, every constant that it reaches with its definition,
the constants of which the kernel has a meaning of its own, and the allowed axioms with their
types. What the proof itself uses is the submission's own affair, as long as a kernel accepts
it, it is safe, and it rests on allowed axioms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from verifier_server.checkers.lean.export.closure import (
    Missing,
    closure_digest,
    reached,
    statement_digest,
)
from verifier_server.checkers.lean.export.graph import Declaration, Graph
from verifier_server.checkers.lean.export.names import parse_name

# The kernel computes with these by the name, spells literals out by them, or has rules for
# them; some are of older versions. Found by the names that Lean's kernel looks up.
PRIMITIVES = (
    *("Nat", "Nat.add", "Nat.sub", "Nat.mul", "Nat.pow", "Nat.gcd", "Nat.div", "Nat.mod"),
    *("Nat.beq", "Nat.ble", "Nat.land", "Nat.lor", "Nat.xor", "Nat.log2"),
    *("Nat.shiftLeft", "Nat.shiftRight", "String", "String.mk", "String.ofList"),
    *("Char", "Char.ofNat", "List", "Quot", "Quot.mk", "Quot.lift", "Quot.ind"),
    "eagerReduce",
)
# By these it runs compiled code, which is believed only where the task says so.
NATIVE = ("Lean.reduceBool", "Lean.reduceNat")
_NATIVE_AXIOMS = frozenset(("Lean.ofReduceBool", "Lean.ofReduceNat", "Lean.trustCompiler"))
# A type as large as the statement's is told as different by its digest; a larger one that
# would take long is not looked at whole.
_LEAST_TERMS = 1000


@dataclass(frozen=True, slots=True)
class Expected:
    """What a submission's export must have, as digests in hexadecimal.

    Attributes:
        levels: how many universe parameters the theorem has.
        terms: how many terms the task's export has.
        type: of the theorem's type.
        context: of all constants that the type reaches.
        primitives: of those that the kernel knows, and all that they reach.
        axioms: of each allowed axiom that there is, by its name.
    """

    levels: int
    terms: int
    type: str
    context: str
    primitives: str
    axioms: dict[str, str]


class Mismatch(Exception):
    """An export proves something else, or from something else.

    Attributes:
        step: `statement` or `axioms`.
    """

    def __init__(self, step: str, why: str) -> None:
        super().__init__(why)
        self.step = step


def asked(theorem: str, axioms: Sequence[str]) -> list[str]:
    """The full names of what an exporter must export, if it is there."""
    return list(dict.fromkeys((theorem, *axioms, *_known(axioms))))


def _known(axioms: Iterable[str]) -> tuple[str, ...]:
    return (*PRIMITIVES, *NATIVE) if _NATIVE_AXIOMS.intersection(axioms) else PRIMITIVES


def expectation(graph: Graph, theorem: str, axioms: Sequence[str]) -> Expected:
    """What the task's export asks of a submission's.

    Args:
        graph: the task's export.
        theorem: full name of the theorem that states, proved or not.
        axioms: full names of those that a proof may rest on.

    Raises:
        Missing: the export is not whole.
        ValueError: a name is none.
    """
    stated = graph.find(parse_name(theorem))
    if stated is None:
        raise Missing(f"`{theorem}` is not in the export")
    found = {name: graph.find(parse_name(name)) for name in axioms}
    return Expected(
        levels=len(stated.levels),
        terms=graph.terms,
        type=statement_digest(graph, stated.type, stated.levels, graph.terms).hex(),
        context=closure_digest(graph, reached(graph, terms=[stated.type])).hex(),
        primitives=_primitives(graph, axioms),
        axioms={name: _axiom(graph, at) for name, at in found.items() if at is not None},
    )


def require_match(graph: Graph, theorem: str, expected: Expected) -> None:
    """Step `statement`.

    Args:
        graph: the submission's export.
        theorem: full name of the theorem.
        expected: what the task's export asks for.

    Raises:
        Mismatch: the theorem is not there, is none, or states something else.
    """
    try:
        _require_match(graph, theorem, expected)
    except Missing as error:
        raise Mismatch("statement", str(error)) from None


def _require_match(graph: Graph, theorem: str, expected: Expected) -> None:
    given = _theorem(graph, theorem)
    most = max(expected.terms, _LEAST_TERMS)
    if (
        len(given.levels) != expected.levels
        or statement_digest(graph, given.type, given.levels, most).hex() != expected.type
    ):
        raise Mismatch("statement", f"`{theorem}` states something else")
    if closure_digest(graph, reached(graph, terms=[given.type])).hex() != expected.context:
        raise Mismatch("statement", "what the statement speaks of is defined otherwise")
    if _primitives(graph, expected.axioms) != expected.primitives:
        raise Mismatch(
            "statement", "constants that the kernel knows by their names are defined otherwise"
        )


def _theorem(graph: Graph, theorem: str) -> Declaration:
    given = graph.find(parse_name(theorem))
    if given is None:
        raise Mismatch("statement", f"there is no `{theorem}`")
    if given.kind not in ("thm", "def"):
        raise Mismatch("statement", f"`{theorem}` is no theorem ({given.kind})")
    return given


def require_axioms(graph: Graph, theorem: str, expected: Expected) -> None:
    """Step `axioms`: all that the proof rests on is safe, and its axioms are allowed.

    Raises:
        Mismatch: something isn't.
    """
    try:
        found = reached(graph, constants=[_theorem(graph, theorem)])
        allowed = set(_genuine(graph, found, expected))
    except Missing as error:
        raise Mismatch("axioms", str(error)) from None
    for constant in found.values():
        if not constant.safe:
            raise Mismatch("axioms", f"`{graph.show(constant.name)}` is unsafe or partial")
    other = [at for at in found.values() if at.kind == "axiom" and at.name not in allowed]
    if not _NATIVE_AXIOMS.intersection(expected.axioms):
        native = filter(None, (graph.find(parse_name(name)) for name in NATIVE))
        other += [at for at in native if at.name in found]
    if other:
        named = ", ".join(sorted(graph.show(at.name) for at in other)[:10])
        raise Mismatch("axioms", f"the proof rests on {named}")


def _genuine(graph: Graph, found: Mapping[int, Declaration], expected: Expected) -> Iterator[int]:
    """The allowed axioms among what was found. Raises Missing, Mismatch: one is another's."""
    for name, wanted in expected.axioms.items():
        axiom = graph.find(parse_name(name))
        if axiom is None or axiom.name not in found:
            continue
        if _axiom(graph, axiom) != wanted:
            raise Mismatch("axioms", f"`{name}` is not the axiom of that name")
        yield axiom.name


def axioms_of(graph: Graph, theorem: str) -> Sequence[str]:
    """The axioms that a proof rests on, for people. Raises Missing."""
    found = reached(graph, constants=filter(None, [graph.find(parse_name(theorem))]))
    return sorted(graph.show(at.name) for at in found.values() if at.kind == "axiom")


def _primitives(graph: Graph, axioms: Iterable[str]) -> str:
    constants = filter(None, (graph.find(parse_name(name)) for name in _known(axioms)))
    return closure_digest(graph, reached(graph, constants=constants)).hex()


def _axiom(graph: Graph, axiom: Declaration) -> str:
    return closure_digest(graph, reached(graph, constants=[axiom])).hex()


__all__ = [
    "NATIVE",
    "PRIMITIVES",
    "Expected",
    "Mismatch",
    "asked",
    "axioms_of",
    "expectation",
    "require_axioms",
    "require_match",
]
