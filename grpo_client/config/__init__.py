"""What a run is made of: one tree of dataclasses, read from TOML and overrides."""

from grpo_client.config.algorithm import AlgorithmConfig, CriticConfig
from grpo_client.config.load import load_config, to_toml
from grpo_client.config.schema import (
    Config,
    DataConfig,
    EvaluateConfig,
    LoraConfig,
    ModelConfig,
    NewModelConfig,
    RewardConfig,
    RolloutConfig,
    TrainConfig,
    WarmStartConfig,
)

__all__ = [
    "AlgorithmConfig",
    "Config",
    "CriticConfig",
    "DataConfig",
    "EvaluateConfig",
    "LoraConfig",
    "ModelConfig",
    "NewModelConfig",
    "RewardConfig",
    "RolloutConfig",
    "TrainConfig",
    "WarmStartConfig",
    "load_config",
    "to_toml",
]
