"""Policies: any Hugging Face causal LM, and exact log-probabilities of what it sampled."""
