"""Sampling with plain PyTorch: each prompt is read once, then its G completions grow together.

A completion leaves the batch soon after it ends. Every sample draws from random numbers of
its own, so it doesn't depend on its neighbours, their number, or when they end.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache

from grpo_client.model.load import Policy
from grpo_client.rollout.base import Sampling
from grpo_client.types import Prompt, Rollout, RolloutGroup

# Dropping rows copies the whole cache, so it waits until a quarter of them have ended.
_COMPACT_BELOW = 0.75


class TorchRollout:
    """The `RolloutEngine` that needs nothing but the policy itself.

    Args:
        policy: what to sample from; its present weights are used at each call.
        max_rows: sequences generated at once.
    """

    def __init__(self, policy: Policy, max_rows: int) -> None:
        self._policy = policy
        self._max_rows = max_rows

    @torch.inference_mode()
    def generate(
        self, prompts: Sequence[Prompt], group_size: int, sampling: Sampling, key: tuple[int, ...]
    ) -> list[RolloutGroup]:
        """See `RolloutEngine.generate`."""
        size = max(1, self._max_rows // group_size)
        groups: list[RolloutGroup] = []
        for start in range(0, len(prompts), size):
            chunk = prompts[start : start + size]
            uniforms = [
                _uniforms((*key, p, g), sampling.max_new_tokens)
                for p in range(start, start + len(chunk))
                for g in range(group_size)
            ]
            groups += self._groups(chunk, group_size, sampling, np.stack(uniforms))
        return groups

    def _groups(
        self, prompts: Sequence[Prompt], group_size: int, sampling: Sampling, uniforms_NT: Any
    ) -> list[RolloutGroup]:
        policy = self._policy
        prompt_ids = [policy.encode(prompt) for prompt in prompts]
        decoder = _Decoder(policy, prompt_ids, group_size)
        noise_NT = torch.from_numpy(uniforms_NT).to(decoder.device)
        sampled = _sample(decoder, noise_NT, sampling, policy)
        rollouts = sampled.rollouts(policy)
        return [
            RolloutGroup(prompt, ids, tuple(rollouts[p * group_size : (p + 1) * group_size]))
            for p, (prompt, ids) in enumerate(zip(prompts, prompt_ids, strict=True))
        ]


@dataclass(slots=True)
class _Sampled:
    """What has been sampled so far, one row a sequence."""

    tokens_NT: Tensor
    logprobs_NT: Tensor
    lengths_N: Tensor
    stopped_N: Tensor

    @classmethod
    def empty(cls, shape: tuple[int, int], device: torch.device) -> _Sampled:
        rows = shape[0]
        return cls(
            torch.zeros(shape, dtype=torch.long, device=device),
            torch.zeros(shape, device=device),
            torch.zeros(rows, dtype=torch.long, device=device),
            torch.zeros(rows, dtype=torch.bool, device=device),
        )

    def rollouts(self, policy: Policy) -> list[Rollout]:
        rows = zip(
            self.tokens_NT.tolist(),
            self.logprobs_NT.tolist(),
            self.lengths_N.tolist(),
            self.stopped_N.tolist(),
            strict=True,
        )
        return [
            Rollout(
                token_ids=(ids := tuple(tokens[:length])),
                logprobs=tuple(logprobs[:length]),
                finish_reason="stop" if stopped else "length",
                text=policy.decode(ids),
            )
            for tokens, logprobs, length, stopped in rows
        ]


def _sample(decoder: _Decoder, noise_NT: Tensor, sampling: Sampling, policy: Policy) -> _Sampled:
    rows, steps = noise_NT.shape
    out = _Sampled.empty((rows, steps), noise_NT.device)
    eos = torch.tensor(policy.eos_ids, device=noise_NT.device)
    active = torch.arange(rows, device=noise_NT.device)  # rows of the cache, by output row
    going = torch.ones_like(active, dtype=torch.bool)
    for step in range(steps):
        tokens, logprobs = _pick(decoder.logits_NV, noise_NT[active, step], sampling.temperature)
        rows_now = active[going]
        out.tokens_NT[rows_now, step] = tokens[going]
        out.logprobs_NT[rows_now, step] = logprobs[going]
        out.lengths_N[rows_now] += 1
        ended = torch.isin(tokens, eos) & going
        out.stopped_N[active[ended]] = True
        going &= ~ended
        left = int(going.sum())
        if left == 0 or step == steps - 1:
            break
        if left <= _COMPACT_BELOW * len(going):
            kept = going.nonzero()[:, 0]
            decoder.keep(kept)
            active, tokens, going = active[kept], tokens[kept], going[kept]
        decoder.advance(tokens)
    return out


def _pick(logits_NV: Tensor, noise_N: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """The token where the cumulative distribution passes the noise, and its log-prob."""
    logprobs_NV = (logits_NV.float() / (temperature or 1.0)).log_softmax(-1)
    if temperature == 0:
        tokens = logprobs_NV.argmax(-1)
    else:
        # In float64: rounding in a long cumulative sum would favour some tokens.
        cumulative_NV = logprobs_NV.double().exp().cumsum(-1)
        threshold = (noise_N * cumulative_NV[:, -1])[:, None]
        tokens = torch.searchsorted(cumulative_NV, threshold, right=True)[:, 0]
        tokens.clamp_(max=logits_NV.shape[-1] - 1)
    return tokens, logprobs_NV.gather(-1, tokens[:, None])[:, 0]


class _Decoder:
    """The model's state in the middle of generation: cache, mask, next logits."""

    def __init__(
        self, policy: Policy, prompt_ids: Sequence[Sequence[int]], group_size: int
    ) -> None:
        self._model = policy.model
        self.device = policy.model.device
        self._cache = DynamicCache(config=policy.model.config)
        parameters = inspect.signature(policy.model.forward).parameters
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        width = max(map(len, prompt_ids))
        padded = [[policy.pad_id] * (width - len(ids)) + list(ids) for ids in prompt_ids]
        lengths = torch.tensor([len(ids) for ids in prompt_ids], device=self.device)
        ids_PS = torch.tensor(padded, device=self.device)
        mask_PS = torch.arange(width, device=self.device) >= (width - lengths)[:, None]
        # Prompts of one length need no mask, and attention without one is faster.
        self._mask: Tensor | None = None if bool(mask_PS.all()) else mask_PS.long()
        self.logits_NV = self._forward(ids_PS).repeat_interleave(group_size, 0)
        self._cache.batch_repeat_interleave(group_size)
        if self._mask is not None:
            self._mask = self._mask.repeat_interleave(group_size, 0)

    def keep(self, rows: Tensor) -> None:
        """Drops every row but these."""
        self._cache.batch_select_indices(rows)
        if self._mask is not None:
            self._mask = self._mask[rows]

    def advance(self, tokens_N: Tensor) -> None:
        """Reads one more token a row."""
        if self._mask is not None:
            self._mask = torch.cat([self._mask, torch.ones_like(self._mask[:, :1])], 1)
        self.logits_NV = self._forward(tokens_N[:, None])

    def _forward(self, ids_NS: Tensor) -> Tensor:
        inputs: dict[str, Any] = {self._cache_name: self._cache}
        if self._mask is not None:
            positions = (self._mask.cumsum(-1) - 1).clamp_(min=0)
            inputs["attention_mask"] = self._mask
            inputs["position_ids"] = positions[:, -ids_NS.shape[1] :]
        out = self._model(input_ids=ids_NS, use_cache=True, logits_to_keep=1, **inputs)
        logits: Tensor = out.logits
        return logits[:, -1]


def _uniforms(key: tuple[int, ...], count: int) -> Any:
    return np.random.default_rng(list(key)).random(count)
