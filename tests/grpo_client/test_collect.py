"""How batches come about: scored while sampled, filtered, refilled, carried over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from grpo_client.config import load_config
from grpo_client.data import draw
from grpo_client.errors import RewardError
from grpo_client.reward import VerifierReward
from grpo_client.rollout.base import OnGroup, Sampling
from grpo_client.train.collect import Collector
from grpo_client.types import Prompt, Rollout, RolloutGroup
from tests.grpo_client.conftest import TINY
from tests.grpo_client.fakes import FakeVerifier, Judge
from tests.grpo_client.tiny import PROMPTS, make_trainer
from verifier_server.client import Item, Verdict

WAIT_S = 60  # far more than any machine needs; reached only if the code is wrong


class ScriptedEngine:
    """Completions whose text is the prompt's ordinal and the member's number."""

    def __init__(self, before_group: Callable[[int], None] = lambda place: None) -> None:
        self._before_group = before_group
        self.asked: list[list[int]] = []

    def generate(
        self,
        prompts: Sequence[Prompt],
        group_size: int,
        sampling: Sampling,
        key: tuple[int, ...],
        on_group: OnGroup | None = None,
    ) -> list[RolloutGroup]:
        self.asked.append([prompt.ordinal for prompt in prompts])
        groups = []
        for place, prompt in enumerate(prompts):
            self._before_group(place)
            members = tuple(
                Rollout((4,), (-1.0,), "stop", f"{prompt.ordinal} {g}") for g in range(group_size)
            )
            groups.append(RolloutGroup(prompt, (1,), members))
            if on_group:
                on_group(place, groups[-1])
        return groups


def collector(judge: Judge, *overrides: str, engine: ScriptedEngine | None = None) -> Collector:
    settings = ["rollout.prompts_per_step=6", "rollout.group_size=4", *overrides]
    config = load_config(None, [*TINY, *settings])
    reward = VerifierReward(FakeVerifier(judge), config.reward)
    return Collector(config, engine or ScriptedEngine(), reward, PROMPTS)


def member(item: Item) -> tuple[int, int]:
    ordinal, g = item.completion_text.split()
    return int(ordinal), int(g)


def every_third_has_a_signal(item: Item) -> float:
    ordinal, g = member(item)
    return float(g == 0 and ordinal % 3 == 0)


def ordinals(groups: Sequence[RolloutGroup]) -> list[int]:
    return [group.prompt.ordinal for group in groups]


def test_dynamic_sampling_fills_the_batch_and_loses_no_prompt() -> None:
    made = collector(every_third_has_a_signal, "algorithm.dynamic_sampling=true")
    trained: list[int] = []
    for step in range(5):
        batch = made.collect(step, step)
        assert len(batch.groups) == 6
        assert batch.rounds > 1
        trained += ordinals(batch.groups)
    drawn = [p.ordinal for p in draw(PROMPTS, 0, 0, made.cursor)]
    expected = [ordinal for ordinal in drawn if ordinal % 3 == 0]
    # All that had a signal was trained on once, in the data's order, or waits its turn.
    assert trained + ordinals(made.carry) == expected


def test_what_is_carried_comes_first_and_tells_its_age() -> None:
    made = collector(every_third_has_a_signal, "algorithm.dynamic_sampling=true")
    step = 0
    while not made.carry:
        made.collect(step, step)
        step += 1
        assert step < 50
    waiting = ordinals(made.carry)
    batch = made.collect(step, step)
    assert batch.carried == len(waiting)
    assert ordinals(batch.groups)[: len(waiting)] == waiting
    assert [group.step for group in batch.groups] == [step - 1] * len(waiting) + [step] * (
        6 - len(waiting)
    )


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_where_nothing_can_be_found_sampling_ends_at_its_limit(score: float) -> None:
    settings = ["algorithm.dynamic_sampling=true", "algorithm.max_rounds=3"]
    batch = collector(lambda item: score, *settings).collect(0, 0)
    assert batch.groups == []
    assert (batch.rounds, len(batch.sampled)) == (3, 18)


def test_unscored_members_make_no_group_worth_keeping() -> None:
    """One scored of four can't be compared, and null beside 0 is no difference."""

    def judge(item: Item) -> float | None:
        return 0.0 if member(item)[1] == 0 else None

    settings = ["algorithm.dynamic_sampling=true", "algorithm.max_rounds=2"]
    made = collector(judge, *settings, "reward.max_unscored_share=1")
    assert made.collect(0, 0).groups == []


def test_without_dynamic_sampling_all_is_trained_on_in_one_round() -> None:
    batch = collector(every_third_has_a_signal).collect(0, 0)
    assert batch.rounds == 1
    assert ordinals(batch.groups) == [p.ordinal for p in draw(PROMPTS, 0, 0, 6)]


def test_too_many_unscored_stop_the_step_and_leave_its_prompts_undone() -> None:
    made = collector(lambda item: None, "algorithm.dynamic_sampling=true")
    with pytest.raises(RewardError, match="24 of 24 completions came back without a score"):
        made.collect(0, 0)
    assert (made.cursor, made.carry) == (0, [])


def test_its_state_survives_json_exactly() -> None:
    made = collector(every_third_has_a_signal, "algorithm.dynamic_sampling=true")
    made.collect(0, 0)
    third = replace(made.collect(1, 1).groups[0], step=7)
    awkward = Rollout((4, 5), (-0.1, -1 / 3), "length", "\ud800<é>")
    made.carry = [replace(third, rollouts=(awkward,) * 4)]
    other = collector(every_third_has_a_signal, "algorithm.dynamic_sampling=true")
    other.load_state(made.state())
    assert other.carry == made.carry
    assert other.cursor == made.cursor


def test_a_group_is_scored_while_later_ones_are_still_sampled() -> None:
    seen = threading.Event()

    def before_group(place: int) -> None:
        if place == 1:  # the first group has been handed over, the second not yet made
            assert seen.wait(WAIT_S)

    def judge(item: Item) -> float:
        seen.set()
        return 1.0

    batch = collector(judge, engine=ScriptedEngine(before_group)).collect(0, 0)
    assert len(batch.groups) == 6


class LateVerifier(FakeVerifier):
    """Answers for the batch's first prompt only after all others have been answered."""

    def __init__(self, judge: Judge, first: int, others: int) -> None:
        super().__init__(judge)
        self._first, self._left = str(first), others
        self._done = threading.Event()

    def score(self, items: object) -> list[Verdict]:
        batch = list(items)  # type: ignore[call-overload]
        if batch[0].completion_text.split()[0] == self._first:
            assert self._done.wait(WAIT_S)
            return super().score(batch)
        verdicts = super().score(batch)
        self._left -= 1
        if self._left == 0:
            self._done.set()
        return verdicts


def test_the_order_in_which_verdicts_arrive_changes_nothing() -> None:
    made = collector(every_third_has_a_signal)
    expected = made.collect(0, 0).groups
    late = collector(every_third_has_a_signal)
    first = draw(PROMPTS, 0, 0, 1)[0].ordinal
    verifier = LateVerifier(every_third_has_a_signal, first, 5)
    late.reward = VerifierReward(verifier, load_config(None, TINY).reward)
    assert late.collect(0, 0).groups == expected


def test_one_step_ahead_the_next_batch_is_sampled_before_the_first_verdict() -> None:
    trainer = make_trainer("rollout.ahead=true", "train.steps=3", "train.minibatches=2")
    sampled: list[tuple[int, ...]] = []
    second = threading.Event()
    generate = trainer.collector._engine.generate

    def watched(*args: object, **kwargs: object) -> list[RolloutGroup]:
        groups = generate(*args, **kwargs)  # type: ignore[arg-type]
        sampled.append(args[3])  # type: ignore[arg-type]
        if len(sampled) == 2:
            second.set()
        return groups

    def judge(item: Item) -> float:
        assert second.wait(WAIT_S)
        return float(item.completion_text.startswith("7"))

    trainer.collector._engine.generate = watched  # type: ignore[method-assign]
    trainer.collector.reward = VerifierReward(FakeVerifier(judge), trainer.config.reward)
    rows = [trainer.run_step().row() for _ in range(3)]
    assert [row["staleness"] for row in rows] == [0, 1, 1]
    assert len(sampled) == 3  # nothing is sampled that no step will train on
    assert trainer.collector.cursor == 24
