"""Prompts: rows that say what the model is asked and how its answers are scored.

A row is `{"prompt": str | messages, "checker": name, "params": {…}, "id"?, "tags"?}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from grpo_client.config import DataConfig
from grpo_client.errors import DataError
from grpo_client.recipes import find_recipe
from grpo_client.types import Prompt


class _Message(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: str
    content: str


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    prompt: str | list[_Message]
    checker: str
    params: dict[str, Any] = {}
    id: str | None = None
    tags: tuple[str, ...] = ()


def load_prompts(config: DataConfig) -> tuple[list[Prompt], list[Prompt]]:
    """The training and the held-out prompts; the latter may be empty.

    Raises:
        ConfigError: no such recipe.
        DataError: a file can't be read, holds no row, or a row is malformed.
    """
    if config.recipe:
        recipe = find_recipe(config.recipe)
        return _recipe_prompts(recipe.train_rows()), _recipe_prompts(recipe.heldout_rows())
    heldout = read_prompts(Path(config.heldout)) if config.heldout else []
    return read_prompts(Path(config.train)), heldout


def read_prompts(path: Path) -> list[Prompt]:
    """The rows of a JSONL file; blank lines are passed over.

    Raises:
        DataError: names the file and the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise DataError(f"can't read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8: {error}") from None
    rows = [(f"{path}:{number}", line) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise DataError(f"{path} holds no row")
    return [_parse(where, line, ordinal) for ordinal, (where, line) in enumerate(rows)]


def draw(prompts: Sequence[Prompt], seed: int, start: int, count: int) -> list[Prompt]:
    """`count` prompts from position `start` of an endless, seeded sequence of epochs.

    Each epoch is a permutation of all prompts. The sequence is a function of its arguments
    alone, so a run resumes anywhere by knowing its position.
    """
    size = len(prompts)
    drawn: list[Prompt] = []
    while len(drawn) < count:
        epoch, offset = divmod(start + len(drawn), size)
        order = np.random.default_rng([seed, epoch]).permutation(size)
        drawn += [prompts[i] for i in order[offset : offset + count - len(drawn)]]
    return drawn


def _recipe_prompts(rows: Iterable[dict[str, Any]]) -> list[Prompt]:
    return [_prompt(_Row.model_validate(row), i) for i, row in enumerate(rows)]


def _parse(where: str, line: str, ordinal: int) -> Prompt:
    try:
        json.loads(line)
        return _prompt(_Row.model_validate_json(line), ordinal)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON: {error}") from None
    except ValidationError as error:
        # Of the branches of a union, the one that got furthest knows best.
        first = max(error.errors(include_url=False), key=lambda e: len(e["loc"]))
        key = ".".join(str(part) for part in first["loc"])
        raise DataError(
            f"{where}: {key or 'row'}: {first['msg']}",
            remedy='a row is {"prompt": …, "checker": …, "params": {…}, "id"?, "tags"?}',
        ) from None


def _prompt(row: _Row, ordinal: int) -> Prompt:
    text = row.prompt if isinstance(row.prompt, str) else [m.model_dump() for m in row.prompt]
    return Prompt(ordinal, text, row.checker, row.params, row.id, row.tags)
