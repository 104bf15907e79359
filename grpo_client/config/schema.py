"""The configuration tree. Every field has its meaning and unit here or in `algorithm.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from grpo_client.config.algorithm import AlgorithmConfig, CriticConfig
from grpo_client.config.bounds import Count, Decay, Natural, NonNegative, Positive, Share


@dataclass(frozen=True, slots=True)
class NewModelConfig:
    """Sizes of a Llama with random weights, for runs that start from nothing."""

    hidden_size: Count = 128
    layers: Count = 4
    heads: Count = 4
    feed_forward_size: Count = 384
    max_positions: Count = 128


@dataclass(frozen=True, slots=True)
class LoraConfig:
    """Low-rank adapters (Hu et al. 2021, arXiv 2106.09685). Takes the `lora` extra.

    Attributes:
        rank, alpha: the update of a layer is alpha/rank · B A.
        targets: names of the linear layers that get one, or "all-linear".
    """

    rank: Count = 16
    alpha: Positive = 32.0
    targets: tuple[str, ...] | Literal["all-linear"] = "all-linear"


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The policy.

    Attributes:
        path: a Hugging Face model folder or hub name.
        new: instead of `path`, a new model with the recipe's tokenizer.
        lora: train adapters of this shape instead of the model's own weights.
        dtype: of weights and optimiser state; "float32" keeps small updates.
        autocast: dtype of matrix products in sampling and training; "off" is `dtype`.
        checkpointing: recompute activations on the way back, which saves memory for time.
        device: "auto" is CUDA where there is one.
    """

    path: str = ""
    new: NewModelConfig | None = None
    lora: LoraConfig | None = None
    dtype: Literal["float32", "bfloat16"] = "float32"
    autocast: Literal["off", "bfloat16"] = "off"
    checkpointing: bool = False
    device: str = "auto"


@dataclass(frozen=True, slots=True)
class DataConfig:
    """Prompts, each with the checker and params that score it.

    Attributes:
        train, heldout: JSONL files of rows {"prompt", "checker", "params", "id"?, "tags"?}.
        recipe: instead of files, a bundled task by name (it brings demonstrations too).
        template: what the model is shown of a plain prompt: `{prompt}` is replaced by it.
    """

    train: str = ""
    heldout: str = ""
    recipe: str = ""
    template: str = "{prompt}"


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
        group_size: G, completions of each prompt; 1 only where a critic is the baseline.
        max_new_tokens: a completion is cut off here.
        temperature: divides the logits, in sampling and in training alike.
        max_rows: sequences generated at once; bounds the memory of the KV cache.
        ahead: sample a step's batch by the weights before the last update, while that
            update's batch is being scored: hides the verifier's time, one step stale.
    """

    prompts_per_step: Count = 64
    group_size: Count = 8
    max_new_tokens: Count = 512
    temperature: Positive = 1.0
    max_rows: Count = 512
    ahead: bool = False


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
        groups_in_flight: groups that are scored at once, each from when its last member ends.
        shuffle: control arm: rewards are permuted over the batch, so that nothing can be
            learnt from them.
    """

    url: str = "http://127.0.0.1:8000"
    api_key_env: str = "VERIFIER_API_KEY"
    accuracy: str = "accuracy"
    max_unscored_share: Share = 0.2
    deadline_s: Positive = 120.0
    groups_in_flight: Count = 32
    shuffle: bool = False


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
    beta1: Decay = 0.9
    beta2: Decay = 0.95
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
    critic: CriticConfig = field(default_factory=CriticConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)
