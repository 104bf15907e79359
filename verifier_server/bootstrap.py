"""The composition root: settings in, a running service out."""

from __future__ import annotations

import logging
import socket
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

from sandboxes.base import SandboxUnavailable
from sandboxes.registry import open_provider
from verifier_server.api.http.app import create_app
from verifier_server.checkers.registry import Registry, get_registry
from verifier_server.dispatch.base import Dispatcher
from verifier_server.dispatch.in_process import InProcessDispatcher
from verifier_server.service import ScoringService
from verifier_server.settings import Settings
from verifier_server.telemetry.metrics import Metrics

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of a service, put together; `dispatcher` must be started before it scores."""

    registry: Registry
    dispatcher: Dispatcher
    metrics: Metrics
    scoring: ScoringService


def build_service(settings: Settings) -> Service:
    """A service without a transport."""
    registry = get_registry()
    dispatcher = InProcessDispatcher(settings, registry)
    metrics = Metrics(dispatcher.stats)
    return Service(registry, dispatcher, metrics, ScoringService(registry, dispatcher, metrics))


def build_app(settings: Settings) -> FastAPI:
    """A service behind HTTP, as an ASGI application."""
    service = build_service(settings)
    return create_app(
        settings,
        service.registry,
        service.dispatcher,
        service.scoring,
        service.metrics,
        _sandbox_in_force(settings),
    )


def serve(settings: Settings, fd: int | None = None) -> None:
    """Serves until told to stop (SIGTERM, SIGINT); in-flight requests are finished.

    Args:
        settings: all of them.
        fd: a listening socket to serve instead of `host` and `port`.
    """
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    config = uvicorn.Config(
        build_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=int(settings.drain_s),
    )
    # As a socket of its true family: uvicorn takes a bare fd for a Unix socket, and so leaves
    # TCP's delays on, which costs 40 ms a request.
    sockets = None if fd is None else [socket.socket(fileno=fd)]
    uvicorn.Server(config).run(sockets)


def _sandbox_in_force(settings: Settings) -> str:
    """What boxes isolate with here. Without any the service still judges what needs none."""
    try:
        probe = open_provider(settings.sandbox).probe()
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
