"""A scripted service, and a client whose pauses are noted instead of waited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest

from tests.client.fake_service import FakeService, fake_service
from verifier_server.client import AsyncVerifierClient


@dataclass
class Pauses:
    """A sleep that takes no time."""

    seconds: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def service() -> Iterator[FakeService]:
    with fake_service() as service:
        yield service


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
async def client(service: FakeService, pauses: Pauses) -> AsyncIterator[AsyncVerifierClient]:
    async with AsyncVerifierClient(service.url, sleep=pauses, retries=3, batch_size=4) as client:
        yield client
