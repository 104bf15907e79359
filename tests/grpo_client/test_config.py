from __future__ import annotations

from pathlib import Path

import pytest

from grpo_client.config import Config, load_config, to_toml
from grpo_client.data import load_prompts
from grpo_client.errors import ConfigError

BASE = ["data.train=rows.jsonl", "model.path=model"]


def test_overrides_win_over_the_file_and_later_ones_over_earlier(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text("seed = 3\n[train]\nsteps = 7\nlearning_rate = 1e-3\n")
    config = load_config(path, [*BASE, "train.steps=8", "train.steps=9"])
    assert (config.seed, config.train.steps, config.train.learning_rate) == (3, 9, 1e-3)


def test_values_are_toml_and_bare_words_are_strings() -> None:
    config = load_config(
        None,
        [*BASE, "out=runs/a b", "reward.shuffle=true", "evaluate.k=[1, 4]", "evaluate.samples=4"],
    )
    assert config.out == "runs/a b"
    assert config.reward.shuffle is True
    assert config.evaluate.k == (1, 4)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("train.stpes=3", r"unknown key train\.stpes \(did you mean train\.steps\?\)"),
        ("trian.steps=3", r"unknown key trian \(did you mean train\?\)"),
        ("model.new.hiden_size=3", r"did you mean model\.new\.hidden_size\?"),
        ("train.steps=many", r"train\.steps: .*integer, not 'many'"),
        ("train.steps=1.5", r"train\.steps: .*integer"),
        ("train.steps=0", r"train\.steps: .*greater than or equal to 1"),
        ("train.learning_rate=nan", r"train\.learning_rate"),
        ("reward.shuffle=1", r"reward\.shuffle: .*boolean"),
        ("rollout.group_size=1", r"rollout\.group_size"),
        ("algorithm.preset=gpro", r"algorithm\.preset: .*'grpo', 'dr_grpo'"),
        ("train.steps", r"write it as train\.steps=10"),
        ("seed.x=1", "seed"),
        ("train=3", "train"),
        ("evaluate.k=[1,2]", "k must include 1 and be at most samples"),
        ("data.recipe=arithmetic", "exclude each other"),
        ("data.train=", "no data"),
        ("model.new.layers=2", r"model\.path and \[model\.new\]"),
        ("warm_start.max_steps=5", "demonstrations"),
        ("algorithm.preset=gspo train.minibatches=1", "at least 2"),
        ("algorithm.preset=gspo algorithm.normalize=token", "normalize = 'sequence'"),
        ("algorithm.mismatch_low=3", "mismatch_low is above"),
        ("algorithm.reference_every=3", "without algorithm.kl_coef"),
        ("algorithm.preset=dapo rollout.ahead=true", "exclude each other"),
        ("data.template=Question", r"must hold \{prompt\}"),
    ],
)
def test_a_bad_setting_names_its_key(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(None, [*BASE, *override.split()])


def test_an_unreadable_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        load_config(tmp_path / "nowhere.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("steps = = 3")
    with pytest.raises(ConfigError, match=r"broken\.toml is not TOML"):
        load_config(broken)


def test_a_preset_fills_what_the_user_left_open() -> None:
    config = load_config(None, [*BASE, "algorithm.preset=dr_grpo", "algorithm.clip_high=0.3"])
    algorithm = config.algorithm
    assert (algorithm.advantage, algorithm.normalize) == ("mean", "constant")
    assert (algorithm.clip_low, algorithm.clip_high) == (0.2, 0.3)


def test_the_default_preset_is_grpo_with_the_population_std() -> None:
    algorithm = load_config(None, BASE).algorithm
    assert (algorithm.preset, algorithm.advantage) == ("grpo", "population")
    assert algorithm.normalize == "sequence"


def test_the_printed_configuration_loads_to_itself(tmp_path: Path) -> None:
    config = load_config(
        None,
        ['data.recipe="arithmetic"', "model.new.layers=3", 'out=quo"te\\', "evaluate.samples=2"],
    )
    path = tmp_path / "printed.toml"
    path.write_text(to_toml(config))
    assert load_config(path) == config
    assert config != Config()


@pytest.mark.parametrize("name", ["arithmetic", "r1_zero"])
def test_the_bundled_recipes_are_valid_configurations(repo_root: Path, name: str) -> None:
    config = load_config(repo_root / "recipes" / f"{name}.toml")
    assert config.algorithm.preset == "grpo"
    assert load_prompts(config.data)[1]


def test_a_preset_may_set_other_tables_and_what_the_user_writes_wins() -> None:
    assert load_config(None, [*BASE, "algorithm.preset=gspo"]).train.minibatches == 4
    chosen = load_config(None, [*BASE, "algorithm.preset=gspo", "train.minibatches=2"])
    assert chosen.train.minibatches == 2
