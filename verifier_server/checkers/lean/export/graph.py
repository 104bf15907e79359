"""The content of an export, in little memory: about 50 bytes a term, whatever it holds."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verifier_server.checkers.lean.export.digests import SIZE, digest
from verifier_server.checkers.lean.export.names import Name, show_name

KINDS = ("bvar", "sort", "const", "app", "lam", "forallE", "letE", "proj", "natVal", "strVal")
BVAR, SORT, CONST, APP, LAM, FORALL, LET, PROJ, NAT, STR = range(len(KINDS))
# How many of a term's three references are terms; they come first.
_CHILDREN = (0, 0, 0, 2, 2, 2, 3, 1, 0, 0)
# In which child a bound variable is, by kind.
_BINDS_IN = {LAM: 1, FORALL: 1, LET: 2}


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared constant.

    Attributes:
        name: of it.
        kind: `axiom`, `def`, `opaque`, `thm`, `quot`, `type`, `ctor` or `rec`.
        levels: names of its universe parameters.
        type: a term.
        terms: what else it is made of: its value, a recursor's rules.
        names: other constants that belong to it: all of an inductive declaration.
        safe: whether the kernel vouches for it: neither `unsafe` nor `partial`.
        digest: of all of it that the kernel looks at.
    """

    name: int
    kind: str
    levels: tuple[int, ...]
    type: int
    terms: tuple[int, ...]
    names: tuple[int, ...]
    safe: bool
    digest: bytes


class Graph:
    """Names, levels, terms and declarations, by number.

    Attributes:
        declarations: by the name's number.
    """

    def __init__(self) -> None:
        self.declarations: dict[int, Declaration] = {}
        self._parts: list[tuple[int, str | int]] = [(0, "")]
        self._name_digests = [digest("anonymous")]
        self._numbers = {self._name_digests[0]: 0}
        self._levels: list[tuple[str, int, int]] = [("zero", 0, 0)]
        self._level_digests = [digest("zero")]
        self._lists: dict[tuple[int, ...], int] = {}
        self._listed: list[tuple[int, ...]] = []
        self._kinds = bytearray()
        self._references = array("I")
        self._digests = bytearray()
        self._loose = array("I")

    @property
    def names(self) -> int:
        """How many names there are, the anonymous one included."""
        return len(self._parts)

    @property
    def levels(self) -> int:
        """How many levels there are, zero included."""
        return len(self._levels)

    @property
    def terms(self) -> int:
        """How many terms there are."""
        return len(self._kinds)

    def add_name(self, prefix: int, part: str | int) -> None:
        """Adds a name. Raises ValueError if it is there already."""
        tag = "name" if isinstance(part, str) else "number"
        found = digest(tag, self._name_digests[prefix], part)
        if found in self._numbers:
            raise ValueError("the name is there already")
        self._numbers[found] = len(self._parts)
        self._parts.append((prefix, part))
        self._name_digests.append(found)

    def name(self, number: int) -> Name:
        """A name's components."""
        parts: list[str | int] = []
        while number:
            number, part = self._parts[number]
            parts.append(part)
        return tuple(reversed(parts))

    def show(self, number: int) -> str:
        """A name for people."""
        return show_name(self.name(number))

    def find(self, name: Name) -> Declaration | None:
        """The constant of that name."""
        found = self._name_digests[0]
        for part in name:
            found = digest("name" if isinstance(part, str) else "number", found, part)
        return self.declarations.get(self._numbers.get(found, 0))

    def name_digest(self, number: int) -> bytes:
        """The digest of a name."""
        return self._name_digests[number]

    def add_level(self, kind: str, first: int, second: int) -> None:
        """Adds a level: `succ` and `param` have one reference, `max` and `imax` two."""
        self._levels.append((kind, first, second))
        self._level_digests.append(
            self._level_digest(kind, first, second, self._level_digests, self.name_digest)
        )

    def level_digests(self, parameters: Sequence[int]) -> list[bytes]:
        """The digests of all levels where parameters count by their place in a declaration."""
        places = {name: digest("place", place) for place, name in enumerate(parameters)}
        other = digest("undeclared")
        found: list[bytes] = []
        for kind, first, second in self._levels:
            found.append(
                self._level_digest(kind, first, second, found, lambda name: places.get(name, other))
            )
        return found

    @staticmethod
    def _level_digest(
        kind: str, first: int, second: int, levels: Sequence[bytes], name: Callable[[int], bytes]
    ) -> bytes:
        if kind == "zero":
            return digest(kind)
        if kind == "param":
            return digest(kind, name(first))
        if kind == "succ":
            return digest(kind, levels[first])
        return digest(kind, levels[first], levels[second])

    def level_list(self, levels: tuple[int, ...]) -> int:
        """The number of a constant's universe arguments."""
        number = self._lists.setdefault(levels, len(self._listed))
        if number == len(self._listed):
            self._listed.append(levels)
        return number

    def add_term(self, kind: int, first: int = 0, second: int = 0, third: int = 0) -> None:
        """Adds a term that is no literal.

        Args:
            kind: `BVAR` (its index), `SORT` (a level), `CONST` (a name, a level list), `APP`
                (function, argument), `LAM`, `FORALL` (type, body), `LET` (type, value, body),
                `PROJ` (a structure, the type's name, the field's index).
            first: the first of these.
            second: the second.
            third: the third.
        """
        references = (first, second, third)
        found = self.term_digest(kind, references, self.digest, self._level_digests)
        if kind == BVAR:
            loose = first + 1
        else:
            bound, loose = _BINDS_IN.get(kind, 3), 0
            for place in range(_CHILDREN[kind]):
                below = self._loose[references[place]]
                loose = max(loose, below - 1 if place == bound and below else below)
        self._append(kind, references, found, loose)

    def add_literal(self, kind: int, value: str) -> None:
        """Adds a literal: `NAT` (decimal digits) or `STR`."""
        self._append(kind, (0, 0, 0), digest(KINDS[kind], value), 0)

    def _append(
        self, kind: int, references: tuple[int, int, int], found: bytes, loose: int
    ) -> None:
        self._kinds.append(kind)
        self._references.extend(references)
        self._digests += found
        self._loose.append(loose)

    def term_digest(
        self,
        kind: int,
        references: Sequence[int],
        term: Callable[[int], bytes],
        levels: Sequence[bytes],
    ) -> bytes:
        """The digest of a term that is no literal, over digests of its terms and levels."""
        first, second, third = references
        if kind == BVAR:
            return digest("bvar", first)
        if kind == SORT:
            return digest("sort", levels[first])
        if kind == CONST:
            arguments = tuple(levels[level] for level in self._listed[second])
            return digest("const", self._name_digests[first], arguments)
        if kind == PROJ:
            return digest("proj", self._name_digests[second], third, term(first))
        children = references[: _CHILDREN[kind]]
        return digest(KINDS[kind], *(term(child) for child in children))

    def kind(self, term: int) -> int:
        """A term's kind."""
        return self._kinds[term]

    def references(self, term: int) -> Sequence[int]:
        """A term's three references, as `add_term` took them."""
        return self._references[3 * term : 3 * term + 3]

    def children(self, term: int) -> Sequence[int]:
        """The terms that it is made of."""
        return self._references[3 * term : 3 * term + _CHILDREN[self._kinds[term]]]

    def digest(self, term: int) -> bytes:
        """A term's digest."""
        return bytes(self._digests[SIZE * term : SIZE * (term + 1)])

    def is_closed(self, term: int) -> bool:
        """Whether every bound variable in it is bound in it."""
        return not self._loose[term]

    def declare(self, declaration: Declaration) -> None:
        """Adds a constant. Raises ValueError if there is one of its name."""
        if declaration.name in self.declarations:
            raise ValueError(f"{self.show(declaration.name)} is declared already")
        self.declarations[declaration.name] = declaration


__all__ = [
    "APP",
    "BVAR",
    "CONST",
    "FORALL",
    "LAM",
    "LET",
    "NAT",
    "PROJ",
    "SORT",
    "STR",
    "Declaration",
    "Graph",
]
