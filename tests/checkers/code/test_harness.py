"""The parts of the asserts' harness that need no box."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, deque
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier_server.checkers.code.harness.codec import Malformed, pack, restore, unpack
from verifier_server.checkers.code.harness.plan import Plan, Unusable
from verifier_server.checkers.code.harness.siblings import siblings

KEYS = (
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(allow_nan=False)
)

VALUES = st.recursive(
    KEYS
    | st.complex_numbers(allow_nan=False)
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.dates()
    | st.datetimes().map(lambda d: d.replace(fold=0)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.sets(KEYS, max_size=3)
        | st.frozensets(KEYS, max_size=3)
    ),
    max_leaves=12,
)


def across(value: Any) -> Any:
    """The value as the other process has it."""

    def refuse(*_: Any) -> Any:
        raise AssertionError("this is no plain data")

    return unpack(json.loads(json.dumps(pack(value, refuse))), refuse)


@given(VALUES)
def test_plain_data_crosses_unchanged(value: Any) -> None:
    there = across(value)
    assert type(there) is type(value)
    assert there == value
    assert len(repr(there)) == len(repr(value))  # -0.0 and 0, True and 1 are equal


def test_no_number_crosses_too() -> None:
    assert repr(across([float("nan"), float("-inf")])) == "[nan, -inf]"


@pytest.mark.parametrize(
    "value",
    [
        10**400,
        -(10**400),
        bytearray(b"\x00a"),
        range(10**30, 0, -3),
        Ellipsis,
        NotImplemented,
        int,
        ValueError,
        deque([1, (2,)]),
        OrderedDict(b=1, a=2),
        Counter("aab"),
        Decimal("1.10"),
        Fraction(-1, 3),
        date(2024, 2, 29),
        datetime(2024, 2, 29, 1, 2, 3),  # noqa: DTZ001 - candidates use naive ones
    ],
)
def test_types_beyond_json_keep_their_type(value: Any) -> None:
    there = across(value)
    assert type(there) is type(value)
    assert there == value


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.tuples(
                st.sampled_from(["l", "t", "s", "d", "i", "x", "bt", "r", "cn", "c", "b", "zz"]),
                inner,
            ).map(list)
        ),
    )
)
def test_forged_forms_are_refused_or_are_data(tree: Any) -> None:
    def refuse(tag: str, rest: list[Any]) -> Any:
        raise Malformed(tag)

    try:
        unpack(tree, refuse)
    except Malformed:
        return


@pytest.mark.parametrize(
    "tree",
    [
        ["bt", "eval"],
        ["bt", "open"],
        ["bt", "__import__"],
        ["x", "os", "system", "true"],
        ["x", "decimal", "getcontext", ""],
        ["x", "decimal", "Decimal", ["l", []]],
        ["d", [[["l", []], 1]]],
        ["i", "zz"],
        ["i", 5],
        ["r", "1", "2", "0"],
        [],
        {},
        [["l"], 1],
    ],
)
def test_no_form_reaches_beyond_data(tree: Any) -> None:
    def refuse(tag: str, rest: list[Any]) -> Any:
        raise Malformed(tag)

    with pytest.raises(Malformed):
        unpack(tree, refuse)


@pytest.mark.parametrize(
    ("base", "value"),
    [
        (int, 5), (float, 2.5), (complex, 1j), (str, "ab"), (bytes, b"ab"), (tuple, (1, 2)),
        (list, [1, 2]), (dict, {1: 2}), (set, {1}), (frozenset, frozenset([1])),
    ],
)  # fmt: skip
def test_subclasses_are_restored_without_their_methods(base: Any, value: Any) -> None:
    def lie(*_: Any) -> Any:
        raise AssertionError

    names = ("__iter__", "__len__", "__getitem__", "__eq__", "__int__", "__float__", "__str__")
    liar = type("Liar", (base,), dict.fromkeys(names, lie) | {"__hash__": None})
    restored = restore(base, liar(value))
    assert type(restored) is base
    assert restored == value


@given(VALUES)
def test_siblings_are_of_the_same_kind_and_different(value: Any) -> None:
    for sibling in siblings(value):
        assert type(sibling) is type(value)
        assert sibling != value


@settings(max_examples=30, deadline=None)
@given(st.integers() | st.floats(-1e300, 1e300).filter(lambda x: not 0 < abs(x) < 1e-290))
def test_a_number_may_stand_anywhere_among_its_siblings(value: float) -> None:
    found = [siblings(value) for _ in range(400)]
    assert {sum(sibling < value for sibling in family) for family in found} == {*range(16)}


@pytest.mark.parametrize(
    "value",
    [
        100,
        2.0,
        2.5,
        1e300,
        "hello",
        "A1",
        " ",
        b"ab",
        [1, 2],
        ("a",),
        {1, 2},
        {"a": 1},
        [None],
        [],
        "",
    ],
)
def test_a_value_has_so_many_siblings_that_guessing_does_not_pay(value: Any) -> None:
    assert len({str(sibling) for sibling in siblings(value)}) >= 9


@pytest.mark.parametrize(
    ("text", "function", "wanted", "modules", "cases"),
    [
        ("assert f(1) == 2\nassert g(1)", None, {"f", "g"}, set(), 2),
        ("import math\nx = f(1)\nassert math.floor(x) == 1", None, {"f"}, set(), 1),
        ("assert math.floor(f(1)) == 1", None, {"f"}, {"math"}, 1),
        ("assert sorted(f(1)) == sorted([1])", None, {"f"}, set(), 1),
        ("assert sum(1, 2) == 3", None, {"sum"}, set(), 1),
        ("def check(c):\n    assert c(1)", "f", {"f"}, set(), 1),
        ("def check(c):\n    assert c(1)\ncheck(f)", "f", {"f"}, set(), 1),
        ("def check(c):\n    assert len(c(1)) == 1", "len", {"len"}, set(), 1),
        ("def check(f):\n    assert abs(f(1)) < 1", "f", {"f"}, set(), 1),
        ("assert abs(f(1, lambda f: f)) < 1", None, {"f"}, set(), 1),
        ("def t():\n    x = len(f(1))\n    assert [y for y in x]\nt()", None, {"f"}, set(), 1),
        ("assert f() is 1", None, {"f"}, set(), 1),
        ("for i in range(3):\n    assert f(i) == i", None, {"f"}, set(), 1),
        ("try:\n    f(1)\nexcept E: pass\nelse: raise ValueError", None, {"f", "E"}, set(), 1),
        ("def t():\n    assert f(1)\nfor i in range(2):\n    t()", None, {"f"}, set(), 1),
    ],
)  # fmt: skip
def test_a_plan_knows_its_cases_and_what_it_wants(
    text: str, function: str | None, wanted: set[str], modules: set[str], cases: int
) -> None:
    plan = Plan(text, function)
    assert set(plan.wanted) == wanted
    assert set(plan.modules) == modules
    assert len(plan.cases) == cases


@pytest.mark.parametrize(
    "text",
    [
        "assert f()\nreturn",
        "for x in f(): assert x\nbreak",
        "",
        "x = 1",
        "def t():\n    assert f()",
        "assert (",
        "\x00",
        "class A(B): pass\nassert A()",
    ],
)
def test_a_text_that_judges_nothing_is_unusable(text: str) -> None:
    with pytest.raises(Unusable):
        Plan(text, None)
