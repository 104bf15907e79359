"""The training loop and what it stands on: batches, optimiser, checkpoints, warm start."""
