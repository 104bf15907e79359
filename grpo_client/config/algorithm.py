"""How rewards become gradients, and the presets: settings by name, nothing else.

`[algorithm] preset = "dapo"` fills what the user has not written; what the user writes wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from grpo_client.config.bounds import Count, Natural, NonNegative, Positive, Share

PRESETS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    # DeepSeekMath (arXiv 2402.03300) eq. 3-4; the paper's kl_coef is 0.04.
    "grpo": {
        "algorithm": {
            "advantage": "population",
            "normalize": "sequence",
            "clip_low": 0.2,
            "clip_high": 0.2,
        },
    },
    # Liu et al. 2025 (arXiv 2503.20783) §3: neither the length nor the spread divides.
    "dr_grpo": {
        "algorithm": {
            "advantage": "mean",
            "normalize": "constant",
            "clip_low": 0.2,
            "clip_high": 0.2,
        },
    },
    # Yu et al. 2025 (arXiv 2503.14476) eq. 8-13; L_cache is a fifth of L_max there.
    "dapo": {
        "algorithm": {
            "advantage": "population",
            "normalize": "token",
            "clip_low": 0.2,
            "clip_high": 0.28,
            "dynamic_sampling": True,
            "overlong_share": 0.2,
        },
    },
    # Zheng et al. 2025 (arXiv 2507.18071) eq. 5-7 and §5.1: four minibatches a batch.
    "gspo": {
        "algorithm": {
            "advantage": "population",
            "normalize": "sequence",
            "ratio": "sequence",
            "clip_low": 3e-4,
            "clip_high": 4e-4,
        },
        "train": {"minibatches": 4},
    },
    # Schulman et al. 2017 (arXiv 1707.06347) with gamma = lam = 1, as language models use it.
    "ppo": {
        "algorithm": {
            "advantage": "gae",
            "normalize": "token",
            "clip_low": 0.2,
            "clip_high": 0.2,
        },
    },
}


@dataclass(frozen=True, slots=True)
class AlgorithmConfig:
    """How rewards become gradients. Formulas are in docs/trainer.md.

    Attributes:
        preset: `grpo`, `dr_grpo`, `dapo`, `gspo` or `ppo`: fills the fields below.
        advantage: reward minus the group's mean, divided by the group's standard deviation of
            the `population` (÷G) or the `sample` (÷(G-1)); `mean` divides by nothing; `gae`
            takes a critic's values instead of the group.
        normalize: the loss is a sum over tokens divided by: each `sequence`'s own length and
            the number of sequences; the number of all `token`s; or the `constant`
            sequences times max_new_tokens.
        ratio: what is clipped: each `token`'s ratio, or the `sequence`'s geometric mean.
        clip_low, clip_high: the ratio is clipped to [1 - clip_low, 1 + clip_high].
        kl_coef: β, weight of the KL to the reference in the loss; 0 keeps no reference. Above
            0, groups without a comparison still feel the KL, as the equation has it.
        kl_estimator: `k1`, `k2` or `k3`.
        kl_weighted: multiply the estimate by the ratio to the policy that sampled.
        reference_every: steps after which the present policy becomes the reference; 0 keeps
            the one that the run started from.
        mismatch: correction where the sampler's log-probs differ from the trainer's:
            `none`, `truncate` (cap), `mask` (tokens) or `sequence_mask`.
        mismatch_low, mismatch_high: bounds of the correction's weights.
        dynamic_sampling: sample on until a batch is full of groups with right and wrong
            answers; what is left over goes into the next.
        max_rounds: of sampling a step; then it trains on what there is.
        overlong_share: share of max_new_tokens, at its end, in which rewards fall by up to 1.
        mask_truncated: a completion that was cut off counts in its group's baseline, but is
            not trained on.
    """

    preset: Literal["grpo", "dr_grpo", "dapo", "gspo", "ppo"] = "grpo"
    advantage: Literal["population", "sample", "mean", "gae"] = "population"
    normalize: Literal["sequence", "token", "constant"] = "sequence"
    ratio: Literal["token", "sequence"] = "token"
    clip_low: Positive = 0.2
    clip_high: Positive = 0.2
    kl_coef: NonNegative = 0.0
    kl_estimator: Literal["k1", "k2", "k3"] = "k3"
    kl_weighted: bool = False
    reference_every: Natural = 0
    mismatch: Literal["none", "truncate", "mask", "sequence_mask"] = "none"
    mismatch_low: NonNegative = 0.5
    mismatch_high: Positive = 2.0
    dynamic_sampling: bool = False
    max_rounds: Count = 10
    overlong_share: Share = 0.0
    mask_truncated: bool = False


@dataclass(frozen=True, slots=True)
class CriticConfig:
    """PPO's critic: a copy of the policy with one output. Used with `advantage = "gae"`.

    Attributes:
        gamma, lam: discount and λ of the advantages.
        value_clip: how far a value may move in a step before its gradient ends.
        learning_rate: of its own AdamW, which shares [train]'s other settings.
        warmup_steps: first steps in which the critic alone learns.
    """

    gamma: Share = 1.0
    lam: Share = 1.0
    value_clip: Positive = 0.5
    learning_rate: Positive = 1e-5
    warmup_steps: Natural = 0
