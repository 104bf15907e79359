"""What flows through a training step. Pure data; tensors are made later, in `train`.

Shapes, here and everywhere: P prompts · G completions of each (a group) · N = P·G sequences
· T tokens · V vocabulary. A name that ends in `_NT` is an array of that shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, Literal

Text = str | list[dict[str, Any]]
"""A plain string, or chat messages with `role` and `content`."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One row of the data: what the model is asked, and how its answers are scored.

    Attributes:
        ordinal: position in the data, from 0.
        text: what the model is asked.
        checker: the verifier's checker for this row.
        params: that checker's params; the reference is in them.
        id: the row's own name; may be None.
        tags: free labels.
    """

    ordinal: int
    text: Text
    checker: str
    params: Mapping[str, Any]
    id: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rollout:
    """One sampled completion.

    Attributes:
        token_ids: [T] as sampled, the first end-of-sequence token included. Training uses
            these, never a re-encoding of `text`.
        logprobs: [T] log-probability of each token under the policy that sampled it, at the
            temperature that it was sampled with.
        finish_reason: `stop` if it ended itself, `length` if it was cut off.
        text: what the verifier is shown.
    """

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: Literal["stop", "length"]
    text: str

    def __post_init__(self) -> None:
        if not self.token_ids or len(self.token_ids) != len(self.logprobs):
            raise ValueError(f"{len(self.token_ids)} tokens, {len(self.logprobs)} log-probs")
        if not all(map(isfinite, self.logprobs)):
            raise ValueError("a sampled token's log-prob is not finite: the weights are broken")


@dataclass(frozen=True, slots=True)
class Reward:
    """What the verifier says of one completion, as far as training is concerned.

    Attributes:
        value: what is trained on; None if unscored (a fault of the task or the service).
        accuracy: what pass rates are counted on: a component of the score, or the score.
        outcome: the verdict's outcome.
        answer: what the verifier extracted; None if it found no answer.
        explanation: the verifier's sentence.
        components: parts of the score by name.
    """

    value: float | None
    accuracy: float | None
    outcome: str
    answer: str | None = None
    explanation: str = ""
    components: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RolloutGroup:
    """The G completions of one prompt. Members belong together by construction.

    Attributes:
        prompt: the row they answer.
        prompt_ids: the tokens that the model was given.
        rollouts: [G].
        rewards: [G] once scored, empty before.
        step: training steps that the policy which sampled them had behind it.
    """

    prompt: Prompt
    prompt_ids: tuple[int, ...]
    rollouts: tuple[Rollout, ...]
    rewards: tuple[Reward, ...] = ()
    step: int = 0

    def __post_init__(self) -> None:
        if self.rewards and len(self.rewards) != len(self.rollouts):
            raise ValueError(f"{len(self.rollouts)} rollouts, {len(self.rewards)} rewards")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over problems and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class EvalReport:
    """How good a policy is on held-out prompts.

    Attributes:
        estimates: by name: `pass@k`, `pass^k` (all k right), `maj@k` (the most frequent
            answer), and `cot_pass@k` (answer and reasoning) where every verdict tells.
        reward: mean reward of the scored samples.
        problems: problems that count, that is with at least max(k) scored samples.
        dropped_problems: problems that had too few scored samples to count.
        samples: samples drawn.
        unscored: samples without a score (a fault of the task or the service).
        unextracted: scored samples in which the verifier found no answer.
        truncated: samples cut off at the length limit.
        tokens: mean tokens of a sample.
    """

    estimates: Mapping[str, Estimate]
    reward: float
    problems: int
    dropped_problems: int
    samples: int
    unscored: int
    unextracted: int
    truncated: int
    tokens: float

    @property
    def pass_at_1(self) -> float:
        """The share of samples that are right."""
        return self.estimates["pass@1"].value

    def row(self) -> dict[str, float]:
        """Everything, flat, as metrics.jsonl has it."""
        numbers = {f.name: float(getattr(self, f.name)) for f in fields(self)[1:]}
        row: dict[str, float] = {}
        for name, estimate in self.estimates.items():
            row |= {name: estimate.value, f"{name}/low": estimate.low}
            row[f"{name}/high"] = estimate.high
        return row | numbers
