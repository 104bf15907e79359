"""Judgements kept for the next time that the same thing is asked."""
