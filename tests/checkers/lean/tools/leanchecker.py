#!/usr/bin/env python3
"""Stands in for `leanchecker --export FILE`: a small reader before Lean's own kernel.

The kernel is the real one, in the shared library beside the tests' `lean`. Each declaration of
the export is handed to it in order; it says what it thinks of the first that it refuses.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from typing import Any

_LIBRARY = "../lib/libleanshared.so"
_INFO = ("default", "implicit", "strictImplicit", "instImplicit")
# The kernel's names of what it can say, by number.
_TROUBLES = (
    *("unknown constant", "already declared", "declaration type mismatch"),
    *("declaration has metavariables", "declaration has free variables", "function expected"),
    *("type expected", "let type mismatch", "expression type mismatch"),
    *("application type mismatch", "invalid projection", "theorem type is not a proposition"),
    *("other", "deterministic timeout", "excessive memory", "deep recursion", "interrupted"),
)


class Lean:
    """Objects of Lean's, made here and never freed: a count of 0 keeps Lean from doing so."""

    def __init__(self) -> None:
        folder = os.path.dirname(os.path.realpath(__file__))
        self._library = ctypes.CDLL(os.path.join(folder, _LIBRARY), mode=ctypes.RTLD_GLOBAL)
        self._kept: list[Any] = []
        self._library.lean_initialize()
        self._library.lean_io_mark_end_initialization()

    def call(self, name: str, *arguments: int | ctypes.c_uint8 | bytes) -> int:
        function = getattr(self._library, name)
        function.restype = ctypes.c_void_p
        taken = (ctypes.c_void_p(at) if isinstance(at, int) else at for at in arguments)
        return self.keep(function(*taken))

    @staticmethod
    def keep(made: int | None) -> int:
        made = made or 0
        if made > 1 and not made & 1:
            ctypes.c_int32.from_address(made).value = 0
        return made

    def equal(self, first: int, second: int) -> bool:
        """Whether two terms are the same but for names."""
        function = self._library.lean_expr_eqv
        function.restype = ctypes.c_uint8
        return bool(function(ctypes.c_void_p(first), ctypes.c_void_p(second)))

    def make(self, tag: int, *fields: int, scalars: bytes = b"") -> int:
        """A constructor's object."""
        size = 8 + 8 * len(fields) + -(-len(scalars) // 8) * 8
        head = struct.pack("<iHBB", 0, size, len(fields), tag)
        content = head + struct.pack(f"<{len(fields)}Q", *fields) + scalars
        memory = ctypes.create_string_buffer(content, size)
        self._kept.append(memory)
        return ctypes.addressof(memory)

    def list(self, items: list[int]) -> int:
        found = box(0)
        for item in reversed(items):
            found = self.make(1, item, found)
        return found

    def string(self, text: str) -> int:
        content = text.encode()
        function = self._library.lean_mk_string_from_bytes
        function.restype = ctypes.c_void_p
        return self.keep(function(content, ctypes.c_size_t(len(content))))

    def nat(self, digits: str) -> int:
        value = int(digits)
        return box(value) if value < 2**62 else self.call("lean_cstr_to_nat", digits.encode())

    @staticmethod
    def tag(at: int) -> int:
        return ctypes.c_uint8.from_address(at + 7).value

    @staticmethod
    def get(at: int, field: int) -> int:
        return ctypes.c_uint64.from_address(at + 8 + 8 * field).value


def box(value: int) -> int:
    return 2 * value + 1


class Replay:
    """Rebuilds an export's terms and has the kernel check its declarations."""

    def __init__(self) -> None:
        self.lean = Lean()
        made = self.lean.call("l_Lean_mkEmptyEnvironment", 0, box(0))
        environment = self.lean.get(made, 0)
        self.environment = self.lean.call("lean_elab_environment_to_kernel_env", environment)
        self.names = [box(0)]
        self.levels = [self.lean.call("lean_level_mk_zero", box(0))]
        self.terms: list[int] = []

    def read(self, raw: dict[str, Any]) -> None:
        if "in" in raw:
            self.names.append(self._name(raw))
        elif "il" in raw:
            self.levels.append(self._level(raw))
        elif "ie" in raw:
            self.terms.append(self._term(raw))
        elif "meta" not in raw:
            ((kind, value),) = raw.items()
            getattr(self, f"_{kind}")(value)

    def _name(self, raw: dict[str, Any]) -> int:
        if "str" in raw:
            part = self.lean.string(raw["str"]["str"])
            return self.lean.call("lean_name_mk_string", self.names[raw["str"]["pre"]], part)
        prefix, number = self.names[raw["num"]["pre"]], box(raw["num"]["i"])
        return self.lean.call("lean_name_mk_numeral", prefix, number)

    def _level(self, raw: dict[str, Any]) -> int:
        if "param" in raw:
            return self.lean.call("lean_level_mk_param", self.names[raw["param"]])
        if "succ" in raw:
            return self.lean.call("lean_level_mk_succ", self.levels[raw["succ"]])
        kind = "max" if "max" in raw else "imax"
        return self.lean.call(f"lean_level_mk_{kind}", *(self.levels[at] for at in raw[kind]))

    def _term(self, raw: dict[str, Any]) -> int:
        lean, terms, names = self.lean, self.terms, self.names
        kind = next(key for key in raw if key != "ie")
        value = raw[kind]
        if kind == "bvar":
            return lean.call("lean_expr_mk_bvar", box(value))
        if kind == "sort":
            return lean.call("lean_expr_mk_sort", self.levels[value])
        if kind == "const":
            levels = lean.list([self.levels[at] for at in value["us"]])
            return lean.call("lean_expr_mk_const", names[value["name"]], levels)
        if kind == "app":
            return lean.call("lean_expr_mk_app", terms[value["fn"]], terms[value["arg"]])
        if kind in ("lam", "forallE"):
            name, info = names[value["name"]], ctypes.c_uint8(_INFO.index(value["binderInfo"]))
            made = "lean_expr_mk_lambda" if kind == "lam" else "lean_expr_mk_forall"
            return lean.call(made, name, terms[value["type"]], terms[value["body"]], info)
        if kind == "letE":
            parts = [terms[value[field]] for field in ("type", "value", "body")]
            return lean.call("lean_expr_mk_let", names[value["name"]], *parts)
        if kind == "proj":
            place, structure = box(value["idx"]), terms[value["struct"]]
            return lean.call("lean_expr_mk_proj", names[value["typeName"]], place, structure)
        if kind == "natVal":
            return lean.call("lean_expr_mk_lit", lean.make(0, lean.nat(value)))
        return lean.call("lean_expr_mk_lit", lean.make(1, lean.string(value)))

    def _head(self, value: dict[str, Any]) -> int:
        levels = self.lean.list([self.names[at] for at in value["levelParams"]])
        return self.lean.make(0, self.names[value["name"]], levels, self.terms[value["type"]])

    def _all(self, value: dict[str, Any]) -> int:
        return self.lean.list([self.names[at] for at in value["all"]])

    def _axiom(self, value: dict[str, Any]) -> None:
        self._add(0, self.lean.make(0, self._head(value), scalars=bytes([value["isUnsafe"]])))

    def _def(self, value: dict[str, Any]) -> None:
        hints = value["hints"]
        hint = box(("opaque", "abbrev").index(hints)) if isinstance(hints, str) else box(1)
        safety = bytes([("unsafe", "safe", "partial").index(value["safety"])])
        fields = (self._head(value), self.terms[value["value"]], hint, self._all(value))
        self._add(1, self.lean.make(0, *fields, scalars=safety))

    def _thm(self, value: dict[str, Any]) -> None:
        fields = (self._head(value), self.terms[value["value"]], self._all(value))
        self._add(2, self.lean.make(0, *fields))

    def _opaque(self, value: dict[str, Any]) -> None:
        fields = (self._head(value), self.terms[value["value"]], self._all(value))
        self._add(3, self.lean.make(0, *fields, scalars=bytes([value["isUnsafe"]])))

    def _inductive(self, value: dict[str, Any]) -> None:
        lean, first = self.lean, value["types"][0]
        constructors = {at["name"]: at for at in value["ctors"]}
        types = []
        for at in value["types"]:
            made = [
                lean.make(0, self.names[name], self.terms[constructors[name]["type"]])
                for name in at["ctors"]
            ]
            types.append(
                lean.make(0, self.names[at["name"]], self.terms[at["type"]], lean.list(made))
            )
        levels = lean.list([self.names[at] for at in first["levelParams"]])
        unsafe = bytes([first["isUnsafe"]])
        self._add(6, levels, box(first["numParams"]), lean.list(types), scalars=unsafe)
        for at in value["recs"]:
            self._require_recursor(at)

    def _require_recursor(self, value: dict[str, Any]) -> None:
        """What the export calls the recursor must be what the kernel made."""
        name = self.names[value["name"]]
        found = self.lean.call("lean_environment_find", self.environment, name)
        if found == box(0):
            sys.exit("Lean default kernel rejects the solution: an unknown recursor")
        own = self.lean.get(self.lean.get(found, 0), 0)
        made, rules = self.lean.get(own, 0), self.lean.get(own, 6)
        pairs = [(self.terms[value["type"]], self.lean.get(made, 2))]
        for rule in value["rules"]:
            kept = self.lean.get(rules, 0) if rules != box(0) else box(0)
            pairs.append((self.terms[rule["rhs"]], self.lean.get(kept, 2)))
            rules = self.lean.get(rules, 1)
        for given, wanted in pairs:
            if not self.lean.equal(given, wanted):
                sys.exit("Lean default kernel rejects the solution: another recursor")

    def _add(self, tag: int, *fields: int, scalars: bytes = b"") -> None:
        declaration = self.lean.make(tag, *fields, scalars=scalars)
        # No limit of heartbeats, a depth of recursion as Lean's own, and nobody who cancels.
        arguments = (self.environment, 0, 512, declaration, box(0))
        done = self.lean.call("lean_add_decl", *arguments)
        if self.lean.tag(done) == 0:
            trouble = self.lean.get(done, 0)
            number = trouble >> 1 if trouble & 1 else self.lean.tag(trouble)
            print(f"Lean default kernel rejects the solution: {_TROUBLES[number]}")
            sys.stdout.flush()
            os._exit(1)
        self.environment = self.lean.keep(self.lean.get(done, 0))


def main() -> None:
    option, path = sys.argv[1:]
    assert option == "--export"
    replay = Replay()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            replay.read(json.loads(line))
    print("Lean default kernel accepts the solution")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
