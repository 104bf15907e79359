"""The declarations of an export, from plain data to `Declaration`s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verifier_server.checkers.lean.export.digests import digest
from verifier_server.checkers.lean.export.graph import Declaration, Graph
from verifier_server.checkers.lean.export.shapes import (
    ExportError,
    fields,
    flag,
    items,
    number,
    word,
)

_HEAD = ("name", "levelParams", "type")
_TYPE = (*_HEAD, "numParams", "numIndices", "all", "ctors", "numNested")
_TYPE_FLAGS = ("isRec", "isUnsafe", "isReflexive")
_CONSTRUCTOR = (*_HEAD, "induct", "cidx", "numParams", "numFields", "isUnsafe")
_RECURSOR = (*_HEAD, "all", "numParams", "numIndices", "numMotives", "numMinors", "rules")
_RECURSOR_FLAGS = ("k", "isUnsafe")


class _Head:
    """What every constant has: a name, universe parameters and a type."""

    def __init__(self, graph: Graph, raw_name: Any, raw_levels: Any, raw_type: Any) -> None:
        self.graph = graph
        self.name = _name(graph, raw_name)
        self.levels = tuple(_name(graph, level) for level in items(raw_levels))
        if len(set(self.levels)) != len(self.levels):
            raise ExportError("a universe parameter is there twice")
        self.type = _term(graph, raw_type)

    def digest(self, kind: str, *more: bytes | int | tuple[bytes, ...]) -> bytes:
        """The digest of a constant of that kind that has `more` to it."""
        levels = _digests(self.graph, self.levels)
        own = (self.graph.name_digest(self.name), levels, self.graph.digest(self.type))
        return digest(kind, *own, *more)

    def declare(
        self,
        kind: str,
        found: bytes,
        *,
        safe: bool,
        terms: tuple[int, ...] = (),
        names: tuple[int, ...] = (),
    ) -> None:
        """Adds the constant to the graph."""
        declaration = Declaration(
            self.name, kind, self.levels, self.type, terms, names, safe, found
        )
        self.graph.declare(declaration)


def _name(graph: Graph, raw: Any) -> int:
    return number(raw, graph.names - 1)


def _names(graph: Graph, raw: Any) -> tuple[int, ...]:
    return tuple(_name(graph, item) for item in items(raw))


def _term(graph: Graph, raw: Any) -> int:
    found = number(raw, graph.terms - 1)
    if not graph.is_closed(found):
        raise ExportError("a bound variable that nothing binds")
    return found


def _digests(graph: Graph, names: tuple[int, ...]) -> tuple[bytes, ...]:
    return tuple(map(graph.name_digest, names))


def _axiom(graph: Graph, raw: Any) -> None:
    *own, unsafe = fields(raw, *_HEAD, "isUnsafe")
    head = _Head(graph, *own)
    head.declare("axiom", head.digest("axiom", flag(unsafe)), safe=not unsafe)


def _definition(graph: Graph, raw: Any) -> None:
    *own, raw_value, hints, safety, together = fields(
        raw, *_HEAD, "value", "hints", "safety", "all"
    )
    head, value = _Head(graph, *own), _term(graph, raw_value)
    if type(hints) is dict:
        number(*fields(hints, "regular"))
    else:
        word(hints, "opaque", "abbrev")
    word(safety, "unsafe", "safe", "partial")
    _names(graph, together)
    safe = safety == "safe"
    head.declare("def", head.digest("def", graph.digest(value), safe), safe=safe, terms=(value,))


def _theorem(graph: Graph, raw: Any) -> None:
    *own, raw_value, together = fields(raw, *_HEAD, "value", "all")
    head, value = _Head(graph, *own), _term(graph, raw_value)
    _names(graph, together)
    head.declare("thm", head.digest("thm", graph.digest(value)), safe=True, terms=(value,))


def _opaque(graph: Graph, raw: Any) -> None:
    *own, raw_value, unsafe, together = fields(raw, *_HEAD, "value", "isUnsafe", "all")
    head, value = _Head(graph, *own), _term(graph, raw_value)
    _names(graph, together)
    found = head.digest("opaque", graph.digest(value), flag(unsafe))
    head.declare("opaque", found, safe=not unsafe, terms=(value,))


def _quotient(graph: Graph, raw: Any) -> None:
    *own, kind = fields(raw, *_HEAD, "kind")
    head = _Head(graph, *own)
    found = head.digest("quot-" + word(kind, "type", "ctor", "lift", "ind"))
    head.declare("quot", found, safe=True)


def _inductive(graph: Graph, raw: Any) -> None:
    types, constructors, recursors = (
        [read(graph, item) for item in items(listed)]
        for read, listed in zip(
            (_type, _constructor, _recursor), fields(raw, "types", "ctors", "recs"), strict=True
        )
    )
    members = [*types, *constructors, *recursors]
    _require_whole(types, constructors)
    names = tuple(member.head.name for member in members)
    together = digest("inductive", tuple(member.digest for member in members))
    for member in members:
        found = digest("member", together, member.digest)
        member.head.declare(
            member.kind, found, safe=member.safe, terms=member.terms, names=names + member.names
        )


class _Member:
    """One constant of an inductive declaration."""

    def __init__(
        self,
        kind: str,
        head: _Head,
        found: bytes,
        *,
        safe: bool,
        terms: tuple[int, ...] = (),
        names: tuple[int, ...] = (),
        family: tuple[int, ...] = (),
    ) -> None:
        self.kind, self.head, self.digest, self.safe = kind, head, found, safe
        self.terms, self.names, self.family = terms, names, family


def _type(graph: Graph, raw: Any) -> _Member:
    *given, recursive, unsafe, reflexive = fields(raw, *_TYPE, *_TYPE_FLAGS)
    parameters, indices, together, constructors, nested = given[3:]
    head = _Head(graph, *given[:3])
    numbers = [number(value) for value in (parameters, indices, nested)]
    flags = [flag(value) for value in (recursive, unsafe, reflexive)]
    family, own = _names(graph, together), _names(graph, constructors)
    lists = (_digests(graph, family), _digests(graph, own))
    found = head.digest("type", *numbers, *flags, *lists)
    return _Member("type", head, found, safe=not unsafe, names=family, family=own)


def _constructor(graph: Graph, raw: Any) -> _Member:
    *given, unsafe = fields(raw, *_CONSTRUCTOR)
    inductive, *numbers = given[3:]
    head, owner = _Head(graph, *given[:3]), _name(graph, inductive)
    counted = [number(value) for value in numbers]
    found = head.digest("ctor", graph.name_digest(owner), *counted, flag(unsafe))
    return _Member("ctor", head, found, safe=not unsafe, names=(owner,))


def _recursor(graph: Graph, raw: Any) -> _Member:
    *given, k, unsafe = fields(raw, *_RECURSOR, *_RECURSOR_FLAGS)
    together, *numbers, raw_rules = given[3:]
    head, family = _Head(graph, *given[:3]), _names(graph, together)
    counted = [number(value) for value in numbers]
    rules = [fields(rule, "ctor", "nfields", "rhs") for rule in items(raw_rules)]
    constructors = tuple(_name(graph, rule[0]) for rule in rules)
    terms = tuple(_term(graph, rule[2]) for rule in rules)
    found = head.digest(
        "rec",
        _digests(graph, family),
        *counted,
        _digests(graph, constructors),
        *(number(rule[1]) for rule in rules),
        tuple(map(graph.digest, terms)),
        flag(k),
        flag(unsafe),
    )
    names = (*family, *constructors)
    return _Member("rec", head, found, safe=not unsafe, terms=terms, names=names)


def _require_whole(types: list[_Member], constructors: list[_Member]) -> None:
    """Raises ExportError unless types and constructors say the same of one another."""
    if not types:
        raise ExportError("an inductive declaration without a type")
    given = [(constructor.names[0], constructor.head.name) for constructor in constructors]
    said = [(member.head.name, own) for member in types for own in member.family]
    if given != said:
        raise ExportError("the constructors are not those that the types name")


DECLARATIONS: dict[str, Callable[[Graph, Any], None]] = {
    "axiom": _axiom,
    "def": _definition,
    "thm": _theorem,
    "opaque": _opaque,
    "quot": _quotient,
    "inductive": _inductive,
}

__all__ = ["DECLARATIONS"]
