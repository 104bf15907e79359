#!/usr/bin/env python3
"""Stands in for `lean4export`, which needs Lean's own libraries to be built.

It prints the constants of compiled modules in the same format, found in the module files
themselves: usage and output are the real one's. Lean 4.35, small terms.
"""

from __future__ import annotations

import json
import os
import sys
from struct import unpack_from

_BINDERS = ("default", "implicit", "strictImplicit", "instImplicit")
_ARRAY, _STRING, _BIG = 246, 249, 250


class Module:
    """A compiled module file: objects that point at one another."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self.data = file.read()
        self.base, root = unpack_from("<QQ", self.data, 80)
        self.root = root - self.base

    def tag(self, at: int) -> int:
        return self.data[at + 7]

    def raw(self, at: int, field: int) -> int:
        return unpack_from("<Q", self.data, at + 8 + 8 * field)[0]

    def get(self, at: int, field: int) -> int:
        """An object field: a place in the file, or minus one less what is boxed."""
        raw = self.raw(at, field)
        return -1 - (raw >> 1) if raw & 1 else raw - self.base

    def byte(self, at: int, fields: int, offset: int) -> int:
        return self.data[at + 8 + 8 * fields + offset]

    def array(self, at: int) -> list[int]:
        assert self.tag(at) == _ARRAY
        return [self.get(at, 2 + n) for n in range(self.raw(at, 0))]

    def list(self, at: int) -> list[int]:
        found = []
        while at >= 0:
            found.append(self.get(at, 0))
            at = self.get(at, 1)
        return found

    def string(self, at: int) -> str:
        assert self.tag(at) == _STRING
        return self.data[at + 32 : at + 32 + self.raw(at, 0) - 1].decode()

    def nat(self, at: int) -> int:
        if at < 0:
            return -1 - at
        assert self.tag(at) == _BIG
        _, size = unpack_from("<ii", self.data, at + 8)
        limbs = self.get(at, 1)
        return int.from_bytes(self.data[limbs : limbs + 8 * size], "little")

    def name(self, at: int) -> tuple[str | int, ...]:
        parts: list[str | int] = []
        while at >= 0:
            last = self.get(at, 1)
            parts.append(self.string(last) if self.tag(at) == 1 else self.nat(last))
            at = self.get(at, 0)
        return tuple(reversed(parts))


class Exporter:
    """Prints constants, each with what it reaches before it."""

    def __init__(self) -> None:
        self.constants: dict[tuple[str | int, ...], tuple[Module, int]] = {}
        self.recursors: dict[tuple[str | int, ...], list[tuple[str | int, ...]]] = {}
        self._done: set[tuple[str | int, ...]] = set()
        self._names: dict[tuple[str | int, ...], int] = {(): 0}
        self._levels: dict[object, int] = {("zero",): 0}
        self._terms: dict[object, int] = {}
        self._known: dict[tuple[Module, int], int] = {}
        self._loaded: set[str] = set()

    def load(self, name: str) -> None:
        """Reads a module and all that it imports."""
        if name in self._loaded:
            return
        self._loaded.add(name)
        path = name.replace(".", "/") + ".olean"
        found = (os.path.join(folder, path) for folder in os.environ["LEAN_PATH"].split(":"))
        module = Module(next(filter(os.path.exists, found)))
        for imported in module.array(module.get(module.root, 0)):
            self.load(".".join(map(str, module.name(module.get(imported, 0)))))
        for constant in module.array(module.get(module.root, 2)):
            value = module.get(constant, 0)
            constant_name = module.name(module.get(module.get(value, 0), 0))
            self.constants[constant_name] = (module, constant)
            if module.tag(constant) == 7:
                for inductive in module.list(module.get(value, 1)):
                    self.recursors.setdefault(module.name(inductive), []).append(constant_name)

    def print(self, raw: object) -> None:
        sys.stdout.write(json.dumps(raw, separators=(",", ":"), ensure_ascii=False) + "\n")

    def name(self, name: tuple[str | int, ...]) -> int:
        if name not in self._names:
            prefix, last = self.name(name[:-1]), name[-1]
            key, field = ("str", "str") if isinstance(last, str) else ("num", "i")
            self._names[name] = len(self._names)
            self.print({key: {"pre": prefix, field: last}, "in": self._names[name]})
        return self._names[name]

    def level(self, m: Module, at: int) -> int:
        tag = m.tag(at) if at >= 0 else 0
        if tag == 0:
            return 0
        if tag == 4:
            return self._level({"param": self.name(m.name(m.get(at, 0)))})
        if tag == 1:
            return self._level({"succ": self.level(m, m.get(at, 0))})
        both = [self.level(m, m.get(at, 0)), self.level(m, m.get(at, 1))]
        return self._level({"max" if tag == 2 else "imax": both})

    def _level(self, raw: dict[str, object]) -> int:
        key = json.dumps(raw)
        if key not in self._levels:
            self._levels[key] = len(self._levels)
            self.print({**raw, "il": self._levels[key]})
        return self._levels[key]

    def term(self, m: Module, at: int) -> int:
        if (m, at) not in self._known:
            raw = self._term(m, at)
            self._known[m, at] = raw if isinstance(raw, int) else self._numbered(raw)
        return self._known[m, at]

    def _numbered(self, raw: dict[str, object]) -> int:
        key = json.dumps(raw)
        if key not in self._terms:
            self._terms[key] = len(self._terms)
            self.print({**raw, "ie": self._terms[key]})
        return self._terms[key]

    def _term(self, m: Module, at: int) -> dict[str, object] | int:
        tag, get = m.tag(at), lambda field: m.get(at, field)
        if tag == 0:
            return {"bvar": m.nat(get(0))}
        if tag == 3:
            return {"sort": self.level(m, get(0))}
        if tag == 4:
            levels = [self.level(m, level) for level in m.list(get(1))]
            return {"const": {"name": self.name(m.name(get(0))), "us": levels}}
        if tag == 5:
            return {"app": {"fn": self.term(m, get(0)), "arg": self.term(m, get(1))}}
        if tag in (6, 7):
            body = {
                "name": self.name(m.name(get(0))),
                "type": self.term(m, get(1)),
                "body": self.term(m, get(2)),
                "binderInfo": _BINDERS[m.byte(at, 3, 8)],
            }
            return {"lam" if tag == 6 else "forallE": body}
        if tag == 8:
            terms = [self.term(m, get(field)) for field in (1, 2, 3)]
            name = self.name(m.name(get(0)))
            fields = dict(zip(("type", "value", "body"), terms, strict=True))
            return {"letE": {"name": name, **fields, "nondep": False}}
        if tag == 9:
            return self._literal(m, get(0))
        if tag == 10:
            return self.term(m, get(1))
        assert tag == 11, tag
        structure = self.term(m, get(2))
        name = self.name(m.name(get(0)))
        return {"proj": {"typeName": name, "idx": m.nat(get(1)), "struct": structure}}

    def _literal(self, m: Module, at: int) -> dict[str, object]:
        value = m.get(at, 0)
        if m.tag(at) == 0:
            self.constant(("Nat",))
            return {"natVal": str(m.nat(value))}
        for name in (("Char", "ofNat"), ("String", "ofList")):
            self.constant(name)
        return {"strVal": m.string(value)}

    def reach(self, m: Module, *terms: int) -> None:
        """Prints the constants in these terms."""
        seen, stack = set(), list(terms)
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            tag = m.tag(at)
            if tag == 4:
                self.constant(m.name(m.get(at, 0)))
            places = {5: (0, 1), 6: (1, 2), 7: (1, 2), 8: (1, 2, 3), 10: (1,), 11: (2,)}
            stack.extend(m.get(at, place) for place in places.get(tag, ()))

    def head(self, m: Module, at: int) -> dict[str, object]:
        """The first fields of a constant, whose first field they are."""
        own = m.get(at, 0)
        levels = [self.name(m.name(level)) for level in m.list(m.get(own, 1))]
        name = self.name(m.name(m.get(own, 0)))
        return {"name": name, "levelParams": levels, "type": self.term(m, m.get(own, 2))}

    def constant(self, name: tuple[str | int, ...]) -> None:
        """Prints a constant, if there is one."""
        if name in self._done or name not in self.constants:
            return
        m, at = self.constants[name]
        tag, value = m.tag(at), m.get(at, 0)
        if self._is_unsafe(m, tag, value):
            return
        if tag == 6:
            return self.constant(m.name(m.get(value, 1)))
        if tag == 7:
            return self.constant(m.name(m.get(m.get(value, 1), 0)))
        if tag == 5:
            return self.inductive(m, value)
        self._done.add(name)
        assert tag in (0, 1, 2, 3), "quotients are not in the tests' library"
        self.reach(m, m.get(m.get(value, 0), 2), *([m.get(value, 1)] if tag else []))
        head = self.head(m, value)
        if tag == 0:
            return self.print({"axiom": {**head, "isUnsafe": False}})
        head["value"] = self.term(m, m.get(value, 1))
        together = m.list(m.get(value, 3 if tag == 1 else 2))
        head["all"] = [self.name(m.name(n)) for n in together]
        if tag == 1:
            hints = m.get(value, 2)
            told: object = ("opaque", "abbrev")[-1 - hints] if hints < 0 else {"regular": 1}
            safety = ("unsafe", "safe", "partial")[m.byte(value, 4, 0)]
            return self.print({"def": {**head, "hints": told, "safety": safety}})
        if tag == 2:
            return self.print({"thm": head})
        return self.print({"opaque": {**head, "isUnsafe": False}})

    @staticmethod
    def _is_unsafe(m: Module, tag: int, value: int) -> bool:
        # How many object fields there are, and where the flag is behind them.
        places = {0: (1, 0), 3: (3, 0), 5: (6, 1), 6: (5, 0), 7: (7, 1)}
        if tag == 1:
            return m.byte(value, 4, 0) == 0
        return tag in places and bool(m.byte(value, *places[tag]))

    def inductive(self, m: Module, at: int) -> None:
        names = [m.name(n) for n in m.list(m.get(at, 3))]
        types = [self._member(name) for name in names]
        made = [self._member(m.name(c)) for t in types for c in m.list(m.get(t, 4))]
        recursors = [self._member(n) for n in sorted(set(self.recursors.get(names[0], ())))]
        for member in (*types, *made, *recursors):
            self._done.add(m.name(m.get(m.get(member, 0), 0)))
        for member in (*types, *made, *recursors):
            self.reach(m, m.get(m.get(member, 0), 2))
        rules = [m.list(m.get(recursor, 6)) for recursor in recursors]
        for own in rules:
            self.reach(m, *(m.get(rule, 2) for rule in own))
        block = {
            "types": [self._type(m, member) for member in types],
            "ctors": [self._constructor(m, member) for member in made],
            "recs": [self._recursor(m, *both) for both in zip(recursors, rules, strict=True)],
        }
        self.print({"inductive": block})

    def _member(self, name: tuple[str | int, ...]) -> int:
        m, at = self.constants[name]
        return m.get(at, 0)

    def _listed(self, m: Module, at: int) -> list[int]:
        return [self.name(m.name(n)) for n in m.list(at)]

    def _type(self, m: Module, at: int) -> dict[str, object]:
        recursive, unsafe, reflexive = (bool(m.byte(at, 6, n)) for n in range(3))
        return {
            **self.head(m, at),
            "numParams": m.nat(m.get(at, 1)),
            "numIndices": m.nat(m.get(at, 2)),
            "all": self._listed(m, m.get(at, 3)),
            "ctors": self._listed(m, m.get(at, 4)),
            "numNested": m.nat(m.get(at, 5)),
            "isRec": recursive,
            "isUnsafe": unsafe,
            "isReflexive": reflexive,
        }

    def _constructor(self, m: Module, at: int) -> dict[str, object]:
        return {
            **self.head(m, at),
            "induct": self.name(m.name(m.get(at, 1))),
            "cidx": m.nat(m.get(at, 2)),
            "numParams": m.nat(m.get(at, 3)),
            "numFields": m.nat(m.get(at, 4)),
            "isUnsafe": False,
        }

    def _recursor(self, m: Module, at: int, rules: list[int]) -> dict[str, object]:
        counted = ("numParams", "numIndices", "numMotives", "numMinors")
        numbers = {field: m.nat(m.get(at, 2 + n)) for n, field in enumerate(counted)}
        return {
            **self.head(m, at),
            "all": self._listed(m, m.get(at, 1)),
            **numbers,
            "rules": [
                {
                    "ctor": self.name(m.name(m.get(rule, 0))),
                    "nfields": m.nat(m.get(rule, 1)),
                    "rhs": self.term(m, m.get(rule, 2)),
                }
                for rule in rules
            ],
            "k": bool(m.byte(at, 7, 0)),
            "isUnsafe": False,
        }


def main() -> None:
    words = [word for word in sys.argv[1:] if not (word.startswith("--") and len(word) > 2)]
    modules, names = words[: words.index("--")], words[words.index("--") + 1 :]
    sys.setrecursionlimit(100_000)
    exporter = Exporter()
    for module in modules:
        exporter.load(module)
    meta = {
        "exporter": {"name": "lean4export", "version": "3.1.0"},
        "lean": {"githash": "", "version": "4.35.0"},
        "format": {"version": "3.1.0"},
    }
    exporter.print({"meta": meta})
    for name in names:
        exporter.constant(tuple(part.strip("«»") for part in name.split(".")))


if __name__ == "__main__":
    main()
