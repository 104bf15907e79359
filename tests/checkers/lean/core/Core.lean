prelude

/-! What the tests' proofs use, and what Lean's elaborator asks for by name, in place of
Lean's own library, which is not at hand. Every line is here because something needed it. -/

set_option genCtorIdx false

universe u v w

set_option bootstrap.inductiveCheckResultingUniverse false in
inductive PUnit : Sort u where
  | unit : PUnit

-- Marks that the compiler leaves in code.
unsafe axiom lcErased : Type
unsafe axiom lcAny : Type
unsafe axiom lcVoid : Type
unsafe axiom lcProof {α : Prop} : α
unsafe axiom lcUnreachable {α : Sort u} : α

inductive True : Prop where
  | intro : True

inductive False : Prop

inductive Bool : Type where
  | false : Bool
  | true : Bool

inductive Eq {α : Sort u} : α → α → Prop where
  | refl (a : α) : Eq a a

def Eq.ndrec.{u1, u2} {α : Sort u2} {a : α} {motive : α → Sort u1} (m : motive a) {b : α}
    (h : Eq a b) : motive b :=
  h.rec m

theorem Eq.symm {α : Sort u} {a b : α} (h : Eq a b) : Eq b a := h.rec (Eq.refl a)

inductive HEq {α : Sort u} : α → {β : Sort u} → β → Prop where
  | refl (a : α) : HEq a a

def id {α : Sort u} (a : α) : α := a

theorem eq_of_heq {α : Sort u} {a a' : α} (h : HEq a a') : Eq a a' :=
  have key : (α β : Sort u) → (a : α) → (b : β) → HEq a b → (h : Eq α β) → Eq (h.rec a) b :=
    fun _ _ _ _ h => h.rec fun _ => Eq.refl _
  key α α a a' h (Eq.refl α)

theorem heq_of_eq {α : Sort u} {a b : α} (h : Eq a b) : HEq a b :=
  h.rec (HEq.refl a)

structure And (a b : Prop) : Prop where
  intro ::
  left : a
  right : b

inductive Or (a b : Prop) : Prop where
  | inl (h : a) : Or a b
  | inr (h : b) : Or a b

inductive Exists {α : Sort u} (p : α → Prop) : Prop where
  | intro (w : α) (h : p w) : Exists p

inductive Nat where
  | zero : Nat
  | succ (n : Nat) : Nat

@[extern "lean_nat_add"]
def Nat.add (n m : Nat) : Nat := m.rec n fun _ sum => sum.succ
@[extern "lean_nat_mul"]
def Nat.mul (n m : Nat) : Nat := m.rec Nat.zero fun _ product => product.add n

@[extern "lean_nat_dec_le"]
def Nat.ble (n m : Nat) : Bool :=
  n.rec (fun _ => Bool.true) (fun _ below m => m.rec Bool.false fun m _ => below m) m

structure PULift.{r, s} (α : Sort s) : Sort (max s r 1) where
  up :: down : α

noncomputable def cond {α : Sort u} (c : Bool) (x y : α) : α := c.rec y x

class OfNat (α : Type u) (n : Nat) where
  ofNat : α

@[default_instance 100]
instance instOfNatNat (n : Nat) : OfNat Nat n := ⟨n⟩

-- `sorry` carries the place where it was written, as a name.
inductive String where
  | empty : String

inductive Lean.Name where
  | anonymous : Lean.Name
  | str (pre : Lean.Name) (string : String) : Lean.Name
  | num (pre : Lean.Name) (i : Nat) : Lean.Name

axiom sorryAx (α : Sort u) (synthetic : Bool) : α

axiom propext {a b : Prop} : (a → b) → (b → a) → Eq a b
