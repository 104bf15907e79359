"""A cache in the service's own memory: the least recently used goes first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from cachetools import TTLCache

from verifier_server.verdict import Judgement

# Of a judgement without its texts, with its key and its place in the cache (measured).
_ENTRY_BYTES = 1200


class MemoryCache:
    """Judgements that take up to `size_bytes` together, each for `ttl_s` seconds."""

    def __init__(self, size_bytes: int, ttl_s: float) -> None:
        self._kept: TTLCache[str, Judgement] = TTLCache(size_bytes, ttl_s, getsizeof=_size_bytes)

    async def get(self, keys: Sequence[str]) -> Mapping[str, Judgement]:
        """Those that are there."""
        kept = self._kept
        return {key: found for key in keys if (found := kept.get(key)) is not None}

    def put(self, key: str, judgement: Judgement) -> None:
        """Keeps a judgement, unless it alone is larger than the cache."""
        if _size_bytes(judgement) <= self._kept.maxsize:
            self._kept[key] = judgement

    async def close(self) -> None:
        """Empties it."""
        self._kept.clear()


def _size_bytes(judgement: Judgement) -> int:
    """About what it takes, by its texts' length: measuring exactly costs more than keeping."""
    texts = len(judgement.explanation) + len(judgement.answer or "")
    if judgement.cases or judgement.evidence:
        texts += len(json.dumps(judgement.to_wire()))
    return _ENTRY_BYTES + texts


__all__ = ["MemoryCache"]
