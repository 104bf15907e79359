"""Clients that go away, and a server that is told to."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import ROOT
from verifier_server.client import LocalServer

MANY = 400


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def server(log: Path) -> Iterator[LocalServer]:
    """Serves the plugin that sleeps as told, two items at once; stops within a second."""
    env = {
        "PYTHONPATH": str(ROOT / "tests" / "plugins"),
        "VERIFIER_CPU_WORKERS": "2",
        "VERIFIER_DRAIN_S": "0.5",
    }
    with LocalServer(env=env, log=log) as server:
        yield server


def sleepy(count: int) -> bytes:
    """A batch that takes its two workers 0.2 s an item."""
    items = [
        {"checker": "misbehaving", "completion": "sleep 0.4", "params": {"broken": f"/nowhere/{n}"}}
        for n in range(count)
    ]
    return json.dumps({"items": items}).encode()


def post(
    server: LocalServer, body: bytes, *, accept: str = "*/*", missing: int = 0
) -> socket.socket:
    """A connection on which the request was sent, but for its last `missing` bytes."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    head = (
        f"POST /score HTTP/1.1\r\nHost: here\r\nAccept: {accept}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body) + missing}\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    return connection


def items_at_hand(server: LocalServer) -> int:
    queues = httpx.get(f"{server.url}/readyz", trust_env=False).json()["queues"]
    return sum(queues["cpu"].values())


def wait_for(condition: Callable[[], Any], what: str, timeout_s: float = 10) -> None:
    end_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end_s, f"waited {timeout_s} s in vain for: {what}"
        time.sleep(0.02)


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_what_a_client_that_left_asked_for_is_not_judged(server: LocalServer, accept: str) -> None:
    connection = post(server, sleepy(MANY), accept=accept)
    wait_for(lambda: items_at_hand(server) > MANY // 2, "the batch to be taken up")
    connection.close()
    wait_for(lambda: items_at_hand(server) == 0, "the batch to be dropped")


def test_an_upload_that_breaks_off_is_no_error_of_the_service(
    server: LocalServer, log: Path
) -> None:
    post(server, b'{"items": [', missing=100).close()
    assert httpx.get(f"{server.url}/healthz", trust_env=False).status_code == 200
    server.stop()
    assert "Traceback" not in log.read_text()
    assert "a request failed" not in log.read_text()


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_server_that_stops_answers_for_every_item(server: LocalServer, accept: str) -> None:
    with post(server, sleepy(MANY), accept=accept) as connection:
        wait_for(lambda: items_at_hand(server) > MANY // 2, "the batch to be taken up")
        assert server.pid is not None
        os.kill(server.pid, signal.SIGTERM)
        with connection.makefile("rb") as reader:
            answer = reader.read()
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.count(b'"request_hash"') == MANY
    assert answer.count(b'"cancelled","fault":"service","score":null') > MANY // 2
    assert b'"accepted"' in answer


def test_a_port_in_use_is_told_with_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "verifier_server.cli.main", "serve", "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert port in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr
