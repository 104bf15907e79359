"""Reads Lean's export format, NDJSON, version 3.1.

The text comes from a program that had a hostile module in its memory, so nothing in it is
believed. A reader of ours and the kernels that read it after us must never see different
things: numbers of names, levels and terms must follow one another, every reference points
backwards, no field is unknown, missing or there twice, and what the exporter was not asked for
(`mdata`) is refused. One pass, no recursion, bounded memory.

Source: the document `format_ndjson.md` of leanprover/lean4export.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from verifier_server.checkers.lean.export.declarations import DECLARATIONS
from verifier_server.checkers.lean.export.graph import (
    APP,
    BVAR,
    CONST,
    FORALL,
    LAM,
    LET,
    NAT,
    PROJ,
    SORT,
    STR,
    Graph,
)
from verifier_server.checkers.lean.export.shapes import (
    ExportError,
    digits,
    fields,
    flag,
    items,
    number,
    parse_line,
    text,
    word,
)

_Read = Callable[[Any], None]

FORMATS = ("3.1.0",)
_LINE_BYTES = 16 << 20
_MOST_NAMES, _MOST_LEVELS, _MOST_TERMS = 1 << 22, 1 << 20, 1 << 25
_MOST_DEPTH_OF_NAMES = 1000
_BINDERS = ("default", "implicit", "strictImplicit", "instImplicit")


def read_export(lines: Iterable[bytes]) -> Graph:
    """The content of an export.

    Args:
        lines: of it, each with its line break.

    Raises:
        ExportError: it isn't what the format says; says which line and why.
    """
    graph = Graph()
    reader = _Reader(graph)
    place = 0
    try:
        for place, line in enumerate(lines, 1):
            if len(line) > _LINE_BYTES:
                raise ExportError(f"longer than {_LINE_BYTES} bytes")
            if not line.endswith(b"\n"):
                raise ExportError("cut off")
            raw = parse_line(line)
            if place == 1:
                _read_meta(raw)
            else:
                reader.read(raw)
    except (ExportError, ValueError) as error:
        raise ExportError(f"line {place} of the export: {error}") from None
    if not place:
        raise ExportError("the export is empty")
    return graph


def _read_meta(raw: Any) -> None:
    (meta,) = fields(raw, "meta")
    exporter, lean, form = fields(meta, "exporter", "lean", "format")
    for said in (*fields(exporter, "name", "version"), *fields(lean, "githash", "version")):
        text(said)
    (version,) = fields(form, "version")
    if text(version) not in FORMATS:
        raise ExportError(f"version {version[:20]!r} of the format is none of {', '.join(FORMATS)}")


class _Reader:
    """Reads lines into a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._depths = [0]
        self._names: dict[str, _Read] = {
            "str": self._name_string,
            "num": self._name_number,
        }
        self._levels: dict[str, _Read] = {
            "succ": lambda raw: graph.add_level("succ", self._level(raw), 0),
            "max": lambda raw: graph.add_level("max", *self._two(raw)),
            "imax": lambda raw: graph.add_level("imax", *self._two(raw)),
            "param": lambda raw: graph.add_level("param", self._name(raw), 0),
        }
        self._terms: dict[str, _Read] = {
            "bvar": lambda raw: graph.add_term(BVAR, number(raw)),
            "sort": lambda raw: graph.add_term(SORT, self._level(raw)),
            "const": self._constant,
            "app": lambda raw: graph.add_term(APP, *self._own_terms(raw, "fn", "arg")),
            "lam": lambda raw: graph.add_term(LAM, *self._binder(raw)),
            "forallE": lambda raw: graph.add_term(FORALL, *self._binder(raw)),
            "letE": self._let,
            "proj": self._projection,
            "natVal": lambda raw: graph.add_literal(NAT, digits(raw)),
            "strVal": lambda raw: graph.add_literal(STR, text(raw)),
        }
        # By the field that numbers them: the readers, the next number, the most.
        self._numbered: dict[str, tuple[dict[str, _Read], Callable[[], int], int]] = {
            "in": (self._names, lambda: graph.names, _MOST_NAMES),
            "il": (self._levels, lambda: graph.levels, _MOST_LEVELS),
            "ie": (self._terms, lambda: graph.terms, _MOST_TERMS),
        }

    def read(self, raw: dict[str, Any]) -> None:
        """Reads a line after the first. Raises ExportError, ValueError."""
        if len(raw) == 1:
            ((kind, value),) = raw.items()
            declare = DECLARATIONS.get(kind)
            if declare is None:
                raise ExportError(f"unknown: {kind[:40]!r}")
            declare(self._graph, value)
            return
        for field, (readers, count, most) in self._numbered.items():
            if field in raw:
                given = number(raw.pop(field))
                if given != count():
                    raise ExportError(f"{field} is {given}, and {count()} comes next")
                if given >= most:
                    raise ExportError(f"more than {most} of {field}")
                if len(raw) == 1:
                    ((kind, value),) = raw.items()
                    if kind in readers:
                        readers[kind](value)
                        return
                break
        raise ExportError(f"unknown fields: {', '.join(raw)[:80]}")

    def _name(self, raw: Any) -> int:
        return number(raw, self._graph.names - 1)

    def _level(self, raw: Any) -> int:
        return number(raw, self._graph.levels - 1)

    def _term(self, raw: Any) -> int:
        return number(raw, self._graph.terms - 1)

    def _name_string(self, raw: Any) -> None:
        prefix, part = fields(raw, "pre", "str")
        self._add_name(self._name(prefix), text(part))

    def _name_number(self, raw: Any) -> None:
        prefix, part = fields(raw, "pre", "i")
        self._add_name(self._name(prefix), number(part, 2**63 - 1))

    def _add_name(self, prefix: int, part: str | int) -> None:
        depth = self._depths[prefix] + 1
        if depth > _MOST_DEPTH_OF_NAMES:
            raise ExportError(f"a name of more than {_MOST_DEPTH_OF_NAMES} parts")
        self._graph.add_name(prefix, part)
        self._depths.append(depth)

    def _two(self, raw: Any) -> tuple[int, int]:
        listed = items(raw)
        if len(listed) != 2:
            raise ExportError("there must be two levels")
        return self._level(listed[0]), self._level(listed[1])

    def _constant(self, raw: Any) -> None:
        name, levels = fields(raw, "name", "us")
        arguments = tuple(map(self._level, items(levels)))
        self._graph.add_term(CONST, self._name(name), self._graph.level_list(arguments))

    def _own_terms(self, raw: Any, *names: str) -> list[int]:
        return [self._term(value) for value in fields(raw, *names)]

    def _binder(self, raw: Any) -> tuple[int, int]:
        name, kind, body, info = fields(raw, "name", "type", "body", "binderInfo")
        self._name(name)
        word(info, *_BINDERS)
        return self._term(kind), self._term(body)

    def _let(self, raw: Any) -> None:
        name, kind, value, body, nondep = fields(raw, "name", "type", "value", "body", "nondep")
        self._name(name)
        flag(nondep)
        self._graph.add_term(LET, self._term(kind), self._term(value), self._term(body))

    def _projection(self, raw: Any) -> None:
        name, place, structure = fields(raw, "typeName", "idx", "struct")
        self._graph.add_term(PROJ, self._term(structure), self._name(name), number(place))


__all__ = ["FORMATS", "ExportError", "read_export"]
