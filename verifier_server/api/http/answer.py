"""What every route that judges needs to answer: strict JSON, and clients that go away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from starlette.requests import ClientDisconnect

T = TypeVar("T")


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns; it is cancelled if the client goes away first.

    Raises:
        ClientDisconnect: it did.
    """
    working = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def dump(value: Any) -> bytes:
    """JSON in ASCII: texts may hold lone surrogates, which UTF-8 can't carry."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def json_answer(value: Any) -> Response:
    """The value as an answer."""
    return Response(dump(value), media_type="application/json")
