"""Honest proofs are accepted; false statements and broken proofs are not."""

from __future__ import annotations

import pytest

from tests.checkers.lean.conftest import JudgeLean
from verifier_server.verdict import Outcome

ADD_ZERO = "theorem add_zero (n : Nat) : Eq (Nat.add Nat.zero n) n"
ADD_ZERO_PROOF = (
    "n.rec (motive := fun n => Eq (Nat.add Nat.zero n) n) (Eq.refl Nat.zero) "
    "fun n ih => ih.rec (motive := fun m _ => Eq (Nat.add Nat.zero n).succ (Nat.succ m)) "
    "(Eq.refl (Nat.add Nat.zero n).succ)"
)
HONEST = {
    "reflexivity by computing": ("theorem t : Eq (Nat.add 2 2) 4", "Eq.refl 4"),
    "a product": ("theorem t : Eq (Nat.mul 12 12) 144", "Eq.refl 144"),
    "identity": ("theorem t (p : Prop) : p → p", "fun h => h"),
    "composition": (
        "theorem t (p q r : Prop) : (p → q) → (q → r) → p → r",
        "fun f g h => g (f h)",
    ),
    "conjunction turned round": (
        "theorem t (p q : Prop) : And p q → And q p",
        "fun h => ⟨h.right, h.left⟩",
    ),
    "disjunction turned round": (
        "theorem t (p q : Prop) (h : Or p q) : Or q p",
        "h.rec (fun a => Or.inr a) (fun b => Or.inl b)",
    ),
    "from falsity": ("theorem t (p : Prop) (h : False) : p", "h.rec"),
    "double negation brought in": (
        "theorem t (p : Prop) : p → (p → False) → False",
        "fun h not => not h",
    ),
    "a witness": ("theorem t : Exists fun n : Nat => Eq n.succ 3", "⟨2, Eq.refl 3⟩"),
    "symmetry by a recursor": (
        "theorem t {A : Sort u} (a b : A) (h : Eq a b) : Eq b a",
        "h.rec (Eq.refl a)",
    ),
    "transitivity by rewriting": (
        "theorem t {A : Sort u} (a b c : A) (h : Eq a b) (k : Eq b c) : Eq a c",
        "k.rec (motive := fun c _ => Eq a c) h",
    ),
    "congruence": (
        "theorem t (f : Nat → Nat) (a b : Nat) (h : Eq a b) : Eq (f a) (f b)",
        "h.rec (motive := fun b _ => Eq (f a) (f b)) (Eq.refl (f a))",
    ),
    "induction": (ADD_ZERO, ADD_ZERO_PROOF),
    "a definition of the statement's own": (
        "theorem t (p : Nat → Prop) (z : p 0) (s : (n : Nat) → p n → p n.succ) : (n : Nat) → p n",
        "fun n => n.rec z s",
    ),
    "an axiom that is allowed": (
        "theorem t (p q : Prop) (f : p → q) (g : q → p) : Eq p q",
        "propext f g",
    ),
    "a lemma behind it": (
        "theorem t : Eq 3 3",
        "Eq.refl 3\n\ntheorem u : Eq 4 4 := Eq.refl 4",
    ),
}
LIST = """
inductive Le (n : Nat) : Nat → Prop
  | refl : Le n n
  | step (m : Nat) (h : Le n m) : Le n m.succ

/-- A lemma of its own, with the word unsafe in a comment. -/
theorem le_succ (n : Nat) : Le n n.succ := Le.step n Le.refl

structure Pair where
  left : Nat
  right : Nat
  same : Eq left right

theorem of_pair (p : Pair) : Eq p.right p.left := p.same.symm

theorem t (n : Nat) : Eq n n := of_pair ⟨n, n, Eq.refl n⟩
"""
FILES = {
    "with its own inductive types and lemmas": ("theorem t (n : Nat) : Eq n n", LIST),
    "with the task's imports": (
        "theorem t (p : Prop) : p → p",
        "prelude\nimport Core\n-- the theorem\ntheorem t (p : Prop) : p → p := fun h => h",
    ),
    "with other names for what is bound": (
        "theorem t {A : Sort u} (a : A) : Eq a a",
        "theorem t.{w} {B : Sort w} (b : B) : Eq b b := Eq.refl b",
    ),
    "with types that hold each other, and one that is held by another": (
        "theorem t : Eq 1 1",
        "mutual\ninductive A | a : B → A\ninductive B | b | c : A → B\nend\n"
        "inductive L (X : Type) | nil | cons (h : X) (t : L X)\n"
        "inductive Tree | node : L Tree → Tree\n"
        "theorem u (t : Tree) (b : B) : And (Eq t t) (Eq b b) := ⟨Eq.refl t, Eq.refl b⟩\n"
        "theorem t : Eq 1 1 := (fun _ => Eq.refl 1 : And _ _ → _) (u (Tree.node L.nil) B.b)",
    ),
    "in a namespace": (
        "theorem A.t : Eq 1 1",
        "namespace A\ntheorem t : Eq 1 1 := Eq.refl 1\nend A",
    ),
}
WRONG = {
    "false arithmetic": ("theorem t : Eq (Nat.add 2 2) 5", "Eq.refl 5"),
    "an unknown name": ("theorem t (p : Prop) : p → p", "nonsense"),
    "no term": ("theorem t (p : Prop) : p → p", "fun h =>"),
    "prose": ("theorem t (p : Prop) : p → p", "This is obvious."),
    "the wrong way round": ("theorem t (p q : Prop) : And p q → q", "fun h => h.left"),
    "an induction without its step": (ADD_ZERO, "n.rec (Eq.refl Nat.zero) fun _ ih => ih"),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_proof_is_accepted(prove: JudgeLean, name: str) -> None:
    statement, proof = HONEST[name]
    judgement = prove(f"Here it is.\n```lean4\n{proof}\n```", statement)
    assert judgement.outcome is Outcome.ACCEPTED, judgement
    assert judgement.evidence["tier"] == "axioms"
    assert judgement.evidence["statement_match"] is True
    assert judgement.evidence["axioms"] == (["propext"] if "propext" in proof else [])
    assert str(judgement.evidence["toolchain"]).startswith("4.35.0 ")
    assert judgement.isolation != "none"


@pytest.mark.parametrize("name", FILES)
def test_an_honest_file_is_accepted(prove: JudgeLean, name: str) -> None:
    statement, file = FILES[name]
    judgement = prove(file, statement)
    assert judgement.outcome is Outcome.ACCEPTED, judgement


@pytest.mark.parametrize("name", WRONG)
def test_a_broken_proof_is_rejected(prove: JudgeLean, name: str) -> None:
    statement, proof = WRONG[name]
    judgement = prove(proof, statement)
    assert (judgement.score, judgement.outcome) == (0, Outcome.COMPILE_ERROR)
    assert judgement.evidence["step"] == "build"
    assert judgement.evidence["messages"]


@pytest.mark.parametrize("statement_end", ["", " :=", " := by", " := by sorry", " := sorry"])
@pytest.mark.parametrize("start", ["", ":= ", "\n  :=\n"])
def test_it_does_not_matter_how_a_statement_ends(
    prove: JudgeLean, statement_end: str, start: str
) -> None:
    if "by" in statement_end and not start:
        return  # then a proof is tactics, of which the tests' core has none
    judgement = prove(f"{start}fun h => h", f"theorem t (p : Prop) : p → p{statement_end}")
    assert judgement.outcome is Outcome.ACCEPTED, judgement


CONTEXT = """prelude
import Core
set_option genCtorIdx false

/-- Twice a number. -/
noncomputable def double (n : Nat) : Nat := Nat.add n n

namespace Task
variable (n : Nat)

theorem helper : Eq n n := Eq.refl n
"""


@pytest.mark.parametrize(
    "completion",
    [
        "Eq.refl (double n)",
        "namespace Task\ntheorem t (n : Nat) : Eq (double n) (Nat.add n n) := helper (double n)",
        f"{CONTEXT}\ntheorem t : Eq (double n) (Nat.add n n) := Eq.refl (double n)",
        f"{CONTEXT}\n\ntheorem t : Eq (double n) (Nat.add n n) := Task.helper (double n)\nend Task",
    ],
)
def test_a_header_may_declare_and_open_what_the_statement_needs(
    prove: JudgeLean, completion: str
) -> None:
    statement = "theorem t : Eq (double n) (Nat.add n n)"
    judgement = prove(completion, statement, header=CONTEXT)
    assert judgement.outcome is Outcome.ACCEPTED, judgement


def test_a_mutual_block_in_a_header_ends_no_namespace(prove: JudgeLean) -> None:
    types = "mutual\ninductive A | a : B → A\ninductive B | b | c : A → B\nend\n"
    header = f"prelude\nimport Core\nset_option genCtorIdx false\nnamespace Task\n{types}"
    judgement = prove("Eq.refl B.b", "theorem t : Eq B.b B.b", header=header)
    assert judgement.outcome is Outcome.ACCEPTED, judgement


def test_what_the_header_declares_can_not_be_declared_otherwise(prove: JudgeLean) -> None:
    completion = (
        "prelude\nimport Core\nnoncomputable def double (n : Nat) : Nat := 0\nnamespace Task\n"
        "theorem t (n : Nat) : Eq (double n) 0 := Eq.refl 0"
    )
    judgement = prove(completion, "theorem t : Eq (double n) 0", header=CONTEXT)
    assert (judgement.score, judgement.evidence["step"]) == (0, "build")


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("theorem t : Eq 1 Bool.true", "does not compile"),
        ("theorem t : Nat", "does not compile"),
        ("lemma : True", "no `theorem NAME`"),
        ("example : True", "no `theorem NAME`"),
        ("private theorem t : True", "private"),
    ],
)
def test_a_statement_that_is_none_is_the_tasks_fault(
    prove: JudgeLean, statement: str, why: str
) -> None:
    judgement = prove("True.intro", statement)
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE)
    assert why in judgement.explanation


def test_a_library_that_is_missing_is_nobodys_zero(prove: JudgeLean) -> None:
    judgement = prove("trivial", "theorem t : True", header="import Mathlib")
    assert (judgement.score, judgement.outcome) == (None, Outcome.SANDBOX_ERROR)
    assert "VERIFIER_LEAN_PATH" in judgement.explanation
