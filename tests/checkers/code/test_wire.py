"""The runner's encoding and the judge's reading of it, without a box between them."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, defaultdict, namedtuple
from enum import Enum, IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier_server.checkers.code.harness.function_runner import NotJson, TooLarge, encode
from verifier_server.checkers.code.params import Tolerance
from verifier_server.checkers.code.wire import Frame, Stream, read_frames, says, show

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
Pair = namedtuple("Pair", "x y")


class Level(IntEnum):
    LOW = 1


class Color(Enum):
    RED = 1


class LyingList(list[Any]):
    def __iter__(self) -> Any:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        return True

    def __len__(self) -> int:
        return 10**9


class LyingText(str):
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


def returned(value: Any, expected: Any, tolerance: Tolerance | None = None) -> bool:
    return says(encode(value, 1 << 20), expected, tolerance)


def same_json(a: Any, b: Any) -> bool:
    """Equality of JSON values, written down the slow way."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_json, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_json(a[key], b[key]) for key in a)
    return bool(a == b)


@given(JSON)
def test_every_json_value_is_itself(value: Any) -> None:
    assert returned(value, value)


@given(JSON, JSON)
def test_two_values_agree_exactly_when_they_are_equal(got: Any, want: Any) -> None:
    assert returned(got, want) == same_json(got, want)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ((1, (2, "a")), [1, [2, "a"]]),
        (Pair(1, 2), [1, 2]),
        (2, 2.0),
        (2.0, 2),
        (-0.0, 0),
        (10**400, 10**400),
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(b=1, a=2), {"a": 2, "b": 1}),
        (defaultdict(list, x=[1]), {"x": [1]}),
        ({1: "a", 2: "b"}, {"1": "a", "2": "b"}),
        (Level.LOW, 1),
        (LyingList([1, 2]), [1, 2]),
        ("\ud800", "\ud800"),
        ("a\nb\\n", "a\nb\\n"),
    ],
)
def test_these_count_as_the_json_value(got: Any, want: Any) -> None:
    assert returned(got, want)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (True, 1),
        (1, True),
        (0, None),
        ("1", 1),
        ([], {}),
        ([], None),
        ([1, 2], [2, 1]),
        ([[1], 2], [1, 2]),
        (2**127, 2**127 - 1),
        (float(2**127), 2**127 - 1),
        (float("nan"), 0),
        (float("inf"), 10**400),
        (LyingList([0]), [1]),
        (LyingText("x"), "y"),
        ({"a": 1}, {"b": 1}),
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ({1: "a", "1": "a"}, {"1": "a", "2": "a"}),
        (0.1 + 0.2, 0.3),
    ],
)
def test_these_do_not_count(got: Any, want: Any) -> None:
    assert not returned(got, want)


@pytest.mark.parametrize(
    "value", [{1, 2}, b"a", 1j, range(3), iter([1]), object, Color.RED, {(1, 2): 3}, [{b"k": 1}]]
)
def test_other_objects_are_no_json_values(value: Any) -> None:
    with pytest.raises(NotJson):
        encode(value, 1 << 20)


def test_a_value_without_end_is_too_large() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(TooLarge):
        encode(loop, 1 << 16)


def test_a_deep_value_is_no_matter() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert not returned(deep, [[]])


def test_a_tolerance_counts_where_it_is_given() -> None:
    assert returned([0.1 + 0.2], [0.3], Tolerance())
    assert returned(10**400, 10**400, Tolerance())
    assert not returned([0.4], [0.3], Tolerance())
    assert not returned(float("nan"), 0.3, Tolerance())
    assert not returned(10**400, 0.3, Tolerance())
    assert not returned(True, 1, Tolerance())


@given(st.binary(), JSON)
def test_no_bytes_break_the_judge(forged: bytes, expected: Any) -> None:
    says(forged, expected, Tolerance())
    show(forged)
    read_frames(forged, 3)


FORGED = [
    b"[999999999\n",
    b"{9\n",
    b"i-" + b"f" * 100_000 + b"\n",
    b"[1\n" * 300_000,
    b"d1_0\n",
    b"i 5\n",
]


@pytest.mark.parametrize("forged", FORGED)
def test_forged_encodings_are_refused_at_once(forged: bytes) -> None:
    start = time.monotonic()
    assert not says(forged, [10], None)
    assert len(show(forged)) < 1000
    assert time.monotonic() - start < 1


def test_frames_end_at_the_first_that_is_none() -> None:
    good = b"value 2\nt\nnot_json 3\nset"
    frames = [Frame("value", b"t\n"), Frame("not_json", b"set")]
    assert read_frames(good + b"\x00\xff}", 5) == Stream(frames, timed_out=False, forged=True)
    assert read_frames(good + b"value 99999\nt\n", 5) == Stream(frames, False, forged=False)
    assert read_frames(good + b"Timeout (0:00:02)!\n", 5) == Stream(frames, True, forged=False)
    assert len(read_frames(good, 1).frames) == 1


@pytest.mark.parametrize(
    ("stream", "forged"),
    [
        (b"", False),
        (b"ready 0\n", False),
        (b"ready 0\nval", False),
        (b"ready 0\nvalue 12", False),
        (b"ready 0\nvalue 2\nt\nend 0\n", False),
        (b"passed!\n", True),
        (b"ready 0\nbetter 2\nt\n", True),
        (b"ready 0\nvalue 2\nt\nend 0\nvalue 2\nt\n", True),
        (b"ready 0\nvalue 2\nt\nend 0\n\n", True),
    ],
)
def test_what_the_runner_never_writes_is_told(stream: bytes, forged: bool) -> None:
    assert read_frames(stream, 3).forged is forged


def test_values_are_shown_like_json() -> None:
    value = {"b": [1, None, True], "a": ("x", -2.5, {})}
    assert show(encode(value, 1000)) == '{"a": ["x", -2.5, {}], "b": [1, null, true]}'
    assert len(show(encode(list(range(10_000)), 1 << 20))) < 300
