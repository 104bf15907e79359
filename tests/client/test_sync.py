"""The synchronous client is the asynchronous one to the letter, in ordinary code."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from tests.client.fake_service import Exchange, FakeService, honest
from tests.client.test_scoring import alternating, closed_port, item
from verifier_server.client import (
    AsyncVerifierClient,
    CheckerInfo,
    ClientError,
    ProtocolError,
    VerifierClient,
    VerifierUnreachable,
)
from verifier_server.client.trl import reward_func


def public(kind: type) -> dict[str, list[str]]:
    return {
        name: list(inspect.signature(method).parameters)
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


def test_both_clients_offer_the_same_methods_and_arguments() -> None:
    assert public(VerifierClient) == public(AsyncVerifierClient) | {"close": ["self"]}


def test_scores_come_in_request_order(service: FakeService) -> None:
    with VerifierClient(service.url, batch_size=2) as client:
        assert [v.score for v in client.score(alternating(7))] == [0, 1, 0, 1, 0, 1, 0]
        assert client.score_one("exact", "4", {"answer": "4"}).score == 1


def test_verdicts_are_yielded_while_others_are_still_judged(service: FakeService) -> None:
    seen = threading.Event()

    def second_waits(exchange: Exchange) -> None:
        seen.wait(10)
        honest(exchange)

    service.script.extend([honest, second_waits])
    with VerifierClient(service.url, batch_size=1, max_connections=1) as client:
        stream = client.score_stream(alternating(2))
        assert next(stream).index == 0
        seen.set()
        assert [v.index for v in stream] == [1]


def test_a_stream_left_early_frees_the_client(service: FakeService) -> None:
    with VerifierClient(service.url, batch_size=1, max_connections=1) as client:
        for _ in client.score_stream(alternating(200)):
            break
        before = len(service.requests)
        for _ in range(10):
            assert client.score_one("exact", "4", {"answer": "4"}).score == 1
        assert len(service.requests) < before + 15


def test_a_stream_of_a_closed_client_ends(service: FakeService) -> None:
    with VerifierClient(service.url, batch_size=1, max_connections=1) as client:
        stream = client.score_stream(alternating(200))
        next(stream)
    with pytest.raises(CancelledError):
        list(stream)


def test_errors_reach_the_caller(service: FakeService) -> None:
    service.always = lambda exchange: exchange.problem(401, "who are you?")
    with VerifierClient(service.url) as client:
        with pytest.raises(ClientError, match="who are you"):
            client.score([item("4")])
        with pytest.raises(ClientError, match="who are you"):
            list(client.score_stream([item("4")]))


def test_threads_may_share_a_client(service: FakeService) -> None:
    with VerifierClient(service.url, max_connections=2) as client, ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda n: client.score(alternating(n)), range(1, 7)))
    assert [len(verdicts) for verdicts in results] == [1, 2, 3, 4, 5, 6]


async def test_it_works_where_an_event_loop_is_running(service: FakeService) -> None:
    def score() -> float | None:
        with VerifierClient(service.url) as client:
            return client.score_one("exact", "4", {"answer": "4"}).score

    assert asyncio.get_running_loop().is_running()
    assert score() == 1


def test_the_telling_routes(service: FakeService) -> None:
    service.pages = {
        "/readyz": (503, {"detail": "warming"}),
        "/version": (200, {"version": "1.2"}),
        "/checkers": (200, [{"name": "math"}]),
        "/checkers/math": (200, {"name": "math", "version": "3"}),
        "/checkers/odd": (200, {"surprise": True}),
    }
    with VerifierClient(service.url) as client:
        assert client.ready() is False
        service.pages["/readyz"] = (200, {})
        client.wait_ready(5)
        assert client.version() == {"version": "1.2"}
        assert client.checkers() == [CheckerInfo(name="math")]
        assert client.checker("math").version == "3"
        with pytest.raises(ClientError, match="no such page") as caught:
            client.checker("none")
        assert caught.value.status == 404
        with pytest.raises(ProtocolError):
            client.checker("odd")


def test_waiting_for_a_service_that_never_comes_ends_with_the_remedy() -> None:
    with (
        VerifierClient(f"http://127.0.0.1:{closed_port()}") as client,
        pytest.raises(VerifierUnreachable, match="not ready within"),
    ):
        client.wait_ready(0.2)


def test_a_program_that_forgets_to_close_still_ends(service: FakeService) -> None:
    program = (
        "from verifier_server.client import VerifierClient\n"
        f"client = VerifierClient({service.url!r})\n"
        "print(client.score_one('exact', '4', {'answer': '4'}).score)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr, done.returncode) == ("1.0\n", "", 0)


def test_a_forked_process_is_told_to_make_its_own_client(service: FakeService) -> None:
    program = (
        "import os, sys\n"
        "from verifier_server.client import ClientError, VerifierClient\n"
        f"client = VerifierClient({service.url!r})\n"
        "client.score([])\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        client.score([])\n"
        "    except ClientError as error:\n"
        "        sys.exit(str(error))\n"
        "os.wait()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert done.stderr == "this client was made in another process (make one after the fork)\n"


def test_keys_are_not_shown() -> None:
    with VerifierClient(api_key="secret-key") as client:
        assert "secret-key" not in repr(client._client.connection)


def test_the_sdk_imports_no_server_code() -> None:
    program = "import sys, verifier_server.client, verifier_server.client.trl; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    heavy = {"fastapi", "starlette", "uvicorn", "sympy", "sandboxes", "torch"}
    heavy |= {f"verifier_server.{part}" for part in ("api", "service", "checkers", "settings")}
    assert "verifier_server.client" in loaded
    assert not loaded & heavy


def test_the_trl_reward_is_the_score_and_none_where_there_is_none(service: FakeService) -> None:
    with VerifierClient(service.url) as client:
        reward = reward_func(client, checker="exact", params_from={"answer": "solution"})
        scores = reward(
            prompts=["p"] * 3,
            completions=["4", "5", "6"],
            solution=["4", "4", float("nan")],
            completion_ids=[[1]] * 3,
            trainer_state=object(),
            log_metric=print,
        )
    assert scores == [1, 0, None]
    assert reward.__name__ == "exact"


def test_trl_params_may_be_made_by_a_function_of_the_row(service: FakeService) -> None:
    reward = reward_func(
        service.url, checker="exact", params_from=lambda row: {"answer": row["a"] + row["b"]}
    )
    assert reward(completions=["45"], a=["4"], b=["5"]) == [1]


def test_a_missing_trl_column_is_named(service: FakeService) -> None:
    reward = reward_func(service.url, checker="exact", params_from={"answer": "gold"})
    with pytest.raises(ClientError, match=r"no column gold.*solution"):
        reward(completions=["4"], solution=["4"])
