"""Transports over the scoring service."""
