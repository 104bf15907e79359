"""pass@k by the same service that rewards the training."""
