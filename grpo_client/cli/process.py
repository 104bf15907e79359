"""What a command sets for its whole process."""

from __future__ import annotations

import torch
from transformers.utils import logging

from grpo_client.config import Config


def prepare_process(config: Config) -> None:
    """Threads as configured; no progress bars of libraries between our lines."""
    torch.set_num_threads(config.threads)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
