"""Each preset, from scored groups to the loss and its gradient, against its paper's formula."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from grpo_client.algorithms.kl import kl_penalty
from grpo_client.algorithms.loss import policy_loss
from grpo_client.config import Config, load_config
from grpo_client.train.batching import Sample, lay_out, length_sorted, trainable, weighted
from grpo_client.train.batching import with_critic as with_values
from grpo_client.types import Prompt, Reward, Rollout, RolloutGroup
from tests.grpo_client import oracle
from tests.grpo_client.oracle import Completion

MAX_TOKENS = 7
BETA = 0.04


def preset(name: str, *overrides: str) -> Config:
    base = ["data.train=x", "model.path=x", f"rollout.max_new_tokens={MAX_TOKENS}"]
    return load_config(None, [*base, f"algorithm.preset={name}", *overrides])


def made(seed: int, groups: int = 3, size: int = 5) -> list[list[Completion]]:
    """Random groups; some members unscored, some groups equal, lengths all over."""
    rng = random.Random(seed)

    def completion(equal: bool) -> Completion:
        length = rng.randint(1, MAX_TOKENS)
        reward = None if rng.random() < 0.15 else 1.0 if equal else rng.choice([0.0, 0.1, 0.9, 1.0])
        old = [rng.uniform(-3, -0.1) for _ in range(length)]
        new = [min(0.0, o + rng.gauss(0, 0.25)) for o in old]
        return Completion(reward, new, old, [o + rng.gauss(0, 0.3) for o in old])

    return [
        [Completion(0.5, [-1.0], [-1.0], [-1.0]), *(completion(g == 1) for _ in range(size - 1))]
        for g in range(groups)
    ]


class Production:
    """The same groups through the code that trains; log-probs are found by token id."""

    def __init__(self, groups: list[list[Completion]], config: Config) -> None:
        self.config = config
        self.flat = [c for group in groups for c in group]
        ids = {id(c): i for i, c in enumerate(self.flat)}
        self.groups = [
            RolloutGroup(
                Prompt(0, "", "math", {}),
                (1, 2),
                tuple(Rollout((ids[id(c)],) * len(c.new), tuple(c.old), "stop", "") for c in group),
                tuple(Reward(c.reward, c.reward, "") for c in group),
            )
            for group in groups
        ]
        self.new = [torch.tensor(c.new, dtype=torch.float64, requires_grad=True) for c in self.flat]

    def loss(
        self,
        budget: int,
        *,
        shuffle: int | None = None,
        values: list[list[list[float]]] | None = None,
    ) -> Tensor:
        algorithm = self.config.algorithm
        members = [s for group in self.groups for s in trainable(group, algorithm, 0)]
        if values is not None:
            rows = [
                row
                for group, group_values in zip(self.groups, values, strict=True)
                for reward, row in zip(group.rewards, group_values, strict=True)
                if reward.value is not None
            ]
            members = with_values(members, rows, self.config.critic)
        samples = weighted(members, algorithm, MAX_TOKENS)
        if shuffle is not None:
            random.Random(shuffle).shuffle(samples)
        parts = [self._part(batch) for batch in length_sorted(samples, budget)]
        return torch.stack(parts).sum()

    def gradient(self, loss: Tensor) -> list[list[float]]:
        grads = torch.autograd.grad(loss, self.new, allow_unused=True)
        rows = [
            torch.zeros_like(n) if g is None else g for n, g in zip(self.new, grads, strict=True)
        ]
        return [row.tolist() for row in rows]

    def _part(self, samples: list[Sample]) -> Tensor:
        algorithm, batch = self.config.algorithm, lay_out(samples, 0)
        mask = batch.sequences.mask_NT
        members = [sample.token_ids[0] for sample in samples]
        new = self._padded([self.new[m] for m in members], mask.shape[1])
        old = self._padded([self._constant(self.flat[m].old) for m in members], mask.shape[1])
        loss = policy_loss(
            new,
            old,
            mask,
            batch.advantages_NT.double(),
            batch.weights_N.double(),
            algorithm.clip_low,
            algorithm.clip_high,
            ratio=algorithm.ratio,
        ).loss
        if algorithm.kl_coef:
            rows = [self._constant(self.flat[m].reference) for m in members]
            reference = self._padded(rows, mask.shape[1])
            weights = batch.weights_N.double()
            loss = loss + algorithm.kl_coef * kl_penalty(new, reference, mask, weights, "k3")
        return loss

    def _padded(self, rows: list[Tensor], width: int) -> Tensor:
        junk = float("nan")  # padding must never enter
        return torch.stack(
            [torch.nn.functional.pad(r, (0, width - len(r)), value=junk) for r in rows]
        )

    def _constant(self, values: list[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float64)


def with_new(groups: list[list[Completion]], flat: list[list[float]]) -> list[list[Completion]]:
    rows = iter(flat)
    return [[Completion(c.reward, next(rows), c.old, c.reference) for c in g] for g in groups]


Objective = Callable[[list[list[Completion]]], float]
PRESETS: dict[str, tuple[list[str], Objective]] = {
    "grpo": ([], oracle.grpo),
    "grpo with KL": ([f"algorithm.kl_coef={BETA}"], lambda groups: oracle.grpo(groups, BETA)),
    "dr_grpo": ([], lambda groups: oracle.dr_grpo(groups, MAX_TOKENS)),
    "dapo": ([], oracle.dapo),
    "gspo": ([], oracle.gspo),
}


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("seed", range(6))
def test_the_loss_is_the_papers_whatever_the_micro_batches(name: str, seed: int) -> None:
    overrides, objective = PRESETS[name]
    groups = made(seed)
    production = Production(groups, preset(name.split()[0], *overrides))
    expected = objective(groups)
    for budget, shuffle in ((10_000, None), (20, 1), (1, 2)):
        loss = float(production.loss(budget, shuffle=shuffle).detach())
        assert loss == pytest.approx(expected, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", PRESETS)
def test_the_gradient_is_that_of_the_formula(name: str) -> None:
    """By central differences of the oracle, which no automatic differentiation has touched."""
    overrides, objective = PRESETS[name]
    groups = made(11)
    production = Production(groups, preset(name.split()[0], *overrides))
    whole = production.gradient(production.loss(10_000))
    cut = production.gradient(production.loss(9, shuffle=4))
    step = 1e-6
    for i, row in enumerate(whole):
        assert cut[i] == pytest.approx(row, rel=1e-6, abs=1e-12)
        for t, gradient in enumerate(row):
            ends = []
            for sign in (1, -1):
                moved = [list(c.new) for c in production.flat]
                moved[i][t] += sign * step
                ends.append(objective(with_new(groups, moved)))
            slope = (ends[0] - ends[1]) / (2 * step)
            assert gradient == pytest.approx(slope, rel=1e-4, abs=1e-7), (i, t)


@pytest.mark.parametrize("seed", range(4))
def test_ppo_is_the_token_mean_over_whitened_advantages(seed: int) -> None:
    groups, rng = made(seed), random.Random(seed)
    values = [[[rng.uniform(0, 1) for _ in c.new] for c in group] for group in groups]
    production = Production(groups, preset("ppo"))
    for budget in (10_000, 12):
        loss = float(production.loss(budget, values=values).detach())
        assert loss == pytest.approx(oracle.ppo(groups, values), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Two right of 2 and 5 tokens, one wrong of 3, all ratios 1. The mean is 2/3, the
        # population's std √2/3: A = 1/√2, 1/√2, -√2 with it, 1/3, 1/3, -2/3 without.
        ("grpo", -(0.5**0.5 + 0.5**0.5 - 2**0.5) / 3),
        ("dr_grpo", -(2 / 3 + 5 / 3 - 3 * 2 / 3) / (3 * MAX_TOKENS)),
        ("dapo", -(2 * 0.5**0.5 + 5 * 0.5**0.5 - 3 * 2**0.5) / 10),
        ("gspo", 0.0),
    ],
)
def test_by_hand(name: str, expected: float) -> None:
    def completion(reward: float, length: int) -> Completion:
        row = [-1.0] * length
        return Completion(reward, row, row, row)

    groups = [[completion(1, 2), completion(1, 5), completion(0, 3)]]
    loss = float(Production(groups, preset(name)).loss(10_000).detach())
    assert loss == pytest.approx(expected, abs=1e-6)


def test_the_settings_are_the_papers() -> None:
    settings = {name: preset(name).algorithm for name in ("grpo", "dr_grpo", "dapo", "gspo", "ppo")}
    clips = {name: (a.clip_low, a.clip_high) for name, a in settings.items()}
    assert clips == {
        "grpo": (0.2, 0.2),
        "dr_grpo": (0.2, 0.2),
        "dapo": (0.2, 0.28),
        "gspo": (3e-4, 4e-4),
        "ppo": (0.2, 0.2),
    }
    assert [n for n, a in settings.items() if a.dynamic_sampling or a.overlong_share] == ["dapo"]
    assert preset("gspo").train.minibatches == 4
    ppo = preset("ppo")
    assert (ppo.critic.gamma, ppo.critic.lam, ppo.critic.value_clip) == (1, 1, 0.5)
