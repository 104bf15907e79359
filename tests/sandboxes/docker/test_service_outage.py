"""The service over an engine that is killed in the middle: no zero, and no restart of ours."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.sandboxes.conftest import until
from tests.sandboxes.docker.own_engine import OwnEngine
from verifier_server.client import LocalServer

RIGHT = "def f(x):\n    return x + 1\n"
WRONG = "def f(x):\n    return x\n"
ENDLESS = "import time\ndef f(x):\n    time.sleep(500)\n"


@pytest.fixture(scope="module")
def server(own: OwnEngine) -> Iterator[LocalServer]:
    env = {"VERIFIER_SANDBOX": "nested", "DOCKER_HOST": own.url}
    with LocalServer(env=env) as server:
        yield server


def score(server: LocalServer, program: str, time_s: float = 10.0) -> dict[str, Any]:
    params = {
        "language": "python",
        "mode": "function",
        "function": "f",
        "tests": [{"args": [1], "returns": 2}],
        "limits": {"time_s": time_s},
    }
    item = {"checker": "code", "completion": f"```python\n{program}```", "params": params}
    verdict: dict[str, Any] = httpx.post(
        f"{server.url}/score", json=item, timeout=120, trust_env=False
    ).json()
    return verdict


def test_killed_and_restarted(own: OwnEngine, server: LocalServer) -> None:
    own.restart()
    assert score(server, RIGHT)["outcome"] == "accepted"

    told: list[dict[str, Any]] = []
    running = threading.Thread(target=lambda: told.append(score(server, ENDLESS, 100.0)))
    running.start()
    until(own.is_busy, "the program did not start")
    own.kill()
    running.join()
    again = RIGHT + "# another program, whose verdict is not known yet\n"
    told.append(score(server, again))
    for verdict in told:
        assert (verdict["outcome"], verdict["fault"]) == ("sandbox_error", "service"), verdict
        assert verdict["score"] is None

    own.start()
    assert score(server, again)["outcome"] == "accepted"
    assert score(server, WRONG)["outcome"] == "wrong_answer"


def test_absent_when_the_service_starts(own: OwnEngine) -> None:
    own.stop()
    with LocalServer(env={"VERIFIER_SANDBOX": "nested", "DOCKER_HOST": own.url}) as server:
        verdict = score(server, RIGHT)
        assert (verdict["outcome"], verdict["score"]) == ("sandbox_error", None)
        own.start()
        verdict = score(server, RIGHT)
        assert (verdict["outcome"], verdict["isolation"]) == (
            "accepted",
            "docker+runc+namespaces",
        )
