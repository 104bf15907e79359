"""When an answer is the gold: the rules for each form, with a reason for each refusal.

The gold's form decides. Numbers inside any form are compared by `scalars`.
"""

from __future__ import annotations

from verifier_server.checkers.math import chains, groups, measures, realsets, scalars, tables
from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.chains import is_equation
from verifier_server.checkers.math.policy import YES, Match, Policy, no
from verifier_server.checkers.math.values import (
    BaseNumeral,
    Cases,
    Clock,
    Labelled,
    Matrix,
    Named,
    Percent,
    Quantity,
    Ratio,
    Relation,
    Scalar,
    Several,
    Text,
    Union_,
    Value,
)

_LONGEST_PRODUCT = 4  # letters
_VOWELS = frozenset("eiou")
_FLIPPED = {">": "<", ">=": "<="}


def match(gold: Value, answer: Value, policy: Policy) -> Match:
    """Judges a value by the gold.

    Raises:
        TooLarge: the answer can't be evaluated within bounds.
    """
    if isinstance(gold, Scalar) and isinstance(answer, Scalar):
        return scalars.match_scalars(gold.expr, answer.expr, policy)
    if gold == answer:
        return YES
    wrapped = _match_wrapped(gold, answer, policy)
    if wrapped is not None:
        return wrapped
    if realsets.describes_reals(gold) and realsets.describes_reals(answer):
        return _match_reals(gold, answer, policy)
    if isinstance(gold, Union_) or isinstance(answer, Union_):
        return _match_reals(gold, answer, policy)  # a union of finite sets, too
    if isinstance(gold, Matrix) or isinstance(answer, Matrix):
        return tables.match_matrices(gold, answer, policy, match)
    if isinstance(gold, Several) or isinstance(answer, Several):
        return groups.match_several(gold, answer, policy, match)
    return _match_single(gold, answer, policy)


def states_equation(gold: Value) -> bool:
    """Whether it is an equation between unknowns, `y = 2x` as well as `2x - y = 0`."""
    match gold:
        case Named(_, Scalar(body)):
            return bool(ex.symbols(body))
    return is_equation(gold)


def settled(value: Value, policy: Policy) -> Value:
    """What a chain of equations comes to.

    Raises:
        FalseLink: it equates things that differ.
        TooLarge: as above.
    """
    return chains.settle(value, lambda a, b: match(a, b, policy).ok or match(b, a, policy).ok)


def _match_wrapped(gold: Value, answer: Value, policy: Policy) -> Match | None:
    """Names, labels and choices around a value; None if there are none."""
    if isinstance(gold, Labelled) or isinstance(answer, Labelled):
        return _match_labelled(gold, answer, policy)
    match (gold, answer):
        case Relation(), Named() if is_equation(gold):
            return _match_equations(gold, _equation(answer))
        case Named(), Relation() if is_equation(answer):
            return _match_equations(_equation(gold), answer)
        case Named(name, Scalar(body)), Named(other, Scalar(turned)) if name in ex.symbols(
            turned
        ) and other in ex.symbols(body):
            return _match_equations(_equation(gold), _equation(answer))
        case Named(), Named():
            answer = groups.in_order_of(gold, answer) or answer
            return match(gold.value, _with_variable(answer, gold), policy)
        case Named(_, inner), _:
            return match(inner, groups.in_order_of(gold, answer) or answer, policy)
        case _, Named(_, inner):
            in_order = groups.in_order_of(answer, gold)
            return match(gold if in_order is None else in_order.value, inner, policy)
    return None


def _match_labelled(gold: Value, answer: Value, policy: Policy) -> Match:
    r"""Choices with their content, `(D)\ 12`: the letter counts, or the content without one."""
    match (gold, answer):
        case Labelled(letter, inner), Labelled(other, value):
            return match(inner, value, policy) if letter == other else no("another choice")
        case Labelled(letter, inner), _:
            return YES if _choice(answer) == letter else match(inner, answer, policy)
        case Text(), Labelled(letter, _) if _choice(gold):
            return YES if _choice(gold) == letter else no("another choice")
        case _, Labelled(letter, inner):
            return YES if _choice(gold) == letter else match(gold, inner, policy)
    raise AssertionError("one of them is labelled")


def _with_variable(answer: Named, gold: Named) -> Value:
    """The answer's value, its function's variable called as the gold's."""
    if answer.of and gold.of and answer.of != gold.of and isinstance(answer.value, Scalar):
        return Scalar(ex.rename(answer.value.expr, answer.of, gold.of))
    return answer.value


def _equation(named: Named) -> Relation:
    return Relation((Scalar(ex.Sym(named.name)), named.value), ("=",))


def _match_equations(gold: Relation, answer: Relation) -> Match:
    return YES if chains.same_equation(gold, answer) else no("it is another equation")


def _match_reals(gold: Value, answer: Value, policy: Policy) -> Match:
    match (gold, answer):
        case Several(_, golds, closed), Several(_, answers, other) if len(golds) == len(answers):
            relations = any(isinstance(item, Relation) for item in (*golds, *answers))
            if closed == other and not relations:
                pairs = [match(g, a, policy) for g, a in zip(golds, answers, strict=True)]
                return next((pair for pair in pairs if not pair.ok), YES)
    same = realsets.same_reals(gold, answer)
    if same is None:
        return _match_relations(gold, answer)
    return YES if same else no("it is another set of numbers")


def _match_relations(gold: Value, answer: Value) -> Match:
    """Inequalities that are not solved: side by side, whichever way they are turned."""
    if not isinstance(answer, Relation):
        return no("it is another set, or none")
    if not isinstance(gold, Relation):
        return no("it is not solved for the unknown")
    (first, signs), (second, others) = _turned(gold), _turned(answer)
    if signs != others:
        return no("it is another relation")
    for one, two in zip(first, second, strict=True):
        if not match(one, two, Policy()).ok:
            return no("it is another relation")
    return YES


def _turned(relation: Relation) -> tuple[tuple[Value, ...], tuple[str, ...]]:
    if all(sign in _FLIPPED for sign in relation.signs):
        signs = tuple(_FLIPPED[sign] for sign in reversed(relation.signs))
        return relation.sides[::-1], signs
    return relation.sides, relation.signs


def _match_single(gold: Value, answer: Value, policy: Policy) -> Match:
    match (gold, answer):
        case Relation(), Relation() if is_equation(gold) and is_equation(answer):
            return _match_equations(gold, answer)
        case (
            (Scalar() | Percent() | Quantity() | BaseNumeral()),
            (Scalar() | Percent() | Quantity() | BaseNumeral()),
        ):
            return measures.match_measures(gold, answer, policy)
        case Text(), _:
            return _match_text(gold, answer)
        case Scalar(), Text(_, letters) if letters:
            return _match_letters(gold, letters, policy)
        case ((Ratio() | Clock()), _) | (_, (Ratio() | Clock())):
            return _match_colons(gold, answer, policy)
        case Cases(), Cases():
            return tables.match_cases(gold, answer, policy, match)
    return no("it is of another kind than the reference")


def _choice(value: Value) -> str:
    """The letter of a multiple-choice answer, or ""."""
    match value:
        case Text(words) if len(words) == 1:
            return words
        case Scalar(ex.Sym(name)) if len(name) == 1:
            return name.lower()
        case Scalar(ex.Const("e")):
            return "e"
    return ""


def _match_text(gold: Text, answer: Value) -> Match:
    if isinstance(answer, Text) and answer.words == gold.words:
        return YES
    if isinstance(answer, Text) and _are_factors(gold.letters) and _are_factors(answer.letters):
        return match(_as_product(gold.letters), _as_product(answer.letters), Policy())
    if _choice(gold) and _choice(gold) == _choice(answer):
        return YES
    if gold.letters and isinstance(answer, Scalar):
        return match(_as_product(gold.letters), answer, Policy())
    return no("it says something else")


def _are_factors(letters: str) -> bool:
    """Whether it is a product like `xyz` rather than a word."""
    return 0 < len(letters) <= _LONGEST_PRODUCT and not set(letters.lower()) & _VOWELS


def _match_letters(gold: Scalar, letters: str, policy: Policy) -> Match:
    if len(letters) > _LONGEST_PRODUCT:
        return no("it is a word")
    return match(gold, _as_product(letters), policy)


def _as_product(letters: str) -> Scalar:
    factors = tuple(ex.Const(c) if c in "ei" else ex.Sym(c) for c in letters)
    return Scalar(factors[0] if len(factors) == 1 else ex.Mul(factors))


def _match_colons(gold: Value, answer: Value, policy: Policy) -> Match:
    """Ratios and times of day, which may be written alike."""
    match (gold, answer):
        case Ratio(), Ratio():
            return _match_ratios(gold, answer, policy)
        case Ratio((a, b)), Scalar() if not _has_zero((a, b)):
            return match(Scalar(ex.Div(a, b)), answer, policy)
        case Scalar(), Ratio((a, b)) if not _has_zero((a, b)):
            return match(gold, Scalar(ex.Div(a, b)), policy)
        case Clock(), Clock():
            return YES if _same_time(gold, answer) else no("it is another time")
        case (Clock() as clock, Ratio() as ratio) | (Ratio() as ratio, Clock() as clock):
            other = _as_clock(ratio)
            same = other is not None and _same_time(clock, other)
            return YES if same else no("it is another time")
    return no("it is another time of day")


def _as_clock(ratio: Ratio) -> Clock | None:
    """The time that `12:10` may be; minutes below ten are written with their zero."""
    match ratio.parts:
        case (ex.Num(hour), ex.Num(minute)) if hour.denominator == minute.denominator == 1:
            return Clock(int(hour), int(minute), "") if minute > 9 else None
    return None


def _same_time(one: Clock, other: Clock) -> bool:
    if one.minute != other.minute:
        return False
    if one.half == other.half:
        return one.hour == other.hour
    return not _hours_of_day(one).isdisjoint(_hours_of_day(other))


def _hours_of_day(clock: Clock) -> set[int]:
    """The hours from 0 to 23 that a time may mean, given its half of the day or not."""
    morning, evening = clock.hour % 12, clock.hour % 12 + 12
    if clock.half:
        return {morning} if clock.half == "am" else {evening}
    return {morning, evening} if clock.hour <= 12 else {clock.hour}


def _has_zero(parts: tuple[ex.Expr, ...]) -> bool:
    return ex.integer(0) in parts


def _match_ratios(gold: Ratio, answer: Ratio, policy: Policy) -> Match:
    wrong = no("it is another ratio")
    if len(gold.parts) != len(answer.parts):
        return wrong
    if _has_zero(gold.parts) or _has_zero(answer.parts):
        return wrong  # 12:00 is a time; nothing is proportional to zero
    first, *rest = zip(gold.parts, answer.parts, strict=True)
    for part in rest:
        crossed = ex.Mul((first[0], part[1])), ex.Mul((part[0], first[1]))
        if not scalars.match_scalars(*crossed, policy).ok:
            return wrong
    return YES
