"""A cache in Redis, which several services share.

Redis is trusted as far as its verdicts are believed: whoever can write to it can grade. A
service without its Redis judges everything anew.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verifier_server.errors import ConfigError
from verifier_server.verdict import Judgement

log = logging.getLogger(__name__)

_PREFIX = "answerkey:judgement:"
_TIMEOUT_S = 0.5
# After a failure Redis is left alone for so long, or each request would wait for it.
_REST_S = 5.0
# Written together, by one command; what comes while so many wait is not kept.
_MOST_WAITING = 10_000
_BATCH = 500


class RedisCache:
    """Judgements at a Redis URL, each for `ttl_s` seconds.

    Args:
        url: `redis://…`, `rediss://…` or `unix://…`.
        ttl_s: how long each is kept.
        on_failure: called each time that Redis could not be asked, or written to.

    Raises:
        ConfigError: the redis package is not installed, or the URL is none.
    """

    def __init__(self, url: str, ttl_s: float, on_failure: Callable[[], None]) -> None:
        try:
            from redis.asyncio import Redis
            from redis.exceptions import RedisError
        except ImportError as error:
            raise ConfigError(
                "a cache in Redis needs the package redis",
                remedy="pip install 'answerkey[redis]', or VERIFIER_CACHE=memory",
            ) from error
        try:
            self._redis: Any = Redis.from_url(
                url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S
            )
        except ValueError as error:
            raise ConfigError(f"VERIFIER_CACHE: {error}", remedy="redis://HOST:PORT/DB") from error
        self._failures = (RedisError, OSError, TimeoutError)
        self._ttl_ms = max(1, round(1000 * ttl_s))
        self._on_failure = on_failure
        self._rests_until_s = 0.0
        self._waiting: dict[str, Judgement] = {}
        self._writing: asyncio.Task[None] | None = None

    async def get(self, keys: Sequence[str]) -> Mapping[str, Judgement]:
        """Those that are there; none while Redis does not answer."""
        if not keys or self._rests:
            return {}
        try:
            found = await self._redis.mget([_PREFIX + key for key in keys])
        except self._failures as error:
            self._fail(error)
            return {}
        pairs = ((key, _read(value)) for key, value in zip(keys, found, strict=True) if value)
        return {key: judgement for key, judgement in pairs if judgement}

    def put(self, key: str, judgement: Judgement) -> None:
        """Keeps a judgement; it is written in the background, with others."""
        if self._rests or len(self._waiting) >= _MOST_WAITING:
            return
        self._waiting[key] = judgement
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def close(self) -> None:
        """Writes what waits, and hangs up."""
        if self._writing:
            await self._writing
        await self._redis.aclose()

    @property
    def _rests(self) -> bool:
        return time.monotonic() < self._rests_until_s

    async def _write(self) -> None:
        while self._waiting:
            batch = [self._waiting.popitem() for _ in range(min(_BATCH, len(self._waiting)))]
            pipeline = self._redis.pipeline(transaction=False)
            for key, judgement in batch:
                text = json.dumps(judgement.to_wire(), allow_nan=False)
                pipeline.set(_PREFIX + key, text, px=self._ttl_ms)
            try:
                await pipeline.execute()
            except self._failures as error:
                self._fail(error)
                self._waiting.clear()

    def _fail(self, error: Exception) -> None:
        self._on_failure()
        self._rests_until_s = time.monotonic() + _REST_S
        log.warning("the cache in Redis fails, everything is judged anew: %s", error)


def _read(value: bytes) -> Judgement | None:
    """None for what no service of this release wrote."""
    try:
        return Judgement.from_wire(json.loads(value))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


__all__ = ["RedisCache"]
