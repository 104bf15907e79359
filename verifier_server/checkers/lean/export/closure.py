"""Which constants terms and constants reach, and digests of all that is reached.

Each term of the export is looked at once a walk, without recursion.
"""

from __future__ import annotations

from collections.abc import Iterable

from verifier_server.checkers.lean.export.digests import digest
from verifier_server.checkers.lean.export.graph import (
    CONST,
    NAT,
    PROJ,
    STR,
    Declaration,
    Graph,
)
from verifier_server.checkers.lean.export.names import Name, show_name

# What the kernel takes a literal for.
_LITERALS: dict[int, tuple[Name, ...]] = {
    NAT: (("Nat",),),
    STR: (("String",), ("String", "ofList"), ("Char", "ofNat")),
}


class Missing(Exception):
    """A constant is reached that the export doesn't hold."""


def reached(
    graph: Graph, constants: Iterable[Declaration] = (), terms: Iterable[int] = ()
) -> dict[int, Declaration]:
    """All constants that these constants and terms reach, themselves included, by name.

    A constant reaches what is in its type, its value and its recursor's rules, and all of the
    inductive declaration that it belongs to. A projection reaches the structure's type.

    Raises:
        Missing: one is not in the export, because it is unsafe, or unknown.
    """
    walk = _Walk(graph)
    for constant in constants:
        walk.add(constant)
    walk.run(terms)
    return walk.found


class _Walk:
    def __init__(self, graph: Graph) -> None:
        self.found: dict[int, Declaration] = {}
        self._graph = graph
        self._seen = bytearray(graph.terms)
        self._stack: list[int] = []
        self._literals: set[int] = set()

    def run(self, terms: Iterable[int]) -> None:
        graph, seen, stack = self._graph, self._seen, self._stack
        stack.extend(terms)
        while stack:
            term = stack.pop()
            if seen[term]:
                continue
            seen[term] = 1
            kind = graph.kind(term)
            if kind == CONST:
                self._reach(graph.references(term)[0])
            elif kind == PROJ:
                self._reach(graph.references(term)[1])
            elif kind in _LITERALS and kind not in self._literals:
                self._literals.add(kind)
                self._reach_literal(kind)
            stack.extend(graph.children(term))

    def add(self, constant: Declaration) -> None:
        """Adds a constant, and what it is made of to what is to be walked."""
        fresh = [constant]
        while fresh:
            constant = fresh.pop()
            if constant.name in self.found:
                continue
            self.found[constant.name] = constant
            self._stack.append(constant.type)
            self._stack.extend(constant.terms)
            fresh.extend(self._declared(name) for name in constant.names)

    def _reach(self, name: int) -> None:
        if name not in self.found:
            self.add(self._declared(name))

    def _declared(self, name: int) -> Declaration:
        found = self._graph.declarations.get(name)
        if found is None:
            raise Missing(f"`{self._graph.show(name)}` is not in the export")
        return found

    def _reach_literal(self, kind: int) -> None:
        first, *others = _LITERALS[kind]
        found = self._graph.find(first)
        if found is None:
            raise Missing(f"`{show_name(first)}` is not in the export, and a literal is")
        # Which constants spell a string out depends on the version of Lean.
        for constant in (found, *filter(None, map(self._graph.find, others))):
            self.add(constant)


def closure_digest(graph: Graph, found: dict[int, Declaration]) -> bytes:
    """The digest of a set of constants with all that the kernel looks at."""
    pairs = sorted((graph.name_digest(name), constant.digest) for name, constant in found.items())
    return digest("closure", tuple(part for pair in pairs for part in pair))


def statement_digest(graph: Graph, term: int, parameters: tuple[int, ...], most: int) -> bytes:
    """The digest of a theorem's type, whatever its universe parameters are called.

    Args:
        graph: holds it.
        term: the type.
        parameters: the theorem's universe parameters, in order.
        most: how many different terms it may be made of.

    Raises:
        Missing: it is made of more.
    """
    levels = graph.level_digests(parameters)
    known: dict[int, bytes] = {}
    stack = [term]
    while stack:
        at = stack[-1]
        if at in known:
            stack.pop()
            continue
        missing = [child for child in graph.children(at) if child not in known]
        if len(known) + len(stack) > 4 * most:
            raise Missing("the theorem's type is much larger than the statement's")
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        kind = graph.kind(at)
        if kind in _LITERALS:
            known[at] = graph.digest(at)
        else:
            known[at] = graph.term_digest(kind, graph.references(at), known.__getitem__, levels)
    return known[term]


__all__ = ["Missing", "closure_digest", "reached", "statement_digest"]
