"""The composition root: settings in, a running service out."""

from __future__ import annotations

import asyncio
import logging
import math
import socket
from contextlib import closing
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

from sandboxes.base import SandboxUnavailable
from sandboxes.registry import open_provider, settle
from verifier_server.api.http.app import create_app
from verifier_server.cache.base import JudgementCache, NoCache
from verifier_server.cache.memory import MemoryCache
from verifier_server.cache.redis import RedisCache
from verifier_server.checkers.registry import Registry, get_registry
from verifier_server.dispatch.base import Dispatcher
from verifier_server.dispatch.in_process import InProcessDispatcher
from verifier_server.errors import ConfigError
from verifier_server.ledger.base import NoLedger, Recorder
from verifier_server.service import ScoringService
from verifier_server.settings import Settings
from verifier_server.telemetry.metrics import Metrics

log = logging.getLogger(__name__)

_BACKLOG = 2048
# How long a stopping server may take to send what it has, once judging has ended.
_ANSWER_S = 5.0


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of a service, put together; `dispatcher` must be started before it scores."""

    registry: Registry
    dispatcher: Dispatcher
    metrics: Metrics
    cache: JudgementCache
    ledger: Recorder
    scoring: ScoringService
    sandbox: str

    async def close(self) -> None:
        """Lets go of what outlives the dispatcher, when that has been stopped."""
        await self.cache.close()
        await asyncio.to_thread(self.ledger.close)


def build_service(settings: Settings) -> Service:
    """A service without a transport. Raises ConfigError if its parts can't be had."""
    # Once for all workers, which would each find out for itself.
    settings = settings.model_copy(update={"sandbox": settle(settings.sandbox)})
    registry = get_registry()
    dispatcher = InProcessDispatcher(settings, registry)
    ledger = _ledger(settings)
    metrics = Metrics(dispatcher.stats, ledger.stats)
    cache = _cache(settings, metrics)
    sandbox = _sandbox_in_force(settings)
    scoring = ScoringService(registry, dispatcher, metrics, cache, ledger, sandbox)
    return Service(registry, dispatcher, metrics, cache, ledger, scoring, sandbox)


def _cache(settings: Settings, metrics: Metrics) -> JudgementCache:
    if settings.cache == "off":
        return NoCache()
    if settings.cache == "memory":
        return MemoryCache(settings.cache_bytes, settings.cache_ttl_s)
    return RedisCache(settings.cache, settings.cache_ttl_s, metrics.count_cache_failure)


def _ledger(settings: Settings) -> Recorder:
    """The ledger that is set; the default one only where its place can be written to."""
    if settings.ledger == "off":
        return NoLedger()
    from verifier_server.ledger.store import LedgerStore
    from verifier_server.ledger.writer import LedgerWriter

    try:
        store = LedgerStore(settings.ledger_url)
    except ConfigError as error:
        if settings.ledger != "auto":
            raise
        log.warning("verdicts are not recorded: %s", error)
        return NoLedger()
    return LedgerWriter(
        store,
        keeps_completion=settings.ledger_texts == "keep",
        keep_days=settings.ledger_days,
    )


def build_app(settings: Settings, service: Service) -> FastAPI:
    """That service behind HTTP, as an ASGI application."""
    return create_app(
        settings,
        service.registry,
        service.dispatcher,
        service.scoring,
        service.metrics,
        service.sandbox,
        service.close,
    )


def serve(settings: Settings, fd: int | None = None) -> None:
    """Serves until told to stop (SIGTERM, SIGINT); in-flight requests are finished.

    Args:
        settings: all of them.
        fd: a listening socket to serve instead of `host` and `port`.

    Raises:
        ConfigError: the address can't be listened on.
    """
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    listener = _listen(settings, fd)
    service = build_service(settings)
    config = uvicorn.Config(
        build_app(settings, service),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=math.ceil(settings.drain_s + _ANSWER_S),
    )
    _Server(config, service.dispatcher, settings.drain_s).run([listener])


class _Server(uvicorn.Server):
    """Finishes requests for `drain_s`; what is not judged by then is answered as cancelled."""

    def __init__(self, config: uvicorn.Config, dispatcher: Dispatcher, drain_s: float) -> None:
        super().__init__(config)
        self._dispatcher = dispatcher
        self._drain_s = drain_s

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        cut = asyncio.create_task(self._cut_short())
        await super().shutdown(sockets)
        cut.cancel()

    async def _cut_short(self) -> None:
        await asyncio.sleep(self._drain_s)
        await self._dispatcher.stop()


def _listen(settings: Settings, fd: int | None) -> socket.socket:
    """The socket to serve on. Of its true family: uvicorn takes a bare fd for a Unix socket,
    and so leaves TCP's delays on, which costs 40 ms a request. Raises ConfigError.
    """
    try:
        if fd is not None:
            return socket.socket(fileno=fd)
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        address = (settings.host, settings.port)
        return socket.create_server(address, family=family, backlog=_BACKLOG)
    except OSError as error:
        where = f"{settings.host} port {settings.port}" if fd is None else f"descriptor {fd}"
        raise ConfigError(
            f"can't listen on {where}: {error.strerror}",
            remedy="stop what listens there, or choose another with --host and --port",
        ) from error


def _sandbox_in_force(settings: Settings) -> str:
    """What boxes isolate with here. Without any the service still judges what needs none."""
    try:
        with closing(open_provider(settings.sandbox_address)) as provider:
            probe = provider.probe()
    except SandboxUnavailable as error:
        log.warning("items that need a sandbox will come back unscored: %s", error)
        return "none available"
    if not probe.available:
        reasons = "; ".join(
            f"{f.what}: {f.detail} ({f.remedy})" for f in probe.findings if not f.ok
        )
        log.warning("items that need a sandbox will come back unscored: %s", reasons)
        return "none available"
    log.info("sandbox: %s", probe.isolation)
    return probe.isolation
