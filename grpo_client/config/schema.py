"""The configuration tree. Every field has its meaning and unit here, and nowhere else.

Presets are data: `[algorithm] preset = "grpo"` fills the table's other fields, and a field
that the user writes beside it wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

Count = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "grpo": {"advantage": "population", "normalize": "sequence", "clip_low": 0.2, "clip_high": 0.2},
    "dr_grpo": {"advantage": "mean", "normalize": "constant", "clip_low": 0.2, "clip_high": 0.2},
}


@dataclass(frozen=True, slots=True)
class NewModelConfig:
    """Sizes of a Llama with random weights, for runs that start from nothing."""

    hidden_size: Count = 128
    layers: Count = 4
    heads: Count = 4
    feed_forward_size: Count = 384
    max_positions: Count = 128


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The policy.

    Attributes:
        path: a Hugging Face model folder or hub name.
        new: instead of `path`, a new model with the recipe's tokenizer.
        dtype: of weights and optimiser state; "float32" keeps small updates.
        device: "auto" is CUDA where there is one.
    """

    path: str = ""
    new: NewModelConfig | None = None
    dtype: Literal["float32", "bfloat16"] = "float32"
    device: str = "auto"


@dataclass(frozen=True, slots=True)
class DataConfig:
    """Prompts, each with the checker and params that score it.

    Attributes:
        train, heldout: JSONL files of rows {"prompt", "checker", "params", "id"?, "tags"?}.
        recipe: instead of files, a bundled task by name (it brings demonstrations too).
    """

    train: str = ""
    heldout: str = ""
    recipe: str = ""


@dataclass(frozen=True, slots=True)
class WarmStartConfig:
    """A short supervised phase on a recipe's demonstrations. Off at `max_steps = 0`.

    Attributes:
        max_steps: optimiser steps at most.
        stop_at_pass_1: ends the phase early once held-out pass@1 is here.
        evaluate_from, evaluate_every: steps at which pass@1 is looked at.
        batch_size: demonstrations a step.
        learning_rate, warmup_steps, max_grad_norm: of its own AdamW.
    """

    max_steps: Natural = 0
    stop_at_pass_1: Share = 0.28
    evaluate_from: Natural = 60
    evaluate_every: Count = 10
    batch_size: Count = 64
    learning_rate: Positive = 1e-3
    warmup_steps: Natural = 30
    max_grad_norm: Positive = 1.0


@dataclass(frozen=True, slots=True)
class RolloutConfig:
    """How completions are sampled.

    Attributes:
        prompts_per_step: P, groups a training step.
        group_size: G, completions of each prompt.
        max_new_tokens: a completion is cut off here.
        temperature: divides the logits, in sampling and in training alike.
        max_rows: sequences generated at once; bounds the memory of the KV cache.
    """

    prompts_per_step: Count = 64
    group_size: Annotated[int, Field(ge=2)] = 8
    max_new_tokens: Count = 512
    temperature: Positive = 1.0
    max_rows: Count = 512


@dataclass(frozen=True, slots=True)
class RewardConfig:
    """The verifier service, the only source of rewards.

    Attributes:
        url: where it listens.
        api_key_env: environment variable that holds the API key, if it wants one.
        accuracy: the component of a composite score that pass rates are counted on; where a
            verdict has no such component, its whole score counts.
        max_unscored_share: the run stops if more of a batch comes back without a score.
        deadline_s: patience for one verdict, its time in the queue included.
        shuffle: control arm: rewards are permuted over the batch, so that nothing can be
            learnt from them.
    """

    url: str = "http://127.0.0.1:8000"
    api_key_env: str = "VERIFIER_API_KEY"
    accuracy: str = "accuracy"
    max_unscored_share: Share = 0.2
    deadline_s: Positive = 120.0
    shuffle: bool = False


@dataclass(frozen=True, slots=True)
class AlgorithmConfig:
    """How rewards become gradients.

    Attributes:
        preset: `grpo` (DeepSeekMath) or `dr_grpo` (no std, constant normaliser).
        advantage: reward minus the group's mean, divided by the group's standard deviation of
            the `population` (÷G) or the `sample` (÷(G-1)); `mean` divides by nothing.
        normalize: the loss is a sum over tokens divided by: each `sequence`'s own length and
            the number of sequences; the number of all `token`s; or the `constant`
            sequences times max_new_tokens.
        clip_low, clip_high: the ratio is clipped to [1 - clip_low, 1 + clip_high].
    """

    preset: Literal["grpo", "dr_grpo"] = "grpo"
    advantage: Literal["population", "sample", "mean"] = "population"
    normalize: Literal["sequence", "token", "constant"] = "sequence"
    clip_low: Annotated[float, Field(gt=0, lt=1)] = 0.2
    clip_high: Positive = 0.2


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """The optimiser and the length of the run.

    Attributes:
        steps: batches of rollouts that are trained on.
        minibatches: optimiser steps a batch; 1 is strictly on-policy.
        micro_batch_tokens: padded tokens in one forward pass; bounds memory, changes nothing.
        learning_rate, warmup_steps, beta1, beta2, weight_decay: of AdamW; the rate rises
            linearly over the warm-up, counted in optimiser steps.
        schedule: the rate after the warm-up: `constant`, or `linear` down to 0 at the end.
        max_grad_norm: gradients are scaled down to it.
        save_every: steps between checkpoints; 0 saves at the end alone.
    """

    steps: Count = 100
    minibatches: Count = 1
    micro_batch_tokens: Count = 32768
    learning_rate: Positive = 1e-6
    warmup_steps: Natural = 5
    schedule: Literal["constant", "linear"] = "constant"
    beta1: Annotated[float, Field(ge=0, lt=1)] = 0.9
    beta2: Annotated[float, Field(ge=0, lt=1)] = 0.95
    weight_decay: NonNegative = 0.0
    max_grad_norm: Positive = 1.0
    save_every: Natural = 0


@dataclass(frozen=True, slots=True)
class EvaluateConfig:
    """Held-out evaluation, before, during and after training and in `grpo-client eval`.

    Attributes:
        every: training steps between evaluations; 0 for before and after alone.
        max_problems: held-out problems that are used.
        samples: completions of each.
        k: the k of pass@k; each at most `samples`.
        temperature: 0 is greedy.
        stop_at_pass_1: training ends once an evaluation reaches it.
    """

    every: Natural = 10
    max_problems: Count = 512
    samples: Count = 1
    k: tuple[Count, ...] = (1,)
    temperature: NonNegative = 1.0
    stop_at_pass_1: Share = 1.0


@dataclass(frozen=True, slots=True)
class Config:
    """A whole run.

    Attributes:
        out: folder for checkpoints, metrics.jsonl and curves.
        seed: of everything random: weights, data order, sampling.
        threads: CPU threads for torch.
    """

    out: str = "runs/grpo"
    seed: Natural = 0
    threads: Count = 2
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    warm_start: WarmStartConfig = field(default_factory=WarmStartConfig)
    rollout: RolloutConfig = field(default_factory=RolloutConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    algorithm: AlgorithmConfig = field(default_factory=AlgorithmConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)
