"""What of a completion is judged."""

from __future__ import annotations

import pytest

from verifier_server.checkers.completion import after_think


@pytest.mark.parametrize(
    ("completion", "rest"),
    [
        ("no tags", "no tags"),
        ("<think>a</think>b", "b"),
        ("prefilled</think>b", "b"),
        ("<think>a</think>b<think>c</think>d", "d"),
        ("<think>cut off", None),
        ("Well. <think>cut off", None),
        ("<think>a</think>b<think>cut off", None),
        ('print("<think>")', 'print("<think>")'),
        ("the tag `<think>` opens", "the tag `<think>` opens"),
        ("<think>a</think>print('<think>')", "print('<think>')"),
    ],
)
def test_what_follows_the_reasoning_counts(completion: str, rest: str | None) -> None:
    assert after_think(completion) == rest
