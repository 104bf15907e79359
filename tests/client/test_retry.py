"""Pauses between tries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier_server.client.retry import Backoff, retry_after_s


@given(
    retry=st.integers(0, 10_000),
    asked_s=st.none() | st.floats(0, 1e12),
    longest_s=st.floats(0.5, 100),
)
def test_a_pause_is_at_least_what_was_asked_and_never_beyond_the_cap(
    retry: int, asked_s: float | None, longest_s: float
) -> None:
    pause = Backoff(first_s=0.5, longest_s=longest_s).pause_s(retry, asked_s)
    floor = min(asked_s or 0, longest_s)
    assert floor <= pause <= floor + min(longest_s, 0.5 * 2 ** min(retry, 50))


@pytest.mark.parametrize("asked_s", [None, 7.0])
def test_pauses_are_spread_also_after_what_was_asked(asked_s: float | None) -> None:
    assert len({Backoff().pause_s(3, asked_s) for _ in range(20)}) > 10


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        (None, None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_retry_after_is_read_as_seconds(header: str | None, seconds: float | None) -> None:
    assert retry_after_s(header) == seconds
