"""Other services' dialects: a client of theirs changes its URL and nothing else.

A dialect is a module with a `router(service, settings)`, mounted here below its name. It turns
requests into items and verdicts into what its clients take for an answer, and adds the verdict
itself as a field; a verdict without a score becomes what they take for an error of the
service, never a 0.
"""

from __future__ import annotations

from fastapi import APIRouter

from verifier_server.api.http.compat import kimina
from verifier_server.service import ScoringService
from verifier_server.settings import Settings

_DIALECTS = {"kimina": kimina.router}


def router(service: ScoringService, settings: Settings) -> APIRouter:
    """The routes of all dialects."""
    routes = APIRouter(prefix="/compat")
    for name, dialect in _DIALECTS.items():
        routes.include_router(dialect(service, settings), prefix=f"/{name}", tags=[name])
    return routes


__all__ = ["router"]
