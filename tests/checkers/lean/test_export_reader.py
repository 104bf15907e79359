"""Our reader of Lean's export format takes what the format says and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.checkers.lean.exports import META, Writer, read
from verifier_server.checkers.lean.export.names import parse_name, show_name
from verifier_server.checkers.lean.export.reader import ExportError

Change = Callable[[list[dict[str, Any]]], None]


def _small() -> list[dict[str, Any]]:
    """Every kind of line there is, once at least."""
    w = Writer()
    u = w.parameter("u")
    w._put("il", {"max": [u, w.succ(u)]})
    w._put("il", {"imax": [u, 0]})
    prop, kind = w.sort(), w.sort(u)
    w.inductive("Nat", w.sort(w.succ(0)), [("zero", w.const("Nat"))], (prop, [prop]))
    w.axiom("A.«b c».1", prop)
    w.definition("D", w.pi(kind, kind), w.lam(kind, w.bvar(0)), "u")
    w.opaque("O", prop, w.app(w.const("A.«b c».1"), w.nat("12345678901234567890")))
    w.quotient("Quot", kind, "type", "u")
    let = {"name": w.name("x"), "type": prop, "value": prop, "body": w.bvar(0), "nondep": False}
    w.theorem("T", prop, w._put("ie", {"letE": let}))
    w.theorem("U", prop, w.app(w.proj("Nat", 0, w.const("Nat.zero")), w.string('a"\n\0é')))
    return w.lines


def _text(lines: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def test_an_export_is_read() -> None:
    graph = read(_text(_small()))
    names = [graph.show(name) for name in graph.declarations]
    assert names == ["Nat", "Nat.zero", "Nat.rec", "A.«b c».1", "D", "O", "Quot", "T", "U"]
    axiom = graph.find(("A", "b c", 1))
    assert axiom is not None
    assert (axiom.kind, axiom.safe, graph.find(("A", "b c", "1"))) == ("axiom", True, None)


def test_every_line_needs_its_place() -> None:
    """Without any one line the export is refused, or says less: never something else."""
    whole = read(_text(_small()))
    known = {whole.show(name): at.digest for name, at in whole.declarations.items()}
    for place in range(1, len(_small())):
        lines = _small()
        del lines[place]
        try:
            graph = read(_text(lines))
        except ExportError:
            continue
        found = {graph.show(name): at.digest for name, at in graph.declarations.items()}
        assert found.items() < known.items()


def _find(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(line for line in lines if kind in line)


def _set(kind: str, field: str, value: Any) -> Change:
    def change(lines: list[dict[str, Any]]) -> None:
        _find(lines, kind)[kind][field] = value

    return change


def _drop(kind: str, field: str) -> Change:
    def change(lines: list[dict[str, Any]]) -> None:
        del _find(lines, kind)[kind][field]

    return change


def _put(kind: str, value: Any) -> Change:
    def change(lines: list[dict[str, Any]]) -> None:
        _find(lines, kind)[kind] = value

    return change


def _add(line: Any) -> Change:
    return lambda lines: lines.append(line)


def _again(kind: str) -> Change:
    return lambda lines: lines.append(_find(lines, kind))


def _member(listed: str, field: str, value: Any) -> Change:
    def change(lines: list[dict[str, Any]]) -> None:
        _find(lines, "inductive")["inductive"][listed][0][field] = value

    return change


def _meta(*path: str, value: Any) -> Change:
    def change(lines: list[dict[str, Any]]) -> None:
        lines[0] = json.loads(json.dumps(META))
        at = lines[0]
        for field in path[:-1]:
            at = at[field]
        at[path[-1]] = value

    return change


REFUSED: dict[str, Change] = {
    "a version to come": _meta("meta", "format", "version", value="3.2.0"),
    "a version gone": _meta("meta", "format", "version", value="3.0.0"),
    "a version that is no text": _meta("meta", "format", "version", value=3.1),
    "no version": _meta("meta", "format", value={}),
    "a field too many at the top": _meta("more", value=1),
    "no meta": lambda lines: lines.__delitem__(0),
    "meta twice": _add(META),
    "an unknown kind": _add({"comment": "hello"}),
    "an unknown kind of term": _add({"mvar": 1, "ie": 30}),
    "annotations that were not asked for": _add({"mdata": {"expr": 0, "data": {}}, "ie": 30}),
    "a list": _add([1]),
    "a number": _add(1),
    "nothing": _add({}),
    "a name twice": _add({"str": {"pre": 0, "str": "Nat"}, "in": 99}),
    "a number twice": _again("sort"),
    "a number left out": _add({"bvar": 1, "ie": 1000}),
    "a negative number": _add({"bvar": 1, "ie": -1}),
    "two numbers": _add({"bvar": 1, "ie": 1, "il": 1}),
    "a level as a term": _add({"succ": 0, "ie": 30}),
    "a term that comes later": _set("app", "fn", 500),
    "a term of its own": _set("app", "arg", 12),
    "a negative reference": _set("app", "fn", -1),
    "a truth value for a number": _set("app", "fn", True),
    "a fraction": _set("app", "fn", 1.0),
    "text for a number": _set("app", "fn", "1"),
    "null": _set("app", "fn", None),
    "a field too many": _set("app", "more", 1),
    "a field missing": _drop("app", "arg"),
    "a term that is none": _put("app", [1, 2]),
    "a name that comes later": _set("const", "name", 500),
    "a level that comes later": _set("const", "us", [500]),
    "levels that are no list": _set("const", "us", {}),
    "three levels": _put("max", [0, 0, 0]),
    "an unknown binder": _set("lam", "binderInfo", "explicit"),
    "a large index": _put("bvar", 2**32),
    "a negative numeral": _put("natVal", "-4294967296"),
    "a numeral with a zero in front": _put("natVal", "01"),
    "a numeral without digits": _put("natVal", ""),
    "a numeral in other digits": _put("natVal", "\u0661"),
    "a numeral as a number": _put("natVal", 5),
    "half a character": _put("strVal", "\ud800"),
    "half a character in a name": _set("str", "str", "\udfff"),
    "a loose variable": lambda lines: _set("thm", "type", _find(lines, "bvar")["ie"])(lines),
    "a parameter twice": lambda lines: _set(
        "def", "levelParams", 2 * _find(lines, "def")["def"]["levelParams"]
    )(lines),
    "an unknown safety": _set("def", "safety", "sound"),
    "unknown hints": _set("def", "hints", "later"),
    "hints of another kind": _set("def", "hints", {"regular": -1}),
    "an unknown quotient": _set("quot", "kind", "map"),
    "no value": _drop("thm", "value"),
    "no safety": _drop("opaque", "isUnsafe"),
    "a constant twice": _again("thm"),
    "an axiom and a theorem of one name": lambda lines: _set(
        "axiom", "name", _find(lines, "def")["def"]["name"]
    )(lines),
    "constructors that the type doesn't name": _member("types", "ctors", []),
    "a constructor of another type": _member("ctors", "induct", 0),
    "a recursor without rules": _member("recs", "rules", None),
    "a type that lacks a field": _member("types", "isrec", True),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_format_does_not_allow_is_refused(name: str) -> None:
    lines = _small()
    REFUSED[name](lines)
    with pytest.raises(ExportError, match=r"^line \d+ of the export: "):
        read(_text(lines))


@pytest.mark.parametrize(
    "line",
    [
        b'{"bvar":1,"ie":%d,"ie":%d}\n',
        b'{"app":{"fn":0,"arg":1,"arg":0},"ie":%d}\n',
        b'{"bvar":NaN,"ie":%d}\n',
        b'{"bvar":1e0,"ie":%d}\n',
        b'{"bvar":1,"ie":%d}',
        b'{"bvar":1,"ie":%d} {"bvar":2}\n',
        b'{"bvar":1,"ie":%d\n',
        b"\n",
        b'{"strVal":"\xff","ie":%d}\n',
        b'{"strVal":"\n',
        b"[" * 100_000 + b"\n",
        b'{"bvar":' * 100_000 + b"\n",
        b'{"bvar":' + b"9" * 100_000 + b',"ie":%d}\n',
        b'{"strVal":"' + b"a" * (17 << 20) + b'","ie":%d}\n',
    ],
    ids=range(14),
)
def test_a_line_that_two_readers_could_read_differently_is_refused(line: bytes) -> None:
    lines = _small()
    terms = b"%d" % sum("ie" in at for at in lines)
    with pytest.raises(ExportError):
        read(_text(lines) + line.replace(b"%d", terms))


def test_an_empty_export_is_refused() -> None:
    with pytest.raises(ExportError, match="empty"):
        read(b"")


def test_a_name_of_very_many_parts_is_refused() -> None:
    lines: list[dict[str, Any]] = [META]
    lines.extend({"str": {"pre": n, "str": "a"}, "in": n + 1} for n in range(2000))
    with pytest.raises(ExportError, match="parts"):
        read(_text(lines))


def test_neither_depth_nor_sharing_costs_more_than_lines() -> None:
    """A term as deep as the file is long, and one of 2 ** 50000 occurrences."""
    w = Writer()
    prop = w.sort()
    deep = wide = prop
    for _ in range(50_000):
        deep = w.app(deep, prop)
        wide = w.app(wide, wide)
    w.theorem("deep", prop, deep)
    w.theorem("wide", prop, wide)
    assert len(w.graph().declarations) == 2


NAMES = {
    "Nat.add": ("Nat", "add"),
    "t": ("t",),
    "«a.b».c": ("a.b", "c"),
    "A.1.x'": ("A", 1, "x'"),
    "«1»": ("1",),
    "«»": ("",),
    "Übung.π₁": ("Übung", "π₁"),
}


@pytest.mark.parametrize("text", NAMES)
def test_a_name_is_read_by_its_parts(text: str) -> None:
    assert parse_name(text) == NAMES[text]
    assert parse_name(show_name(parse_name(text))) == NAMES[text]


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "a b", "«a", "a»", "«a»b", "a\n"])
def test_what_is_no_name_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="no name"):
        parse_name(text)


def test_names_that_look_alike_are_shown_as_what_they_are() -> None:
    assert show_name(("propext\nQuot", "sound")) == "«propext\\nQuot».sound"
    assert show_name(("Quot.sound",)) == "«Quot.sound»"
    assert show_name(()) == "[anonymous]"
