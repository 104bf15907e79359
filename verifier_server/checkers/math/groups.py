"""Values held together: lists, sets, tuples, alternatives, sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.faults import TooLarge
from verifier_server.checkers.math.policy import MAX_ITEMS, YES, Match, Policy, no
from verifier_server.checkers.math.values import Dots, Form, Named, Scalar, Several, Text, Value

Matcher = Callable[[Value, Value, Policy], Match]


def match_several(gold: Value, answer: Value, policy: Policy, match: Matcher) -> Match:
    """Judges where at least one side holds several values.

    Raises:
        TooLarge: the comparison would cost too much.
    """
    gold, answer = _flat(gold), _flat(answer)
    if not isinstance(gold, Several):
        assert isinstance(answer, Several)
        return _match_one(gold, answer, policy, match)
    if not isinstance(answer, Several):
        if gold.form is Form.SET and len(gold.items) == 1:
            return match(gold.items[0], answer, policy)
        return no(f"the reference has {len(gold.items)} values, the answer has one")
    gold, answer = _as_solutions(gold, answer), _as_solutions(answer, gold)
    if gold.form is Form.SET or answer.form is Form.SET:
        return _match_sets(gold, answer, policy, match)
    if gold.is_list and answer.is_list:
        return _match_lists(gold, answer, policy, match)
    for side, other in ((gold, answer), (answer, gold)):
        named = _tuple_by_names(side, other)
        if named is not None:
            golds, answers = (side.items, named) if side is gold else (named, side.items)
            return _in_order(golds, answers, policy, match)
    if gold.form is not answer.form or gold.closed != answer.closed:
        return no("it has other brackets than the reference")
    return _in_order(gold.items, answer.items, policy, match)


def _as_solutions(side: Several, other: Several) -> Several:
    """`x=1, y=2; x=3, y=4` as the pairs (1,2) and (3,4), if the other side holds such pairs.

    Two sides that name their unknowns have to name the same; the pairs are then in their order.
    """
    rows, others = _solutions(side), _solutions(other)
    if rows is None:
        return side
    if others is not None:
        if set(rows[0]) == set(others[0]):
            rows = [{name: row[name] for name in sorted(row)} for row in rows]
        else:
            return side
    elif not all(isinstance(item, Several) and item.form is Form.TUPLE for item in other.items):
        return side
    pairs = tuple(Several(Form.TUPLE, tuple(row[name] for name in rows[0])) for row in rows)
    return Several(Form.LIST, pairs)


def _solutions(side: Several) -> list[dict[str, Value]] | None:
    """Values by name of several solutions, each of which gives every unknown a value."""
    names = _names(side)
    if not side.is_list or len(names) < len(side.items) or not names:
        return None
    if names[0] not in names[2:]:
        return None
    width = names.index(names[0], 1)
    rows = [side.items[at : at + width] for at in range(0, len(names), width)]
    found = [{item.name: item.value for item in row if isinstance(item, Named)} for row in rows]
    same = all(len(row) == width and row.keys() == found[0].keys() for row in found)
    return found if same and width > 1 else None


def _flat(value: Value) -> Value:
    r"""A list with what its `\pm` items stand for."""
    if not isinstance(value, Several) or not value.is_list:
        return value
    items: list[Value] = []
    for item in value.items:
        inner = item.value if isinstance(item, Named) else item
        is_pair = isinstance(inner, Several) and inner.form is Form.BOTH_SIGNS
        items += inner.items if is_pair and isinstance(inner, Several) else (item,)
    return Several(value.form, tuple(items), value.closed)


def _match_one(gold: Value, answer: Several, policy: Policy, match: Matcher) -> Match:
    """Several values where one is asked for: right only if they are that one over again."""
    if answer.form is Form.ALTERNATIVES:
        if all(match(gold, item, policy).ok for item in answer.items):
            return YES
        return no(f"{_count(len(answer.items))} alternatives offered")
    if answer.form is Form.SET and len(answer.items) == 1:
        return match(gold, answer.items[0], policy)
    if not answer.items:
        return no("the reference is a value, the answer is none")
    return no(f"the reference is one value, the answer has {len(answer.items)}")


def _count(n: int) -> str:
    return {2: "two", 3: "three", 4: "four"}.get(n, str(n))


def _match_lists(gold: Several, answer: Several, policy: Policy, match: Matcher) -> Match:
    if {gold.form, answer.form} == {Form.BOTH, Form.ALTERNATIVES} and _are_letters(gold):
        return no("it joins them by the other word")
    if answer.form is Form.ALTERNATIVES is not gold.form and _are_texts(gold):
        return no(f"{_count(len(answer.items))} alternatives offered")
    names = [_names(side) for side in (gold, answer)]
    if all(len(set(found)) > 1 for found in names):
        if sorted(names[0]) != sorted(names[1]):
            return no("it gives values to other names")
        return _in_order(_by_name(gold), _by_name(answer), policy, match)
    golds, answers = [[_unnamed(item) for item in side.items] for side in (gold, answer)]
    is_sequence = any(isinstance(item, Dots) for item in (*golds, *answers))
    has_pair = Form.BOTH_SIGNS in (gold.form, answer.form)
    # x_1 and x_2 only count the values of one unknown.
    counted = [{name.partition("_")[0] for name in found} for found in names]
    all_named = len(names[0]) == len(names[1]) == len(golds)
    if all_named and (len(counted[0]) > 1) != (len(counted[1]) > 1):
        return no("it gives values to other names")
    has_names = len(set(names[0])) > 1 or len(counted[1]) > 1
    if is_sequence or has_names or (policy.keeps_order and not has_pair):
        return _in_order(golds, answers, policy, match)
    return _in_any_order(golds, answers, policy, match)


def _are_letters(side: Several) -> bool:
    """Whether it may be a statement about statements: `p and q` is not `p or q`."""
    return all(isinstance(i, Scalar) and isinstance(i.expr, ex.Sym) for i in side.items)


def _are_texts(side: Several) -> bool:
    """Whether all of them are asked for: of the statements A and C, "A or C" claims neither."""
    return all(isinstance(item, Text) for item in side.items)


def _names(side: Several) -> list[str]:
    return [item.name for item in side.items if isinstance(item, Named)]


def _by_name(side: Several) -> list[Value]:
    named = [item for item in side.items if isinstance(item, Named)]
    others = [item for item in side.items if not isinstance(item, Named)]
    return [item.value for item in sorted(named, key=lambda item: item.name)] + others


def _unnamed(item: Value) -> Value:
    return item.value if isinstance(item, Named) else item


def _in_order(
    golds: Sequence[Value], answers: Sequence[Value], policy: Policy, match: Matcher
) -> Match:
    if len(golds) != len(answers):
        return no(f"the reference has {len(golds)} elements, the answer has {len(answers)}")
    for place, (gold, answer) in enumerate(zip(golds, answers, strict=True), 1):
        found = match(gold, answer, policy)
        if not found.ok:
            return no(f"element {place} differs: {found.why}")
    return YES


def _in_any_order(
    golds: Sequence[Value], answers: Sequence[Value], policy: Policy, match: Matcher
) -> Match:
    if len(golds) != len(answers):
        return no(f"the reference has {len(golds)} elements, the answer has {len(answers)}")
    if len(golds) > MAX_ITEMS and not all(_is_plain(item) for item in (*golds, *answers)):
        raise TooLarge(f"has {len(answers)} elements to be compared in any order")
    left = list(answers)
    for gold in golds:
        at = next((i for i, answer in enumerate(left) if match(gold, answer, policy).ok), None)
        if at is None:
            return no("an element of the reference is missing")
        del left[at]
    return YES


def _is_plain(item: Value) -> bool:
    return isinstance(item, Scalar) and ex.as_number(item.expr) is not None


def _match_sets(gold: Several, answer: Several, policy: Policy, match: Matcher) -> Match:
    for side in (gold, answer):
        if side.form is not Form.SET and not side.is_list:
            return no("a set is neither a tuple nor an interval")
    if policy.keeps_order and gold.form is not answer.form:
        return no("a list whose order counts is no set")
    return _in_any_order(
        _elements(gold, policy, match), _elements(answer, policy, match), policy, match
    )


def _elements(side: Several, policy: Policy, match: Matcher) -> Sequence[Value]:
    """The items; of a set, each once."""
    items = [_unnamed(item) for item in side.items]
    if side.form is not Form.SET:
        return items
    items = list(dict.fromkeys(items))
    if len(items) > MAX_ITEMS and not all(_is_plain(item) for item in items):
        raise TooLarge(f"has {len(items)} elements to be compared in any order")
    distinct: list[Value] = []
    for item in items:
        if not any(match(known, item, policy).ok for known in distinct):
            distinct.append(item)
    return distinct


def in_order_of(gold: Named, answer: Value) -> Named | None:
    """The answer's values in the order in which the gold names them: `(x,y)=(1,4)`.

    None if either doesn't name them, or they name different unknowns.
    """
    names = _tuple_names(gold)
    match answer:
        case Named(_, Several(Form.TUPLE, items)):
            others = _tuple_names(answer)
        case Several(_, items) if answer.is_list:
            others, items = _names(answer), tuple(_unnamed(item) for item in items)
        case _:
            return None
    if not names or len(items) != len(others) or sorted(names) != sorted(others):
        return None
    values = dict(zip(others, items, strict=True))
    ordered = tuple(values[name] for name in names)
    return Named(gold.name, Several(Form.TUPLE, ordered)) if len(values) == len(names) else None


def _tuple_names(named: Named) -> list[str]:
    """The names that a label like `( x , y )` holds."""
    return named.name[1:-1].replace(",", " ").split() if named.name.startswith("(") else []


def _tuple_by_names(point: Several, listed: Several) -> list[Value] | None:
    """The values of `x=2, y=5` where the other is (2, 5); None if it doesn't name them all."""
    if point.form is not Form.TUPLE or listed.form not in (Form.LIST, Form.BOTH):
        return None
    names = set(_names(listed))
    if len(names) < len(listed.items):
        return None
    return [_unnamed(item) for item in listed.items]
