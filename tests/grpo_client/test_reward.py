from __future__ import annotations

import pytest

from grpo_client.config import RewardConfig
from grpo_client.errors import RewardError
from grpo_client.reward import VerifierReward, shuffle_rewards
from grpo_client.types import RolloutGroup
from tests.grpo_client.conftest import group
from tests.grpo_client.fakes import FakeVerifier, scripted, verdict
from verifier_server.client import Item, Verdict


def unscored_groups(count: int = 2, size: int = 4) -> list[RolloutGroup]:
    made = [group([0.0] * size) for _ in range(count)]
    return [RolloutGroup(g.prompt, g.prompt_ids, g.rollouts) for g in made]


def values(groups: list[RolloutGroup]) -> list[float | None]:
    return [reward.value for g in groups for reward in g.rewards]


def test_each_row_is_scored_by_its_own_checker_and_params() -> None:
    fake = FakeVerifier(scripted([1.0]))
    VerifierReward(fake, RewardConfig(deadline_s=7)).score(unscored_groups(1, 2))
    assert (
        fake.items
        == [
            Item(
                checker="math",
                completion="",
                params={"answer": "46"},
                prompt="12+34=",
                deadline_s=7,
            )
        ]
        * 2
    )


def test_verdicts_go_to_their_own_completions() -> None:
    scores = [1.0, 0.0, 0.5, 0.0, 0.25, 1.0, 0.0, 0.0]
    scored = VerifierReward(FakeVerifier(scripted(scores)), RewardConfig()).score(unscored_groups())
    assert values(scored) == scores


def test_a_null_score_stays_none_and_never_becomes_zero() -> None:
    fake = FakeVerifier(scripted([1.0, None, 0.0, 0.0]))
    scored = VerifierReward(fake, RewardConfig(max_unscored_share=0.25)).score(unscored_groups())
    assert values(scored) == [1.0, None, 0.0, 0.0] * 2
    assert scored[0].rewards[1].accuracy is None


def test_too_many_unscored_stop_the_run_and_say_why() -> None:
    fake = FakeVerifier(scripted([1.0, None, 0.0, 0.0]))
    with pytest.raises(RewardError, match=r"2 of 8 .*2 checker_error.*max_unscored_share \(0.2\)"):
        VerifierReward(fake, RewardConfig(max_unscored_share=0.2)).score(unscored_groups())


def test_a_missing_verdict_is_an_error_and_no_guess() -> None:
    class Short(FakeVerifier):
        def score(self, items: object) -> list[Verdict]:
            return super().score(items)[:-1]  # type: ignore[arg-type]

    with pytest.raises(RewardError, match="8 items sent, 7 verdicts"):
        VerifierReward(Short(scripted([1.0])), RewardConfig()).score(unscored_groups())


def test_accuracy_is_the_named_component_and_else_the_score() -> None:
    class Composite(FakeVerifier):
        def score(self, items: object) -> list[Verdict]:
            parts = {"accuracy": 0.0, "format": 1.0}
            return [verdict("composite", 0.1, components=parts), verdict("math", 1.0)]

    fake = Composite(scripted([]))
    rewards = VerifierReward(fake, RewardConfig()).score(unscored_groups(1, 2))[0].rewards
    assert [(r.value, r.accuracy) for r in rewards] == [(0.1, 0.0), (1.0, 1.0)]


def test_shuffling_keeps_the_values_and_the_holes_but_not_the_places() -> None:
    groups = [group([float(i == j) for i in range(8)]) for j in range(8)]
    groups += [group([None, 1.0, 0.5])]
    mixed = shuffle_rewards(groups, (0,))
    assert sorted(v for v in values(mixed) if v is not None) == sorted(
        v for v in values(groups) if v is not None
    )
    assert mixed[8].rewards[0].value is None
    assert values(mixed) != values(groups)
    assert [r.accuracy for g in mixed for r in g.rewards] == [
        r.accuracy for g in groups for r in g.rewards
    ]
