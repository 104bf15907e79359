from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_client.algorithms.advantage import group_advantages

THREE_OF_EIGHT = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
REWARDS = st.lists(
    st.none() | st.integers(0, 1000).map(lambda n: n / 1000), min_size=1, max_size=16
)


def test_three_right_of_eight_by_hand() -> None:
    # mean 3/8, population std sqrt(3/8 · 5/8) = sqrt(15)/8
    right, wrong = (5 / 8) / (math.sqrt(15) / 8), (-3 / 8) / (math.sqrt(15) / 8)
    assert group_advantages(THREE_OF_EIGHT, "population") == pytest.approx(
        [right] * 3 + [wrong] * 5
    )
    assert round(right, 3) == 1.291
    assert round(wrong, 3) == -0.775


def test_sample_std_divides_by_one_less() -> None:
    # G = 4, one right: mean 1/4, sample std 1/2
    assert group_advantages([1, 0, 0, 0], "sample") == pytest.approx([1.5, -0.5, -0.5, -0.5])


def test_mean_only_keeps_the_reward_scale() -> None:
    assert group_advantages([1, 0, 0, 0], "mean") == pytest.approx([0.75, -0.25, -0.25, -0.25])


@pytest.mark.parametrize("scale", ["population", "sample", "mean"])
def test_equal_rewards_give_exactly_zero(scale: str) -> None:
    # 0.1 is no binary fraction: its mean over three is off by a rounding, the advantage not.
    assert group_advantages([0.1, 0.1, 0.1], scale) == [0.0, 0.0, 0.0]  # type: ignore[arg-type]


def test_nearly_equal_rewards_do_not_explode() -> None:
    assert group_advantages([0.5, 0.5 + 1e-12], "population") == pytest.approx([-1, 1], abs=1e-3)
    assert group_advantages([0.0, 1e-300], "population") == pytest.approx([-1, 1])


def test_an_unscored_member_is_no_part_of_the_baseline() -> None:
    with_hole = group_advantages([1.0, None, 0.0, 0.0], "population")
    without = group_advantages([1.0, 0.0, 0.0], "population")
    assert with_hole[1] == 0.0
    assert [with_hole[0], *with_hole[2:]] == without


def test_a_lone_scored_member_teaches_nothing() -> None:
    assert group_advantages([1.0, None, None], "mean") == [0.0, 0.0, 0.0]


@given(REWARDS)
def test_scored_advantages_sum_to_zero_with_unit_spread(rewards: list[float | None]) -> None:
    values = group_advantages(rewards, "population")
    scored = [a for a, r in zip(values, rewards, strict=True) if r is not None]
    assert sum(scored) == pytest.approx(0, abs=1e-6)
    if any(scored):
        assert sum(a * a for a in scored) / len(scored) == pytest.approx(1)
