"""A dispatcher and an app over the installed checkers plus a plugin that misbehaves."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from verifier_server.bootstrap import Service, build_service
from verifier_server.checkers.registry import get_registry
from verifier_server.settings import Settings

PLUGINS = Path(__file__).parent.parent / "plugins"


@pytest.fixture(scope="package", autouse=True)
def misbehaving_plugin() -> Iterator[None]:
    """Installs the plugin as pip would: by its metadata on the path, here and in workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(PLUGINS))
        patch.syspath_prepend(str(PLUGINS))
        get_registry.cache_clear()
        yield
    get_registry.cache_clear()
    for name in [name for name in sys.modules if name.startswith("misbehaving")]:
        del sys.modules[name]


@pytest_asyncio.fixture
async def service() -> AsyncIterator[Service]:
    """A running service in this process, with two workers a lane."""
    service = build_service(Settings(cpu_workers=2, sandbox_workers=2, sandbox="bubblewrap"))
    await service.dispatcher.start()
    yield service
    await service.dispatcher.stop()
