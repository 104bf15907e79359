"""Whole training steps, and runs of them."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
import torch

from grpo_client.data import draw
from grpo_client.errors import NotFinite
from grpo_client.reward import VerifierReward
from grpo_client.train.checkpoint import newest_checkpoint, save_checkpoint
from tests.grpo_client.fakes import FakeVerifier
from tests.grpo_client.tiny import (
    PROMPTS,
    accuracies,
    make_trainer,
    same,
    says_seven,
    weights,
)
from verifier_server.client import Item


@pytest.mark.parametrize(
    "overrides",
    [
        ["algorithm.preset=grpo"],
        ["algorithm.preset=dr_grpo"],
        ["algorithm.preset=dapo", "algorithm.max_rounds=2"],
        ["algorithm.preset=gspo"],
        ["algorithm.preset=ppo", "critic.learning_rate=5e-3"],
        ["train.minibatches=2"],
        ["rollout.ahead=true", "algorithm.mismatch=truncate"],
        ["algorithm.kl_coef=0.01", "algorithm.kl_weighted=true", "algorithm.reference_every=5"],
        ["model.autocast=bfloat16", "model.checkpointing=true"],
    ],
    ids=lambda overrides: overrides[0].partition(".")[2],
)
def test_it_learns_what_is_rewarded(overrides: list[str]) -> None:
    seen = accuracies(make_trainer(*overrides), 30)
    assert fmean(seen[:3]) < 0.25
    assert fmean(seen[-5:]) > 0.9


def test_from_shuffled_rewards_nothing_is_learnt() -> None:
    assert fmean(accuracies(make_trainer("reward.shuffle=true"), 30)[-5:]) < 0.3


def test_a_step_moves_every_parameter() -> None:
    trainer = make_trainer()
    before = weights(trainer)
    trainer.run_step()
    moved = [not torch.equal(a, b) for a, b in zip(before, weights(trainer), strict=True)]
    assert all(moved)


@pytest.mark.parametrize("score", [None, 0.0, 1.0], ids=["unscored", "all wrong", "all right"])
def test_a_batch_without_a_comparison_moves_nothing(score: float | None) -> None:
    trainer = make_trainer("train.weight_decay=0.1", judge=lambda item: score)
    before = weights(trainer)
    row = trainer.run_step().row()
    assert same(before, weights(trainer))
    assert row["zero_signal"] == 1
    assert row["unscored"] == (64 if score is None else 0)


def test_on_policy_nothing_is_clipped_and_with_minibatches_the_policy_moves() -> None:
    single = make_trainer().run_step().row()
    assert (single["clip_share"], single["kl"]) == (0, 0)
    assert make_trainer("train.minibatches=4").run_step().row()["kl"] != 0


def test_the_reference_moves_along_every_so_many_steps() -> None:
    trainer = make_trainer("algorithm.kl_coef=0.01", "algorithm.reference_every=2")
    rows = [trainer.run_step().row() for _ in range(5)]
    # With one update a step it is met before that update: just renewed, it is the policy.
    assert [row["reference_kl"] == 0 for row in rows] == [True, False, True, False, True]


@pytest.mark.parametrize("updates", [1, 2])
def test_stale_samples_are_measured_from_the_policy_that_sampled_them(updates: int) -> None:
    """The present one would call every ratio 1 and let the gradient run on without a clip."""
    settings = ["rollout.ahead=true", "train.steps=9", f"train.minibatches={updates}"]
    trainer = make_trainer(*settings, "algorithm.clip_low=1e-4", "algorithm.clip_high=1e-4")
    rows = [trainer.run_step().row() for _ in range(5)]
    assert rows[0]["staleness"] == 0
    assert rows[0]["mismatch"] < 1e-5
    if updates == 1:
        assert (rows[0]["kl"], rows[0]["clip_share"]) == (0, 0)
    for row in rows[1:]:
        assert row["mismatch"] == 0  # "old" is the sampler's own report
        assert row["kl"] != 0
    assert sum(row["clip_share"] for row in rows[1:]) > 0


def test_the_micro_batch_budget_does_not_change_the_step() -> None:
    whole, cut = make_trainer(), make_trainer("train.micro_batch_tokens=40")
    rows = [trainer.run_step().row() for trainer in (whole, cut)]
    assert rows[0]["grad_norm"] == pytest.approx(rows[1]["grad_norm"], rel=1e-5)


def test_a_gradient_that_is_not_finite_stops_the_run_before_the_update() -> None:
    trainer = make_trainer()
    trainer.run_step()
    before = weights(trainer)
    trainer.learner.optimizer.named[-1][1].register_hook(lambda gradient: gradient * float("nan"))
    with pytest.raises(NotFinite, match="optimiser step 2"):
        trainer.run_step()
    assert same(before, weights(trainer))


def test_steps_go_through_the_data_in_its_order() -> None:
    trainer = make_trainer()
    asked: list[str] = []

    def judge(item: Item) -> float:
        asked.append(str(item.prompt))
        return says_seven(item)

    trainer.collector.reward = VerifierReward(FakeVerifier(judge), trainer.config.reward)
    accuracies(trainer, 3)
    drawn = [str(p.text) for p in draw(PROMPTS, 0, 0, 24)]
    for step in range(3):  # within a step, groups are asked about as they end
        seen = asked[64 * step : 64 * (step + 1) : 8]
        assert sorted(seen) == sorted(drawn[8 * step : 8 * (step + 1)])


def test_a_run_is_a_function_of_its_configuration() -> None:
    one, other = make_trainer(), make_trainer()
    torch.manual_seed(99)  # a foreign draw in between must not matter
    assert accuracies(one, 3) == accuracies(other, 3)
    assert same(weights(one), weights(other))
    assert accuracies(make_trainer("seed=1"), 3) != accuracies(make_trainer(), 3)


def test_the_newest_checkpoint_is_the_last_whole_one(tmp_path: Path) -> None:
    assert newest_checkpoint(tmp_path) is None
    trainer = make_trainer()
    for step in (9, 10):
        trainer.step = step
        save_checkpoint(trainer, tmp_path)
    (tmp_path / ".step-000011.partial").mkdir()
    newest = newest_checkpoint(tmp_path)
    assert newest == tmp_path / "step-000010"
    assert {path.name for path in newest.iterdir()} >= {
        "model.safetensors",
        "tokenizer.json",
        "optimizer.safetensors",
        "trainer.json",
    }
