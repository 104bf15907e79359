"""Advantages, weights and the loss: pure functions, formulas with their source."""
