"""From TOML and `a.b=value` overrides to a checked `Config`, and back to TOML."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from grpo_client.config.algorithm import PRESETS
from grpo_client.config.schema import Config
from grpo_client.errors import ConfigError


def load_config(path: Path | None, overrides: Sequence[str] = ()) -> Config:
    """The configuration of a run.

    Args:
        path: a TOML file, or None for the defaults.
        overrides: `dotted.key=value`, the value as TOML writes it (a bare word is a string);
            later ones win.

    Raises:
        ConfigError: unreadable file, unknown key, value of the wrong type or out of range,
            or values that don't go together. Names the key.
    """
    tree = _read(path) if path else {}
    for override in overrides:
        _apply(tree, override)
    _refuse_unknown(tree, Config, "")
    _fill_preset(tree)
    try:
        # JSON mode: strict types, and yet lists become tuples.
        config = TypeAdapter(Config).validate_json(json.dumps(tree), strict=True)
    except ValidationError as error:
        raise ConfigError(_told(error)) from None
    _refuse_contradictions(config)
    _refuse_algorithm(config)
    return config


def to_toml(config: Config) -> str:
    """The configuration as a TOML document that loads to the same configuration."""
    return "\n".join(_table(asdict(config), "")).strip() + "\n"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"can't read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None


def _apply(tree: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"{override!r} is no override", remedy="write it as train.steps=10")
    *tables, last = key.strip().removeprefix("--").split(".")
    for name in tables:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            raise ConfigError(f"{key}: {name} is a value, not a table")
    tree[last] = _value(text.strip())


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _refuse_unknown(tree: Mapping[str, Any], table: type[Any], prefix: str) -> None:
    """Unknown keys first, so that a typing slip is met by a suggestion and nothing else."""
    hints = get_type_hints(table)
    known = [f.name for f in fields(table)]
    for key, value in tree.items():
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            remedy = f"did you mean {prefix}{close[0]}?" if close else f"known: {', '.join(known)}"
            raise ConfigError(f"unknown key {prefix}{key}", remedy=remedy)
        nested = next((t for t in (hints[key], *get_args(hints[key])) if is_dataclass(t)), None)
        if isinstance(nested, type) and isinstance(value, dict):
            _refuse_unknown(value, nested, f"{prefix}{key}.")


def _fill_preset(tree: dict[str, Any]) -> None:
    algorithm = tree.get("algorithm", {})
    if not isinstance(algorithm, dict):
        return  # validation will say so
    for name, settings in PRESETS.get(str(algorithm.get("preset", "grpo")), {}).items():
        table = tree.setdefault(name, {})
        if isinstance(table, dict):
            tree[name] = {**settings, **table}


def _told(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    return f"{key}: {first['msg'][0].lower()}{first['msg'][1:]}, not {first['input']!r}"


def _refuse_contradictions(config: Config) -> None:
    data, model = config.data, config.model
    if not data.recipe and not data.train:
        raise ConfigError("no data", remedy="set data.train to a JSONL file, or data.recipe")
    if data.recipe and (data.train or data.heldout):
        raise ConfigError("data.recipe and data files exclude each other", remedy="set one")
    if bool(model.path) == (model.new is not None):
        raise ConfigError("a run needs exactly one of model.path and [model.new]")
    if model.new is not None and not data.recipe:
        raise ConfigError("[model.new] takes its tokenizer from data.recipe", remedy="set it")
    if model.new is not None and model.new.hidden_size % model.new.heads:
        raise ConfigError("model.new.hidden_size must be a multiple of model.new.heads")
    if config.warm_start.max_steps and not data.recipe:
        raise ConfigError("warm_start needs the demonstrations of a data.recipe")
    if "{prompt}" not in data.template:
        raise ConfigError("data.template must hold {prompt}", remedy="say where the prompt goes")
    if 1 not in config.evaluate.k or max(config.evaluate.k) > config.evaluate.samples:
        raise ConfigError(
            f"evaluate.k = {list(config.evaluate.k)} with evaluate.samples = "
            f"{config.evaluate.samples}",
            remedy="k must include 1 and be at most samples",
        )


def _refuse_algorithm(config: Config) -> None:
    algorithm, train = config.algorithm, config.train
    exact = algorithm.normalize == "sequence" and train.minibatches > 1
    if algorithm.ratio == "sequence" and not exact:
        raise ConfigError(
            "a sequence ratio needs algorithm.normalize = 'sequence' and train.minibatches of at "
            "least 2: with one update a batch every ratio is 1, and GSPO is GRPO",
            remedy="set train.minibatches=4",
        )
    if config.rollout.group_size < 2 and algorithm.advantage != "gae":
        raise ConfigError(
            "rollout.group_size = 1 has nothing to compare with",
            remedy="set it to 2 or more, or take algorithm.preset=ppo",
        )
    if algorithm.mismatch_low > algorithm.mismatch_high:
        raise ConfigError("algorithm.mismatch_low is above algorithm.mismatch_high")
    if algorithm.reference_every and not algorithm.kl_coef:
        raise ConfigError("algorithm.reference_every without algorithm.kl_coef has no effect")
    if config.rollout.ahead and algorithm.dynamic_sampling:
        raise ConfigError(
            "rollout.ahead and algorithm.dynamic_sampling exclude each other: how much is to be "
            "sampled is known only after scoring",
            remedy="set one of them to false",
        )


def _table(tree: Mapping[str, Any], prefix: str) -> list[str]:
    plain = {k: v for k, v in tree.items() if not isinstance(v, dict) and v is not None}
    lines = [f"\n[{prefix}]"] if prefix and plain else []
    # A JSON string, number, boolean or list of them is the same in TOML.
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items()]
    for key, value in tree.items():
        if isinstance(value, dict):
            lines += _table(value, f"{prefix}.{key}" if prefix else key)
    return lines
