"""Routes about the service itself: checkers, health, version, metrics, self-test."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from verifier_server import __version__
from verifier_server.api.http.problems import RequestProblem
from verifier_server.checkers.registry import Registry
from verifier_server.dispatch.base import Dispatcher
from verifier_server.errors import UnknownChecker
from verifier_server.schemas import CheckerInfo, Problem
from verifier_server.selftest import SelfTestReport, self_test
from verifier_server.service import ScoringService
from verifier_server.telemetry.metrics import CONTENT_TYPE, Metrics

API_VERSION = "1"


def health_router(dispatcher: Dispatcher) -> APIRouter:
    """Routes that need no key: a load balancer has none."""
    routes = APIRouter()

    @routes.get("/healthz", summary="Whether the process serves")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @routes.get("/readyz", summary="Whether items sent now would be judged")
    async def readyz() -> JSONResponse:
        ready = dispatcher.is_ready()
        queues = {
            resource: {"queued": state.queued, "running": state.running}
            for resource, state in dispatcher.stats().items()
        }
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse({"ready": ready, "queues": queues}, status_code=status)

    return routes


def router(
    registry: Registry, service: ScoringService, metrics: Metrics, sandbox: str
) -> APIRouter:
    """The other routes; `sandbox` says what boxes of this service isolate with."""
    routes = APIRouter()

    @routes.get("/checkers", summary="Every checker, broken ones with the reason")
    async def checkers() -> list[CheckerInfo]:
        return [registry.describe(name) for name in registry.names()]

    @routes.get(
        "/checkers/{name}", responses={404: {"model": Problem}}, summary="One checker's schema"
    )
    async def checker(name: str) -> CheckerInfo:
        try:
            return registry.describe(name)
        except UnknownChecker as error:
            raise RequestProblem(HTTPStatus.NOT_FOUND, str(error)) from error

    @routes.post("/selftest", summary="Every checker judges its own examples, through the service")
    async def selftest() -> SelfTestReport:
        return await self_test(registry, service)

    @routes.get("/version", summary="Versions, and the sandbox in force")
    async def version() -> dict[str, Any]:
        return {"version": __version__, "api": API_VERSION, "sandbox": sandbox}

    @routes.get("/metrics", response_class=Response, summary="Prometheus metrics")
    async def scrape() -> Response:
        return Response(metrics.render(), media_type=CONTENT_TYPE)

    return routes
