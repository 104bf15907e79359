"""Puts the HTTP API together from its routers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from verifier_server import __version__
from verifier_server.api.http import auth, compat, meta, problems, score
from verifier_server.checkers.registry import Registry
from verifier_server.dispatch.base import Dispatcher
from verifier_server.schemas import Batch, Item
from verifier_server.service import ScoringService
from verifier_server.settings import Settings
from verifier_server.telemetry.metrics import Metrics


def create_app(
    settings: Settings,
    registry: Registry,
    dispatcher: Dispatcher,
    service: ScoringService,
    metrics: Metrics,
    sandbox: str,
    close: Callable[[], Awaitable[None]],
) -> FastAPI:
    """The ASGI application; it starts and stops the dispatcher, then calls `close`."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await dispatcher.start()
        yield
        await dispatcher.stop()
        await close()

    app = FastAPI(
        title="Answer Key",
        version=__version__,
        description="Scores model completions with hardened, pluggable checkers.",
        lifespan=lifespan,
    )
    problems.install(app)
    guard = [Depends(auth.key_guard(settings))]
    app.include_router(meta.health_router(dispatcher))
    app.include_router(score.router(service, settings), dependencies=guard)
    app.include_router(compat.router(service, settings), dependencies=guard)
    app.include_router(meta.router(registry, service, metrics, sandbox), dependencies=guard)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The schema, with the request models that `score` reads by hand."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        _, definitions = models_json_schema(
            [(Item, "validation"), (Batch, "validation")],
            ref_template="#/components/schemas/{model}",
        )
        schema["components"]["schemas"].update(definitions["$defs"])
        app.openapi_schema = schema
    return app.openapi_schema
