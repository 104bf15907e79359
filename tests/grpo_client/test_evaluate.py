from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_client.errors import DataError
from grpo_client.evaluate.compare import crossover, table, write_samples
from grpo_client.evaluate.metrics import interval, maj_at_k, pass_at_k, pass_hat_k
from grpo_client.evaluate.runner import report
from grpo_client.types import Estimate, EvalReport
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
    values = {name: estimate.value for name, estimate in made.estimates.items()}
    # Of four with one right, and of three all right; answers are all "1" in these groups.
    assert values["pass@1"] == pytest.approx((1 / 4 + 1) / 2)
    assert values["pass@2"] == pytest.approx((1 / 2 + 1) / 2)
    assert values["pass^2"] == pytest.approx((0 + 1) / 2)
    assert made.pass_at_1 == values["pass@1"]
    assert not any(name.startswith("cot") for name in values)
    assert (made.problems, made.dropped_problems) == (2, 1)
    assert (made.samples, made.unscored, made.unextracted, made.truncated) == (12, 4, 0, 0)
    assert made.reward == pytest.approx(4 / 8)


def test_nothing_scored_is_an_error_and_not_zero() -> None:
    with pytest.raises(DataError, match="no problem has 2 scored samples"):
        report([group([1, None])], [1, 2])


@pytest.mark.parametrize("samples", range(1, 7))
def test_pass_hat_k_is_the_share_of_subsets_that_are_all_right(samples: int) -> None:
    for correct in range(samples + 1):
        right = [i < correct for i in range(samples)]
        for k in range(1, samples + 1):
            subsets = list(combinations(right, k))
            assert pass_hat_k(samples, correct, k) == pytest.approx(
                sum(map(all, subsets)) / len(subsets)
            )


def majority(answers: tuple[str | None, ...], right: set[str]) -> float:
    """By the rule itself, for one set of voters: leaders share the win, silence never leads."""
    votes = Counter(answer for answer in answers if answer is not None)
    leaders = [a for a, count in votes.items() if count == max(votes.values())]
    return sum(a in right for a in leaders) / len(leaders) if leaders else 0.0


@given(
    st.lists(st.sampled_from(["1", "2", "3", None]), min_size=1, max_size=8),
    st.sets(st.sampled_from(["1", "2"])),
)
def test_maj_at_k_is_the_mean_over_all_subsets(answers: list[str | None], right: set[str]) -> None:
    correct = [answer in right for answer in answers]
    for k in range(1, len(answers) + 1):
        subsets = [majority(subset, right) for subset in combinations(answers, k)]
        assert maj_at_k(answers, correct, k) == pytest.approx(sum(subsets) / len(subsets))


def test_maj_by_hand() -> None:
    # Of three voters "4" leads alone in {4,4,5} and {4,4,-}, and is one of two in {4,5,-}, twice.
    answers, right = ["4", "4", "5", None], [True, True, False, False]
    assert maj_at_k(answers, right, 3) == pytest.approx((1 + 1 + 0.5 + 0.5) / 4)
    assert maj_at_k([None, None], [False, False], 2) == 0.0


def test_reasoning_counts_only_where_every_verdict_tells_of_it() -> None:
    def told(cot: list[float | None]) -> dict[str, float]:
        made = group([1, 1, 0, 0])
        rewards = tuple(
            r if c is None else replace(r, components={"cot_correct": c})
            for r, c in zip(made.rewards, cot, strict=True)
        )
        estimates = report([replace(made, rewards=rewards)], [1, 2]).estimates
        return {name: estimate.value for name, estimate in estimates.items()}

    # Two answers are right, one of them by sound reasoning: 1/4, and 1 - C(3,2)/C(4,2).
    values = told([1.0, 0.0, 1.0, 0.0])
    assert values["cot_pass@1"] == pytest.approx(1 / 4)
    assert values["cot_pass@2"] == pytest.approx(1 / 2)
    assert "cot_pass@1" not in told([1.0, 0.0, 1.0, None])


def test_the_interval_is_that_of_a_mean_over_problems() -> None:
    generator = np.random.default_rng(0)
    values = generator.random(400).tolist()
    low, high = interval(values, (0,))
    half = 1.96 * float(np.std(values)) / len(values) ** 0.5
    assert low == pytest.approx(fmean(values) - half, abs=half / 5)
    assert high == pytest.approx(fmean(values) + half, abs=half / 5)
    assert interval(values, (0,)) == (low, high)
    assert interval([0.5], (0,)) == (0.5, 0.5)


def with_curve(points: dict[int, float]) -> EvalReport:
    made = report([group([1, 0])], [1])
    return replace(made, estimates={f"pass@{k}": Estimate(v, v, v) for k, v in points.items()})


def test_the_crossover_is_the_least_k_at_which_the_base_is_ahead() -> None:
    trained = with_curve({1: 0.8, 2: 0.85, 8: 0.9, 16: 0.91})
    assert crossover(with_curve({1: 0.3, 2: 0.5, 8: 0.95, 16: 0.99}), trained) == 8
    assert crossover(with_curve({1: 0.3, 2: 0.5, 8: 0.9, 16: 0.9}), trained) is None


def test_the_table_names_what_is_missing() -> None:
    base = with_curve({1: 0.25})
    trained = replace(base, estimates={**base.estimates, "cot_pass@1": Estimate(0.5, 0.4, 0.6)})
    lines = table({"base": base, "trained": trained}).splitlines()
    assert lines[0].split() == ["base", "trained"]
    assert lines[1].split("  ")[0] == "pass@1"
    assert "0.250 [0.250, 0.250]" in lines[1]
    assert "not available" in lines[2]
    assert "0.500 [0.400, 0.600]" in lines[2]


def test_every_number_can_be_computed_again_from_the_samples(tmp_path: Path) -> None:
    write_samples([group([1, 0, None])], tmp_path / "samples.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    assert [(row["sample"], row["accuracy"], row["answer"]) for row in rows] == [
        (0, 1, "1"),
        (1, 0, "1"),
        (2, None, None),
    ]
