from __future__ import annotations

import pytest

from grpo_client.algorithms.shaping import overlong_penalty
from grpo_client.train.collect import punish_overlong, tells_apart
from tests.grpo_client.conftest import group


@pytest.mark.parametrize(
    ("tokens", "penalty"),
    [(1, 0.0), (16384, 0.0), (18432, -0.5), (20480, -1.0), (30000, -1.0)],
)
def test_the_papers_own_numbers(tokens: int, penalty: float) -> None:
    assert overlong_penalty(tokens, 20480, 4096) == penalty


def test_without_a_cache_nothing_is_punished() -> None:
    assert overlong_penalty(100, 100, 0) == 0.0


def test_length_changes_what_is_trained_on_and_not_what_is_right() -> None:
    shaped = punish_overlong(group([1, 0, None], [4, 8, 8]), 8, 4)
    assert [r.value for r in shaped.rewards] == [1.0, -1.0, None]
    assert [r.accuracy for r in shaped.rewards] == [1.0, 0.0, None]


def test_a_group_is_told_apart_by_raw_accuracy_alone() -> None:
    wrong = group([0, 0, 0], [2, 8, 8])
    assert not tells_apart(punish_overlong(wrong, 8, 4))
    assert tells_apart(group([1, 0]))
    assert not tells_apart(group([1, 1, None]))
    assert not tells_apart(group([1, None, None]))
    assert not tells_apart(group([None, None]))
