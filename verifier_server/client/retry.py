"""When to try again: exponential backoff with full jitter, and what servers ask for."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """The pause before a further try.

    Attributes:
        retries: tries after the first.
        first_s: the longest pause before the first retry; doubles with each.
        longest_s: no pause is longer, whatever the server asks for, jitter apart.

    Source: "full jitter" of M. Brooker, Exponential Backoff And Jitter (AWS, 2015).
    """

    retries: int = 4
    first_s: float = 1.0
    longest_s: float = 30.0

    def pause_s(self, retry: int, asked_s: float | None = None) -> float:
        """Seconds to wait before retry number `retry` (from 0).

        `asked_s` is the server's Retry-After. Jitter comes on top of it, for every client
        that was turned away together would else return together.
        """
        ceiling = min(self.longest_s, self.first_s * 2.0 ** min(retry, 64))
        jitter = random.uniform(0.0, ceiling)  # noqa: S311 (spreads load, guards nothing)
        return jitter + min(asked_s or 0.0, self.longest_s)


def retry_after_s(header: str | None) -> float | None:
    """The seconds a Retry-After header asks for. A date in it is ignored: clocks differ."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
