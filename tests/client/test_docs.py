"""The blocks of docs/sdk.md run as they stand, against a real server."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT
from verifier_server.client import DEFAULT_URL, LocalServer

BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/sdk.md").read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with LocalServer() as server:
        yield server.url


def test_there_are_blocks() -> None:
    assert len(BLOCKS) == 5


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_runs(block: str, url: str) -> None:
    code = block.replace(DEFAULT_URL, url)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
