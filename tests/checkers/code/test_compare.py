from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier_server.checkers.code.compare import difference


def same(mode: str, got: str | bytes, want: str, tol: float = 1e-9) -> bool:
    raw = got.encode() if isinstance(got, str) else got
    return difference(mode, raw, want.encode(), tol, tol) is None


@pytest.mark.parametrize(
    ("mode", "got", "want"),
    [
        ("tokens", "1  2\r\n3\n\n", "1 2 3"),
        ("tokens", "", " \n"),
        ("exact", "a\n", "a\n"),
        ("float", "0.30000000000000004", "0.3"),
        ("float", "3e-07 0.0 -0.000000 x", "0.0000003 0 0.000000 x"),
        ("float", "+5. .5 1E2", "5 0.5 100"),
        ("float", "9" * 400, "9" * 400),
        ("float", "nan", "nan"),
        ("unordered_lines", "b 1\na 2  \n\n", "a 2\nb 1"),
        ("unordered_lines", "a\na\nb", "a\nb\na"),
    ],
)
def test_these_count_as_equal(mode: str, got: str, want: str) -> None:
    assert same(mode, got, want)


@pytest.mark.parametrize(
    ("mode", "got", "want"),
    [
        ("tokens", "5.0", "5"),
        ("tokens", "1 2", "1 2 3"),
        ("tokens", "1 2 3 4", "1 2 3"),
        ("tokens", "2 1", "1 2"),
        ("tokens", "a\u00a0b", "a b"),
        ("exact", "a", "a\n"),
        ("exact", "a \n", "a\n"),
        ("exact", "a\r\n", "a\n"),
        ("float", "100000.9", "100000"),
        ("float", "nan", "1"),
        ("float", "inf", "1e999"),
        ("float", "1e998", "1e999"),
        ("float", "5", "1e999"),
        ("float", "1_0", "10"),
        ("float", "0x1p3", "8"),
        ("float", "٣", "3"),
        ("float", "X", "x"),
        ("float", "1", "x"),
        ("float", "1", "1 1"),
        ("unordered_lines", "2 1", "1 2"),
        ("unordered_lines", "a\nb", "a\nb\nb"),
        ("unordered_lines", "a\nb\nb", "a\nb"),
        ("unordered_lines", "a b", "a\nb"),
    ],
)
def test_these_count_as_different(mode: str, got: str, want: str) -> None:
    assert not same(mode, got, want)


@pytest.mark.parametrize("mode", ["tokens", "exact", "float", "unordered_lines"])
def test_output_that_is_no_utf8_is_different_and_said_so(mode: str) -> None:
    found = difference(mode, "é".encode("latin-1"), "é".encode(), 0, 0)
    assert found is not None
    assert "UTF-8" in found


def test_the_difference_says_where() -> None:
    assert difference("tokens", b"1 7 3", b"1 2 3", 0, 0) == "token 2 is '7', not '2'"


def test_the_tolerance_is_relative_to_what_is_expected() -> None:
    assert same("float", "1010", "1000", tol=0.01)
    assert not same("float", "1000", "980", tol=0.01)


@given(st.text())
def test_every_text_equals_itself(text: str) -> None:
    for mode in ("tokens", "exact", "float", "unordered_lines"):
        assert same(mode, text, text)


@given(st.lists(st.text("ab1 \t")), st.randoms(use_true_random=False))
def test_shuffled_lines_are_equal_as_a_multiset(lines: list[str], random: object) -> None:
    shuffled = list(lines)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert same("unordered_lines", "\n".join(shuffled), "\n".join(lines))


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_numbers_are_equal_exactly_within_the_tolerance(got: float, want: float) -> None:
    within = abs(got - want) <= max(1e-6, 1e-6 * abs(want))
    assert same("float", repr(got), repr(want), tol=1e-6) == within


@pytest.mark.parametrize("mode", ["tokens", "exact", "float", "unordered_lines"])
@pytest.mark.parametrize("piece", ["[", " ", "\n", "1 ", "1\n", "9", "\x0b\n", "1e"])
def test_megabytes_of_output_take_linear_time(mode: str, piece: str) -> None:
    flood = piece.encode() * (2_000_000 // len(piece))
    start = time.monotonic()
    assert difference(mode, flood, b"1\n", 1e-9, 1e-9) is not None
    difference(mode, flood, flood, 1e-9, 1e-9)
    assert time.monotonic() - start < 10
