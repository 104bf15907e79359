"""Sampling with plain PyTorch: each prompt is read once, then its G completions grow together.

A completion leaves the batch soon after it ends. Every sample draws from random numbers of
its own, so it doesn't depend on its neighbours, their number, or when they end.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache

from grpo_client.model.load import Policy
from grpo_client.model.passes import precision
from grpo_client.rollout.base import OnGroup, Sampling
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
        self,
        prompts: Sequence[Prompt],
        group_size: int,
        sampling: Sampling,
        key: tuple[int, ...],
        on_group: OnGroup | None = None,
    ) -> list[RolloutGroup]:
        """See `RolloutEngine.generate`."""
        size = max(1, self._max_rows // group_size)
        groups: dict[int, RolloutGroup] = {}
        for start in range(0, len(prompts), size):
            chunk = prompts[start : start + size]
            uniforms = [
                _uniforms((*key, p, g), sampling.max_new_tokens)
                for p in range(start, start + len(chunk))
                for g in range(group_size)
            ]
            batch = _Batch(self._policy, chunk, group_size, sampling)
            with precision(self._policy.model, self._policy.autocast):
                for place, group in batch.sample(np.stack(uniforms)):
                    groups[start + place] = group
                    if on_group:
                        on_group(start + place, group)
        return [groups[place] for place in range(len(prompts))]


class _Batch:
    """Prompts whose groups are sampled at once.

    The rows of a group lie together: row p·G + g is the g-th completion of prompt p.
    """

    def __init__(
        self, policy: Policy, prompts: Sequence[Prompt], group_size: int, sampling: Sampling
    ) -> None:
        self._policy, self._prompts, self._size = policy, prompts, group_size
        self._sampling = sampling
        self._prompt_ids = [policy.encode(prompt) for prompt in prompts]
        shape = (len(prompts) * group_size, sampling.max_new_tokens)
        device = policy.model.device
        self._tokens_NT = torch.zeros(shape, dtype=torch.long, device=device)
        self._logprobs_NT = torch.zeros(shape, device=device)
        self._lengths_N = torch.zeros(shape[0], dtype=torch.long, device=device)
        self._stopped_N = torch.zeros(shape[0], dtype=torch.bool, device=device)
        self._going = dict.fromkeys(range(len(prompts)), group_size)

    def sample(self, uniforms_NT: Any) -> Iterator[tuple[int, RolloutGroup]]:
        """Grows all completions to their ends; yields each group as its last member ends."""
        decoder = _Decoder(self._policy, self._prompt_ids, self._size)
        noise_NT = torch.from_numpy(uniforms_NT).to(decoder.device)
        rows, steps = noise_NT.shape
        eos = torch.tensor(self._policy.eos_ids, device=decoder.device)
        active = torch.arange(rows, device=decoder.device)  # rows of the cache, by output row
        going = torch.ones_like(active, dtype=torch.bool)
        for step in range(steps):
            noise_N = noise_NT[active, step]
            tokens, logprobs = _pick(decoder.logits_NV, noise_N, self._sampling.temperature)
            self._record(step, active[going], tokens[going], logprobs[going])
            ended = torch.isin(tokens, eos) & going
            going &= ~ended
            yield from self._stop(active[ended])
            left = int(going.sum())
            if left == 0 or step == steps - 1:
                break
            if left <= _COMPACT_BELOW * len(going):
                kept = going.nonzero()[:, 0]
                decoder.keep(kept)
                active, tokens, going = active[kept], tokens[kept], going[kept]
            decoder.advance(tokens)
        for place in list(self._going):
            yield place, self._group(place)

    def _record(self, step: int, rows: Tensor, tokens: Tensor, logprobs: Tensor) -> None:
        self._tokens_NT[rows, step] = tokens
        self._logprobs_NT[rows, step] = logprobs
        self._lengths_N[rows] += 1

    def _stop(self, rows: Tensor) -> Iterator[tuple[int, RolloutGroup]]:
        self._stopped_N[rows] = True
        for place in (rows // self._size).tolist():
            self._going[place] -= 1
            if self._going[place] == 0:
                del self._going[place]
                yield place, self._group(place)

    def _group(self, place: int) -> RolloutGroup:
        rows = slice(place * self._size, (place + 1) * self._size)
        members = zip(
            self._tokens_NT[rows].tolist(),
            self._logprobs_NT[rows].tolist(),
            self._lengths_N[rows].tolist(),
            self._stopped_N[rows].tolist(),
            strict=True,
        )
        rollouts = tuple(
            Rollout(
                token_ids=(ids := tuple(tokens[:length])),
                logprobs=tuple(logprobs[:length]),
                finish_reason="stop" if stopped else "length",
                text=self._policy.decode(ids),
            )
            for tokens, logprobs, length, stopped in members
        )
        return RolloutGroup(self._prompts[place], self._prompt_ids[place], rollouts)


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
