"""Rewards that the client adds by itself, since it alone counts tokens."""

from __future__ import annotations


def overlong_penalty(tokens: int, max_tokens: int, cache_tokens: int) -> float:
    """What a completion's length adds to its reward: 0 down to -1.

    0 up to max_tokens - cache_tokens, then falling linearly, -1 at max_tokens.

    Args:
        tokens: of the completion, the end-of-sequence token included.
        max_tokens: L_max, the length limit.
        cache_tokens: L_cache, the last stretch before it; 0 punishes nothing.

    Source: DAPO (arXiv 2503.14476) eq. 13.
    """
    if cache_tokens == 0:
        return 0.0
    return min(0.0, max(-1.0, (max_tokens - cache_tokens - tokens) / cache_tokens))
