"""Every error the trainer raises by itself; what the SDK raises passes through unchanged.

TrainerError          has `remedy`, a sentence that says what to do about it
|- ConfigError        the configuration can't be read or makes no sense
|- DataError          a row of the data can't be used; names file and line
|- ModelError         the policy can't be loaded or used as it must be
|- RewardError        the verifier's answers can't be trained on
|- NotFinite          a loss or gradient is NaN or infinite
"""

from __future__ import annotations


class TrainerError(Exception):
    """Base of all. `remedy` completes the message with what to do; it may be empty."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} ({self.remedy})" if self.remedy else message


class ConfigError(TrainerError):
    """The configuration can't be read, or its values don't go together."""


class DataError(TrainerError):
    """A row of the data can't be used."""


class ModelError(TrainerError):
    """The policy can't be loaded, or can't be used as training needs it."""


class RewardError(TrainerError):
    """The verifier answered, but not in a way that a policy may be trained on."""


class NotFinite(TrainerError):
    """A loss or a gradient is NaN or infinite; nothing was updated by it."""
