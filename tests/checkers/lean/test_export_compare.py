"""A submission's export against the task's: what states the same, from what it is proved.

The numbers are those of docs/lean.md. No kernel runs here: a wrong proof is its affair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.checkers.lean.exports import Writer
from verifier_server.checkers.lean.export.closure import Missing
from verifier_server.checkers.lean.export.compare import (
    Expected,
    Mismatch,
    asked,
    axioms_of,
    expectation,
    require_axioms,
    require_match,
)

AXIOMS = ("propext", "Classical.choice", "Quot.sound")
Write = Callable[[Writer], None]


@dataclass(frozen=True)
class Library:
    """What both sides import, each part of it as it is or as a submission would have it."""

    false_constructors: tuple[str, ...] = ()
    gcd: str | None = "genuine"
    of_nat: str = "genuine"
    structure: tuple[str, ...] = ("mk",)
    predicate: str = "genuine"
    hidden: str = "genuine"
    propext: str | None = "genuine"
    quotient: bool = True

    def write(self, w: Writer) -> None:
        prop, type_ = w.sort(), w.sort(w.succ(0))
        w.inductive(
            "False",
            prop,
            [(name, w.const("False")) for name in self.false_constructors],
            (prop, [prop for _ in self.false_constructors]),
        )
        nat = w.const("Nat")
        w.inductive("Nat", type_, [("zero", nat), ("succ", w.pi(nat, nat))], (prop, [nat, nat]))
        w.inductive("S", type_, [(name, w.const("S")) for name in self.structure])
        w.inductive("String", type_, [])
        w.inductive("Char", type_, [])
        w.definition("Char.ofNat", w.pi(nat, w.const("Char")), self._term(w, self.of_nat))
        if self.gcd:
            w.definition("Nat.gcd", w.pi(nat, nat), self._term(w, self.gcd))
        w.definition("hidden", nat, self._term(w, self.hidden))
        body = w.app(self._term(w, self.predicate), w.const("hidden"))
        w.definition("P", w.pi(nat, prop), w.lam(nat, body))
        if self.propext:
            w.axiom("propext", self._term(w, self.propext))
        if self.quotient:
            u = w.sort(w.parameter("u"))
            w.inductive("Eq", prop, [])
            for name, kind in (
                ("Quot", "type"),
                ("Quot.mk", "ctor"),
                ("Quot.lift", "lift"),
                ("Quot.ind", "ind"),
            ):
                w.quotient(name, w.pi(u, u), kind, "u")

    @staticmethod
    def _term(w: Writer, what: str) -> int:
        return w.const("False") if what == "False" else w.lam(w.const("Nat"), w.nat(str(len(what))))


GENUINE = Library()


def _statement(w: Writer) -> int:
    """`P 2 → (S's first field) "a" False`, more or less."""
    projected = w.proj("S", 0, w.bvar(0))
    body = w.app(projected, w.string("a"), w.const("False"))
    return w.pi(w.app(w.const("P"), w.nat("2")), body)


def _expected(library: Library = GENUINE, axioms: tuple[str, ...] = AXIOMS) -> Expected:
    w = Writer()
    library.write(w)
    w.axiom("gap", w.sort())
    w.theorem("t", _statement(w), w.const("gap"))
    return expectation(w.graph(), "t", axioms)


def _judge(write: Write, library: Library = GENUINE, expected: Expected | None = None) -> None:
    w = Writer()
    library.write(w)
    write(w)
    graph, wanted = w.graph(), expected or _expected()
    require_match(graph, "t", wanted)
    require_axioms(graph, "t", wanted)


def _prove(*others: str) -> Write:
    """A proof that names these constants."""

    def write(w: Writer) -> None:
        value = w.lam(w.sort(), w.app(w.const("P"), *map(w.const, others)))
        w.theorem("t", _statement(w), value)

    return write


def _axiom(name: str | tuple[str | int, ...]) -> Write:
    def write(w: Writer) -> None:
        w.axiom(name, w.const("False"))
        w.theorem("t", _statement(w), w.const(name))

    return write


def _opaque(w: Writer) -> None:
    w.axiom("cheat", w.const("False"))
    w.opaque("hidden_axiom", w.const("False"), w.const("cheat"))
    _prove("hidden_axiom")(w)


def _behind_a_rule(w: Writer) -> None:
    w.axiom("cheat", w.const("False"))
    w.inductive("Box", w.sort(), [("mk", w.const("Box"))], (w.sort(), [w.const("cheat")]))
    _prove("Box.mk")(w)


def _behind_a_type(w: Writer) -> None:
    w.axiom("cheat", w.sort())
    w.inductive("Box", w.pi(w.const("cheat"), w.sort()), [])
    _prove("Box")(w)


def _partial(w: Writer) -> None:
    w.definition("loop", w.const("False"), w.const("loop"), safety="partial")
    _prove("loop")(w)


def _native(w: Writer) -> None:
    w.opaque("Lean.reduceBool", w.const("Nat"), w.const("Nat"))
    _prove("Lean.reduceBool")(w)


def _other_statement(w: Writer) -> None:
    w.theorem("t", w.pi(w.const("False"), _statement(w)), w.const("P"))


def _as_an_axiom(w: Writer) -> None:
    w.axiom("t", _statement(w))


def _opaque_theorem(w: Writer) -> None:
    w.opaque("t", _statement(w), w.const("P"))


def _in_a_namespace(w: Writer) -> None:
    w.theorem("A.t", _statement(w), w.const("P"))


def _spelt_alike(w: Writer) -> None:
    w.theorem(("", "t"), _statement(w), w.const("P"))
    w.theorem(("t\n",), _statement(w), w.const("P"))


def _with_a_universe(w: Writer) -> None:
    w.theorem("t", _statement(w), w.const("P"), "u")


REFUSED: dict[str, tuple[str, Write, Library]] = {
    "1 an axiom": ("axioms", _axiom("cheat"), GENUINE),
    "2 a proof left out": ("axioms", _axiom("sorryAx"), GENUINE),
    "5 another statement": ("statement", _other_statement, GENUINE),
    "5 the statement as an axiom": ("statement", _as_an_axiom, GENUINE),
    "8 in another namespace": ("statement", _in_a_namespace, GENUINE),
    "14 another gcd": ("statement", _prove("Nat.gcd"), Library(gcd="other!")),
    "14 no gcd": ("statement", _prove(), Library(gcd=None)),
    "15 another Char.ofNat": ("statement", _prove(), Library(of_nat="other!")),
    "17 an empty structure, reached by a projection alone": (
        "statement",
        _prove(),
        Library(structure=()),
    ),
    "18 an opaque constant with an axiom inside": ("axioms", _opaque, GENUINE),
    "18 an axiom in a recursor's rule": ("axioms", _behind_a_rule, GENUINE),
    "18 an axiom in a type's type": ("axioms", _behind_a_type, GENUINE),
    "19 what the statement speaks of, left out": (
        "statement",
        _prove(),
        Library(predicate="False"),
    ),
    "19 the same one definition further": ("statement", _prove(), Library(hidden="False")),
    "20 a name that prints as an allowed one, by a dot": (
        "axioms",
        _axiom(("Quot.sound",)),
        GENUINE,
    ),
    "20 by a line break": ("axioms", _axiom(("propext\n",)), GENUINE),
    "20 by a private prefix": ("axioms", _axiom(("_private", "M", 0, "propext")), GENUINE),
    "21 a constructor for False": (
        "statement",
        _prove("False.intro"),
        Library(false_constructors=("intro",)),
    ),
    "22 another type under an allowed name": (
        "axioms",
        _prove("propext"),
        Library(propext="False"),
    ),
    "22 an allowed name that the library lacks": ("axioms", _axiom("Classical.choice"), GENUINE),
    "24 compiled code": ("axioms", _native, GENUINE),
    "24 a partial definition": ("axioms", _partial, GENUINE),
    "25 an axiom that reads like a compiler's": (
        "axioms",
        _axiom("t._native.native_decide.ax_1"),
        GENUINE,
    ),
    "34 a name spelt alike": ("statement", _spelt_alike, GENUINE),
    "an opaque constant in a theorem's place": ("statement", _opaque_theorem, GENUINE),
    "a universe too many": ("statement", _with_a_universe, GENUINE),
    "a constant that is not in the export": ("axioms", _prove("unsafe_one"), GENUINE),
    "nothing at all": ("statement", lambda w: None, GENUINE),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_proves_something_else_is_refused(name: str) -> None:
    step, write, library = REFUSED[name]
    with pytest.raises(Mismatch) as refused:
        _judge(write, library)
    assert refused.value.step == step, refused.value


def test_16_a_theorem_in_a_quotients_place() -> None:
    def write(w: Writer) -> None:
        w.theorem("Quot.lift", w.sort(), w.const("P"))
        _prove("Quot.lift")(w)

    library = Library(quotient=False)
    with pytest.raises(Mismatch) as refused:
        _judge(write, library, _expected())
    assert refused.value.step == "statement"
    with pytest.raises(Mismatch) as refused:
        _judge(write, library, _expected(library))
    assert refused.value.step == "statement"


def _lemma(w: Writer) -> None:
    w.theorem("lemma1", w.sort(), w.const("hidden"))
    w.inductive("Own", w.sort(), [("mk", w.const("Own"))])
    w.opaque("own", w.sort(), w.const("Own.mk"))
    w.axiom("unreached", w.const("False"))
    _prove("lemma1", "own")(w)


def _as_a_definition(w: Writer) -> None:
    w.definition("t", _statement(w), w.const("P"))


ACCEPTED: dict[str, Write] = {
    "a plain proof": _prove(),
    "lemmas and types of its own": _lemma,
    "an allowed axiom": _prove("propext"),
    "a definition": _as_a_definition,
    "what the kernel knows by name": _prove("Nat.gcd", "Quot.lift", "Nat.rec"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_proves_the_statement_is_accepted(name: str) -> None:
    _judge(ACCEPTED[name])


def test_an_axiom_that_the_task_does_not_allow_is_refused() -> None:
    with pytest.raises(Mismatch, match="rests on propext"):
        _judge(_prove("propext"), expected=_expected(axioms=()))


def test_axioms_are_told_by_name() -> None:
    w = Writer()
    GENUINE.write(w)
    w.axiom(("Quot.sound",), w.sort())
    w.theorem("t", _statement(w), w.app(w.const("propext"), w.const(("Quot.sound",))))
    assert axioms_of(w.graph(), "t") == ["propext", "«Quot.sound»"]


def _polymorphic(first: str, second: str, used: str) -> Writer:
    w = Writer()
    a, b = w.sort(w.parameter(first)), w.sort(w.parameter(second))
    body = w.pi(a, w.pi(b, w.sort(w.parameter(used)), name="y"), name="x")
    w.theorem("t", body, w.sort(), first, second)
    return w


def test_universes_count_by_their_place() -> None:
    wanted = expectation(_polymorphic("u", "v", "u").graph(), "t", ())
    require_match(_polymorphic("w", "u", "w").graph(), "t", wanted)
    with pytest.raises(Mismatch, match="something else"):
        require_match(_polymorphic("u", "v", "v").graph(), "t", wanted)


def test_names_and_kinds_of_bound_variables_do_not_count() -> None:
    def write(name: str, info: str) -> Writer:
        w = Writer()
        kind = w.pi(w.sort(), w.bvar(0), name, info)
        w.theorem("t", kind, w.lam(w.sort(), w.bvar(0), name, info))
        return w

    wanted = expectation(write("x", "default").graph(), "t", ())
    require_match(write("y", "implicit").graph(), "t", wanted)


def test_a_type_that_is_far_larger_is_not_walked_to_its_end() -> None:
    w = Writer()
    term = w.sort()
    for _ in range(20_000):
        term = w.app(term, w.sort())
    w.theorem("t", term, w.sort())
    small = Writer()
    small.theorem("t", small.sort(), small.sort())
    with pytest.raises(Mismatch, match="much larger"):
        require_match(w.graph(), "t", expectation(small.graph(), "t", ()))


def test_a_tasks_export_must_hold_its_theorem() -> None:
    with pytest.raises(Missing, match="`t` is not in the export"):
        expectation(Writer().graph(), "t", ())


def test_compiled_code_is_compared_where_a_task_believes_it() -> None:
    assert "Lean.reduceBool" not in asked("t", AXIOMS)
    assert "Lean.reduceBool" in asked("t", (*AXIOMS, "Lean.ofReduceBool"))
    axioms = ("Lean.ofReduceBool",)

    def write(w: Writer, value: str) -> None:
        w.opaque("Lean.reduceBool", w.const("Nat"), w.const(value))
        w.axiom("Lean.ofReduceBool", w.const("Lean.reduceBool"))
        _prove("Lean.ofReduceBool")(w)

    w = Writer()
    GENUINE.write(w)
    write(w, "Nat.zero")
    wanted = expectation(w.graph(), "t", axioms)
    _judge(lambda w: write(w, "Nat.zero"), expected=wanted)
    with pytest.raises(Mismatch, match="by their names"):
        _judge(lambda w: write(w, "hidden"), expected=wanted)
