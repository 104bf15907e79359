"""Sampling completions, behind one protocol."""
