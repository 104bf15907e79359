"""API keys: `Authorization: Bearer KEY`, compared in constant time."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from fastapi import Request

from verifier_server.api.http.problems import RequestProblem
from verifier_server.settings import Settings


def key_guard(settings: Settings) -> Callable[[Request], Awaitable[None]]:
    """A dependency that refuses requests without one of the keys; none set, all may pass."""
    keys = [key.get_secret_value().encode() for key in settings.api_keys]

    async def guard(request: Request) -> None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        # Headers come decoded as Latin-1; a key may be any UTF-8.
        offered = given.encode("latin-1") if scheme.lower() == "bearer" else b""
        # Every key is compared, so that the time taken tells nothing of which one is near.
        matches = [hmac.compare_digest(offered, key) for key in keys]
        if keys and not any(matches):
            raise RequestProblem(
                HTTPStatus.UNAUTHORIZED,
                "no valid API key; send `Authorization: Bearer KEY` with one of VERIFIER_API_KEYS",
            )

    return guard
