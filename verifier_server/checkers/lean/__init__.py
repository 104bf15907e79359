"""Lean 4 proofs, judged by the kernel and not by the absence of error text."""
