"""A small, exact GRPO trainer whose only reward source is a verifier service."""
