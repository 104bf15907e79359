"""Tests that expect something else: what an honest program must fail.

Tests that share a process with the candidate's program can be bent by it: pytest patched,
files rewritten, verdicts forged, values returned that equal everything. One thing gives all of
these away. They pass without knowing what is expected, so they pass as well where it is
another value. A program that is judged right is therefore run again against mutants of its
tests, in fresh boxes that look the same, and must fail every one of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from verifier_server.checkers.code.origins import Function, Module
from verifier_server.checkers.code.sites import Site, SiteFinder

_ALWAYS_FAILS = "assert {} == {}"
_OPERATOR = re.compile(rb"==|!=|<=|>=|<|>|\bnot\s+in\b|\bin\b|\bis\s+not\b|\bis\b")
_STRING = re.compile(rb"""(?P<quote>\"\"\"|'''|"|')(?P<body>.*)(?P=quote)""", re.DOTALL)
_Patch = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class Mutants:
    """Changed tests.

    Attributes:
        files: the changed files.
        functions: the names of the test functions that must fail in them.
    """

    files: dict[str, str]
    functions: frozenset[str]


def mutate(
    files: Mapping[str, str], rng: Random, *, one: bool = False, plainly: bool = False
) -> Mutants:
    """Changes an expectation in test functions, chosen by chance.

    Args:
        files: the task's.
        rng: makes the choices.
        one: change a single function, with its namesakes.
        plainly: let each function fail at once instead, without a look at what it expects.
    """
    modules = {path: Module.of(ast.parse(t)) for path, t in files.items() if path.endswith(".py")}
    # By name, since a base class or a namesake may stand behind an id.
    names = sorted({test.name for module in modules.values() for test in module.tests})
    chosen = {rng.choice(names)} if one and names else set(names)
    changed: dict[str, str] = {}
    for path, module in modules.items():
        source = _Source(files[path])
        patches: dict[tuple[int, int], bytes] = {}
        for test in module.tests:
            if test.name in chosen:
                sites = [] if plainly else SiteFinder(test, module, rng).find()
                found = _patches(source, test, sites, rng)
                if _overlap(found, patches):
                    found = [source.opening(test, rng)]
                patches.update({(start, end): new for start, end, new in found})
        changed[path] = source.patched(patches)
    return Mutants(changed, frozenset(chosen))


def _patches(source: _Source, test: Function, sites: list[Site], rng: Random) -> list[_Patch]:
    preferred = [site for site in sites if site.keeps_kind] or sites
    return source.patches(rng.choice(preferred)) if preferred else [source.opening(test, rng)]


def _overlap(found: list[_Patch], patches: Mapping[tuple[int, int], bytes]) -> bool:
    """Whether a place would be changed twice; the very same place may be, to one of the two."""
    return any(
        start < other_end and other_start < end and (start, end) != (other_start, other_end)
        for start, end, _ in found
        for other_start, other_end in patches
    )


class _Source:
    """A text, by the places that `ast` gives: lines, and columns in bytes."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()
        self._lines = [0]
        for match in re.finditer(rb"\r\n|\r|\n", self._bytes):
            self._lines.append(match.end())

    def patches(self, site: Site) -> list[_Patch]:
        """The changes of a site."""
        found: list[_Patch] = []
        for node, new in site.spots:
            start, end = self._span(node)
            shown = self._bytes[start:end]
            text = new.encode().replace(b"{}", shown, 1)
            found.append((start, end, _quoted_alike(shown, text)))
        if site.gap is not None:
            left, right, operator = site.gap
            start, end = self._span(left)[1], self._span(right)[0]
            match = _OPERATOR.search(self._bytes, start, end)
            assert match is not None
            found.append((match.start(), match.end(), operator.encode()))
        return found

    def opening(self, test: Function, rng: Random) -> _Patch:
        """A statement that fails, before the first one of a test without a site."""
        first = test.body[0]
        start, _ = self._span(first)
        number = rng.randint(2, 99)
        failing = _ALWAYS_FAILS.format(number, number + rng.randint(1, 9)).encode()
        if first.lineno == test.lineno:
            return start, start, failing + b"; "
        indent = self._bytes[self._lines[first.lineno - 1] : start]
        return start, start, failing + b"\n" + indent

    def patched(self, patches: Mapping[tuple[int, int], bytes]) -> str:
        out = self._bytes
        for (start, end), new in sorted(patches.items(), reverse=True):
            out = out[:start] + new + out[end:]
        return out.decode()

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._lines[node.lineno - 1] + node.col_offset
        return start, self._lines[node.end_lineno - 1] + node.end_col_offset


def _quoted_alike(old: bytes, new: bytes) -> bytes:
    """A string literal with the quotes of the one it replaces, where nothing is escaped."""
    before, after = _STRING.fullmatch(old), _STRING.fullmatch(new)
    if before is None or after is None or b"\\" in old + new or before["quote"] in after["body"]:
        return new
    return before["quote"] + after["body"] + before["quote"]
