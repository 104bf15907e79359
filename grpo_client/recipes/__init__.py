"""Complete small tasks that ship with the trainer: prompts, demonstrations, tokenizer."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

from grpo_client.errors import ConfigError

_RECIPES = {
    "arithmetic": "grpo_client.recipes.arithmetic",
    "r1_zero": "grpo_client.recipes.r1_zero",
}


class Recipe(Protocol):
    """What a recipe module offers."""

    def train_rows(self) -> list[dict[str, Any]]:
        """Rows to train on, as a JSONL file of data would hold them."""

    def heldout_rows(self) -> list[dict[str, Any]]:
        """Rows to evaluate on."""

    def demonstrations(self) -> list[tuple[str, str]]:
        """(prompt, completion) pairs for a supervised warm start."""

    def tokenizer(self) -> Any:
        """A Hugging Face tokenizer that covers the task."""


def find_recipe(name: str) -> Recipe:
    """The bundled recipe of that name.

    Raises:
        ConfigError: there is none.
    """
    if name not in _RECIPES:
        raise ConfigError(f"no recipe {name!r}", remedy=f"bundled: {', '.join(_RECIPES)}")
    return cast(Recipe, import_module(_RECIPES[name]))
