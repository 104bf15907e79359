"""What was judged before is told again, where it would be the same again."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from verifier_server.bootstrap import Service, build_service
from verifier_server.cache.base import may_keep
from verifier_server.cache.flights import Flights
from verifier_server.cache.memory import MemoryCache
from verifier_server.cache.redis import RedisCache
from verifier_server.errors import ConfigError
from verifier_server.schemas import Item
from verifier_server.settings import Settings
from verifier_server.verdict import Judgement, Outcome, Verdict

REDIS = "/usr/bin/redis-server"


@asynccontextmanager
async def running(cache: str) -> AsyncIterator[Service]:
    service = build_service(Settings(cpu_workers=1, sandbox_workers=1, cache=cache))
    await service.dispatcher.start()
    try:
        yield service
    finally:
        await service.dispatcher.stop()
        await service.cache.close()


def item(completion: str = "pid", **fields: object) -> Item:
    return Item.model_validate({"checker": "misbehaving", "completion": completion, **fields})


async def judged(service: Service, one: Item) -> Verdict:
    [verdict] = await service.scoring.score([one])
    return verdict


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """A Redis of the test's own, on a Unix socket."""
    if not Path(REDIS).exists():
        pytest.skip("there is no redis-server here")
    path = tmp_path / "redis.sock"
    command = [REDIS, "--port", "0", "--unixsocket", str(path), "--save", "", "--dir", tmp_path]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while not path.exists():
            assert process.poll() is None, "redis-server does not start"
        yield f"unix://{path}"
        process.terminate()


async def test_the_second_time_is_told_from_memory() -> None:
    async with running("memory") as service:
        first = await judged(service, item())
        second = await judged(service, item(id="b"))
        anew = await judged(service, item(no_cache=True))
        other = await judged(service, item(prompt="another"))
    assert (first.cached, second.cached, anew.cached, other.cached) == (False, True, False, False)
    assert second.answer == first.answer
    assert (second.id, second.usage.run_s) == ("b", 0)
    assert second.request_hash == first.request_hash == anew.request_hash


async def test_off_is_off() -> None:
    async with running("off") as service:
        await judged(service, item())
        assert not (await judged(service, item())).cached


async def test_a_fault_of_ours_is_judged_again() -> None:
    async with running("memory") as service:
        verdicts = [await judged(service, item("raise a fit")) for _ in range(2)]
    assert {(v.score, v.outcome, v.cached) for v in verdicts} == {
        (None, Outcome.CHECKER_ERROR, False)
    }


@pytest.mark.parametrize(
    ("judgement", "deadline_s", "kept"),
    [
        (Judgement.accept(), None, True),
        (Judgement.accept(), 1.0, True),
        (Judgement.reject(Outcome.TIME_LIMIT, "slow"), None, True),
        (Judgement.reject(Outcome.TIME_LIMIT, "slow"), 1.0, False),
        (Judgement.unscored(Outcome.BAD_REFERENCE, "no gold"), None, True),
        (Judgement.unscored(Outcome.SANDBOX_ERROR, "no box"), None, False),
        (Judgement.unscored(Outcome.CANCELLED, "stopped"), None, False),
    ],
    ids=lambda value: getattr(value, "outcome", value),
)
def test_only_what_would_be_the_same_again_is_kept(
    judgement: Judgement, deadline_s: float | None, kept: bool
) -> None:
    assert may_keep(judgement, deadline_s) is kept


async def test_memory_is_bounded_and_forgets_the_least_used() -> None:
    cache = MemoryCache(size_bytes=10_000, ttl_s=60)
    for number in range(100):
        cache.put(str(number), Judgement.accept("x" * 1000))
    assert list(await cache.get([str(n) for n in range(100)])) == ["96", "97", "98", "99"]
    cache.put("large", Judgement.accept("x" * 20_000))
    assert not await cache.get(["large"])


async def test_memory_forgets_what_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = MemoryCache(size_bytes=10_000, ttl_s=1e-9)
    cache.put("old", Judgement.accept())
    assert not await cache.get(["old"])


async def test_who_leaves_takes_nothing_from_the_others() -> None:
    flights: Flights[int] = Flights()
    works: list[asyncio.Future[int]] = []

    def start() -> asyncio.Future[int]:
        works.append(asyncio.get_running_loop().create_future())
        return works[-1]

    first, shared = flights.join("key", start)
    assert not shared
    second, shared = flights.join("key", start)
    assert shared
    first.cancel()
    await asyncio.sleep(0)
    works[0].set_result(7)
    assert await second == 7
    third, shared = flights.join("key", start)
    assert not shared, "a result that is there is the cache's to tell"
    third.cancel()
    await asyncio.sleep(0)
    assert works[1].cancelled(), "nobody waits for it any more"
    fourth, shared = flights.join("key", start)
    assert not shared, "joined a cancelled flight"
    works[2].set_result(8)
    assert await fourth == 8


async def test_calls_at_the_same_time_share_the_work() -> None:
    async with running("memory") as service:
        calls = [judged(service, item("sleep 0.3")) for _ in range(8)]
        verdicts = await asyncio.gather(*calls)
        assert {verdict.score for verdict in verdicts} == {1}
        assert b'verifier_cache_lookups_total{result="shared"} 7.0' in service.metrics.render()
        assert b'verifier_cache_lookups_total{result="miss"} 1.0' in service.metrics.render()


async def test_redis_is_shared_by_services(redis: str) -> None:
    async with running(redis) as one:
        first = await judged(one, item())
    async with running(redis) as other:
        second = await judged(other, item())
    assert (first.cached, second.cached) == (False, True)
    assert second.answer == first.answer


async def test_what_redis_holds_travels_whole(redis: str) -> None:
    cache = RedisCache(redis, 60, lambda: pytest.fail("Redis fails"))
    kept = {
        "surrogate": Judgement.accept("\ud800", answer="½", components={"a": 0.5, "b": None}),
        "none": Judgement.unscored(Outcome.BAD_REFERENCE, "no gold", evidence={"x": [1, "y"]}),
    }
    for key, judgement in kept.items():
        cache.put(key, judgement)
    await cache.close()
    reader = RedisCache(redis, 60, lambda: pytest.fail("Redis fails"))
    assert await reader.get([*kept, "other"]) == kept
    await reader._redis.set("answerkey:judgement:junk", b'{"outcome": "accepted", "score": 0}')
    await reader._redis.set("answerkey:judgement:list", b"[1]")
    assert not await reader.get(["junk", "list"])
    await reader.close()


async def test_without_its_redis_a_service_judges_everything_anew() -> None:
    with socket.socket() as nobody:  # bound, and never listening
        nobody.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{nobody.getsockname()[1]}"
        async with running(url) as service:
            verdicts = [await judged(service, item("behave", prompt=str(n))) for n in range(3)]
            assert {(v.score, v.cached) for v in verdicts} == {(1, False)}
            assert b"verifier_cache_failures_total 1.0" in service.metrics.render()


def test_a_cache_that_cant_be_had_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ConfigError, match="pip install"):
        RedisCache("redis://localhost", 60, lambda: None)
