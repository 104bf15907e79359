"""A real server process, and HTTP clients for it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from verifier_server.client import LocalServer, VerifierClient


@pytest.fixture(scope="session")
def server() -> Iterator[LocalServer]:
    with LocalServer() as server:
        yield server


@pytest.fixture(scope="session")
def api(server: LocalServer) -> Iterator[httpx.Client]:
    """Plain HTTP, for what the SDK would never send."""
    with httpx.Client(base_url=server.url, timeout=120, trust_env=False) as client:
        yield client


@pytest.fixture(scope="session")
def client(server: LocalServer) -> Iterator[VerifierClient]:
    with VerifierClient(server.url) as client:
        yield client
