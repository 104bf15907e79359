from __future__ import annotations

from itertools import combinations

import pytest

from grpo_client.errors import DataError
from grpo_client.evaluate.metrics import pass_at_k
from grpo_client.evaluate.runner import report
from tests.grpo_client.conftest import group


@pytest.mark.parametrize("samples", range(1, 8))
def test_pass_at_k_is_the_share_of_subsets_with_a_right_sample(samples: int) -> None:
    for correct in range(samples + 1):
        right = [i < correct for i in range(samples)]
        for k in range(1, samples + 1):
            subsets = list(combinations(right, k))
            share = sum(map(any, subsets)) / len(subsets)
            assert pass_at_k(samples, correct, k) == pytest.approx(share)


@pytest.mark.parametrize(("samples", "correct", "k"), [(3, 1, 4), (3, 4, 1), (3, 1, 0)])
def test_pass_at_k_refuses_what_it_can_not_estimate(samples: int, correct: int, k: int) -> None:
    with pytest.raises(ValueError, match="pass@"):
        pass_at_k(samples, correct, k)


def test_a_report_is_a_mean_over_problems_and_counts_what_it_left_out() -> None:
    groups = [group([1, 0, 0, 0]), group([1, 1, None, 1]), group([0, None, None, None])]
    made = report(groups, [1, 2])
    assert made.pass_at[1] == pytest.approx((1 / 4 + 1) / 2)
    assert made.pass_at[2] == pytest.approx((1 / 2 + 1) / 2)
    assert (made.problems, made.dropped_problems) == (2, 1)
    assert (made.samples, made.unscored, made.unextracted, made.truncated) == (12, 4, 0, 0)
    assert made.reward == pytest.approx(4 / 8)


def test_nothing_scored_is_an_error_and_not_zero() -> None:
    with pytest.raises(DataError, match="no problem has 2 scored samples"):
        report([group([1, None])], [1, 2])
