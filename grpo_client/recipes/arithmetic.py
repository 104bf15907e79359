r"""Two-digit addition with written working: small enough to be learnt on two CPU cores.

    37+58=  ->  <think>7+8+0=15,3+5+1=9</think>\boxed{95}

The working adds units first (digit + digit + carry = sum), then tens. The tokenizer has one
token a character, and one each for the tags and the opening of the box.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

HELDOUT_PROBLEMS = 512
# The same problems are held out whatever the run's seed is, so that runs compare.
SPLIT_SEED = 20_261_130

_SPECIAL = ["<pad>", "<bos>", "<eos>"]
_PIECES = ["<think>", "</think>", "\\boxed{", "}", *"0123456789+=,"]


def train_rows(accuracy_weight: float = 0.9) -> list[dict[str, Any]]:
    """Every problem that is not held out, as rows of prompt, checker and params."""
    return [_row(a, b, accuracy_weight) for a, b in _split()[HELDOUT_PROBLEMS:]]


def heldout_rows(accuracy_weight: float = 0.9) -> list[dict[str, Any]]:
    """512 problems that neither phase of training sees."""
    return [_row(a, b, accuracy_weight) for a, b in _split()[:HELDOUT_PROBLEMS]]


def demonstrations() -> list[tuple[str, str]]:
    """(prompt, worked completion) of every training problem, for a supervised warm start."""
    return [(f"{a}+{b}=", _worked(a, b)) for a, b in _split()[HELDOUT_PROBLEMS:]]


def tokenizer() -> PreTrainedTokenizerFast:
    """The task's own tokenizer. Encoding puts `<bos>` in front."""
    vocabulary = {piece: index for index, piece in enumerate(_SPECIAL + _PIECES)}
    core = Tokenizer(models.WordLevel(vocabulary))  # no unknown token: other text is an error
    core.pre_tokenizer = pre_tokenizers.Split(Regex(r"</?think>|\\boxed\{|[\s\S]"), "isolated")
    core.decoder = decoders.Fuse()
    core.post_processor = processors.TemplateProcessing(
        single="<bos> $A", special_tokens=[("<bos>", vocabulary["<bos>"])]
    )
    pad, bos, eos = _SPECIAL
    wrapped: PreTrainedTokenizerFast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=core, pad_token=pad, bos_token=bos, eos_token=eos
    )
    return wrapped


def _split() -> list[tuple[int, int]]:
    pairs = [(a, b) for a in range(10, 100) for b in range(10, 100)]
    order = np.random.default_rng(SPLIT_SEED).permutation(len(pairs))
    return [pairs[i] for i in order]


def _row(a: int, b: int, accuracy_weight: float) -> dict[str, Any]:
    accuracy = {"name": "accuracy", "checker": "math", "params": {"answer": str(a + b)}}
    form = {"name": "format", "checker": "format", "params": {"template": "think"}}
    format_weight = round(1 - accuracy_weight, 6)
    parts = [{**accuracy, "weight": accuracy_weight}, {**form, "weight": format_weight}]
    return {
        "id": f"{a}+{b}",
        "prompt": f"{a}+{b}=",
        "checker": "composite",
        "params": {"parts": parts, "combine": "weighted"},
    }


def _worked(a: int, b: int) -> str:
    units = a % 10 + b % 10
    carry = units // 10
    tens = a // 10 + b // 10 + carry
    working = f"{a % 10}+{b % 10}+0={units},{a // 10}+{b // 10}+{carry}={tens}"
    return f"<think>{working}</think>\\boxed{{{a + b}}}"
