from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandboxes.base import SandboxProvider
from sandboxes.registry import open_provider


@pytest.fixture(scope="session")
def provider() -> Iterator[SandboxProvider]:
    """The strongest sandbox of this host."""
    opened = open_provider("auto")
    yield opened
    opened.close()
