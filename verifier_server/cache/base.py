"""What a cache of judgements is, and which judgements it may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from verifier_server.verdict import Fault, Judgement, Outcome


class JudgementCache(Protocol):
    """Holds judgements by key. It never fails: what it can't answer is not there."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, Judgement]:
        """Those that are there."""

    def put(self, key: str, judgement: Judgement) -> None:
        """Keeps a judgement; returns at once."""

    async def close(self) -> None:
        """Lets go of what it holds open."""


class NoCache:
    """Keeps nothing."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, Judgement]:
        """Nothing."""
        return {}

    def put(self, key: str, judgement: Judgement) -> None:
        """Drops it."""

    async def close(self) -> None:
        """Does nothing."""


def may_keep(judgement: Judgement, deadline_s: float | None) -> bool:
    """Whether it would be the same the next time.

    A fault of the service's is over by then, and a `time_limit` may have been the caller's
    own deadline, which is no part of the key.
    """
    if judgement.outcome.fault is Fault.SERVICE:
        return False
    return deadline_s is None or judgement.outcome is not Outcome.TIME_LIMIT


__all__ = ["JudgementCache", "NoCache", "may_keep"]
