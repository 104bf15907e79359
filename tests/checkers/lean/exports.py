"""Exports written by hand: what an exporter might print, honest or not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from verifier_server.checkers.lean.export.graph import Graph
from verifier_server.checkers.lean.export.names import Name, parse_name
from verifier_server.checkers.lean.export.reader import read_export

META = {
    "meta": {
        "exporter": {"name": "lean4export", "version": "3.1.0"},
        "lean": {"githash": "0" * 40, "version": "4.35.0"},
        "format": {"version": "3.1.0"},
    }
}


class Writer:
    """Writes an export line by line; the same name, level or term gets the same number."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = [META]
        self._numbers: dict[str, int] = {}
        self._counts = {"in": 1, "il": 1, "ie": 0}

    def name(self, name: str | Name) -> int:
        """The number of a name, given as text or by its components."""
        number = 0
        for part in parse_name(name) if isinstance(name, str) else name:
            key, field = ("str", "str") if isinstance(part, str) else ("num", "i")
            number = self._put("in", {key: {"pre": number, field: part}})
        return number

    def parameter(self, name: str) -> int:
        """A universe parameter as a level."""
        return self._put("il", {"param": self.name(name)})

    def succ(self, level: int) -> int:
        """The level above."""
        return self._put("il", {"succ": level})

    def sort(self, level: int = 0) -> int:
        """`Sort level`; `Prop` by default."""
        return self._put("ie", {"sort": level})

    def bvar(self, index: int) -> int:
        """A bound variable."""
        return self._put("ie", {"bvar": index})

    def const(self, name: str | Name, *levels: int) -> int:
        """A constant."""
        return self._put("ie", {"const": {"name": self.name(name), "us": list(levels)}})

    def app(self, function: int, *arguments: int) -> int:
        """An application to one or more arguments."""
        for argument in arguments:
            function = self._put("ie", {"app": {"fn": function, "arg": argument}})
        return function

    def pi(self, kind: int, body: int, name: str = "x", info: str = "default") -> int:
        """`(name : kind) → body`."""
        return self._bind("forallE", kind, body, name, info)

    def lam(self, kind: int, body: int, name: str = "x", info: str = "default") -> int:
        """`fun (name : kind) => body`."""
        return self._bind("lam", kind, body, name, info)

    def proj(self, structure: str, place: int, term: int) -> int:
        """A projection."""
        raw = {"typeName": self.name(structure), "idx": place, "struct": term}
        return self._put("ie", {"proj": raw})

    def nat(self, digits: str) -> int:
        """A numeral."""
        return self._put("ie", {"natVal": digits})

    def string(self, value: str) -> int:
        """A string literal."""
        return self._put("ie", {"strVal": value})

    def axiom(self, name: str | Name, kind: int, *levels: str, unsafe: bool = False) -> None:
        """Declares an axiom."""
        self.lines.append({"axiom": {**self._head(name, kind, levels), "isUnsafe": unsafe}})

    def theorem(self, name: str | Name, kind: int, value: int, *levels: str) -> None:
        """Declares a theorem."""
        head = self._head(name, kind, levels)
        self.lines.append({"thm": {**head, "value": value, "all": [head["name"]]}})

    def definition(
        self, name: str | Name, kind: int, value: int, *levels: str, safety: str = "safe"
    ) -> None:
        """Declares a definition."""
        head = self._head(name, kind, levels)
        more = {"value": value, "hints": "abbrev", "safety": safety, "all": [head["name"]]}
        self.lines.append({"def": {**head, **more}})

    def opaque(self, name: str | Name, kind: int, value: int, *levels: str) -> None:
        """Declares an opaque constant."""
        head = self._head(name, kind, levels)
        more = {"value": value, "isUnsafe": False, "all": [head["name"]]}
        self.lines.append({"opaque": {**head, **more}})

    def quotient(self, name: str, kind: int, place: str, *levels: str) -> None:
        """Declares one of the four constants of quotients."""
        self.lines.append({"quot": {**self._head(name, kind, levels), "kind": place}})

    def inductive(
        self,
        name: str,
        kind: int,
        constructors: Sequence[tuple[str, int]],
        recursor: tuple[int, Sequence[int]] | None = None,
        **more: Any,
    ) -> None:
        """Declares a type with constructors (each a last name and a type) and a recursor.

        The recursor's type and its rules' terms are `recursor`; `more` are fields of the type.
        """
        head = self._head(name, kind, ())
        names = [self.name(f"{name}.{last}") for last, _ in constructors]
        numbers = {"numParams": 0, "numIndices": 0, "numNested": 0}
        flags = {"isRec": False, "isUnsafe": False, "isReflexive": False}
        one = {**head, **numbers, **flags, "all": [head["name"]], "ctors": names, **more}
        made = [
            {
                **self._head(f"{name}.{last}", type_, ()),
                "induct": head["name"],
                "cidx": place,
                "numParams": 0,
                "numFields": 0,
                "isUnsafe": False,
            }
            for place, (last, type_) in enumerate(constructors)
        ]
        block = {"types": [one], "ctors": made, "recs": []}
        if recursor is not None:
            block["recs"].append(self._recursor(name, names, *recursor))
        self.lines.append({"inductive": block})

    def bytes(self) -> bytes:
        """What the exporter prints."""
        lines = (json.dumps(line, separators=(",", ":")) for line in self.lines)
        return "".join(f"{line}\n" for line in lines).encode()

    def graph(self) -> Graph:
        """What a reader makes of it."""
        return read(self.bytes())

    def _recursor(
        self, name: str, constructors: Sequence[int], kind: int, rules: Sequence[int]
    ) -> dict[str, Any]:
        return {
            **self._head(f"{name}.rec", kind, ()),
            "all": [self.name(name)],
            "numParams": 0,
            "numIndices": 0,
            "numMotives": 1,
            "numMinors": len(constructors),
            "rules": [
                {"ctor": constructor, "nfields": 0, "rhs": rule}
                for constructor, rule in zip(constructors, rules, strict=True)
            ],
            "k": False,
            "isUnsafe": False,
        }

    def _head(self, name: str | Name, kind: int, levels: Sequence[str]) -> dict[str, Any]:
        parameters = [self.name(level) for level in levels]
        return {"name": self.name(name), "levelParams": parameters, "type": kind}

    def _bind(self, key: str, kind: int, body: int, name: str, info: str) -> int:
        raw = {"name": self.name(name), "type": kind, "body": body, "binderInfo": info}
        return self._put("ie", {key: raw})

    def _put(self, field: str, raw: dict[str, Any]) -> int:
        key = json.dumps(raw)
        if key not in self._numbers:
            self._numbers[key] = self._counts[field]
            self._counts[field] += 1
            self.lines.append({**raw, field: self._numbers[key]})
        return self._numbers[key]


def read(export: bytes) -> Graph:
    """Reads a whole export."""
    return read_export(export.splitlines(keepends=True))
