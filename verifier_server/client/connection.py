"""Where the service is and how its HTTP connections are made, for both clients alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from verifier_server.client.errors import ClientError
from verifier_server.client.exchange import Call
from verifier_server.client.retry import Backoff
from verifier_server.schemas import Item

DEFAULT_URL = "http://127.0.0.1:8000"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Connection:
    """A client's settings.

    Attributes:
        url: the service's root, `http://` or `https://`.
        api_key: sent as a bearer token.
        timeout_s: the longest silence within an answer. Verdicts are streamed, so this
            bounds the wait for one verdict, not for a batch.
        max_connections: requests under way at once, over all calls.
        backoff: when to try again.
        batch_size: most items in one request.
        transport: instead of the network (an ASGI app, a test double).

    Raises:
        ClientError: a value that can't be used.
    """

    url: str
    api_key: str | None = field(repr=False)
    timeout_s: float
    max_connections: int
    backoff: Backoff
    batch_size: int
    transport: httpx.AsyncBaseTransport | None

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ClientError(f"not a URL: {self.url!r}", remedy="write it as http://host:port")
        if min(self.max_connections, self.batch_size) < 1 or self.timeout_s <= 0:
            raise ClientError("max_connections, batch_size and timeout_s must be positive")

    def open(self) -> httpx.AsyncClient:
        """A pool of connections, without a limit of its own: the client has one."""
        key = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        return httpx.AsyncClient(
            base_url=self.url,
            headers=key,
            timeout=httpx.Timeout(self.timeout_s, connect=10.0, pool=None),
            limits=httpx.Limits(max_keepalive_connections=self.max_connections),
            transport=self.transport,
            # A proxy that the environment names can't reach this machine's loopback.
            trust_env=httpx.URL(self.url).host not in _LOOPBACK,
        )

    def call(self, items: Sequence[Item | Mapping[str, Any]]) -> Call:
        """The plan of one call over these items."""
        return Call(items, url=self.url, backoff=self.backoff, batch_size=self.batch_size)
