"""Scoring through the asynchronous client against a service that misbehaves."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.client.conftest import Pauses
from tests.client.fake_service import Exchange, FakeService, broken_off, fault, honest, verdict
from verifier_server.client import (
    AsyncVerifierClient,
    ClientError,
    Fault,
    Item,
    Outcome,
    VerifierUnreachable,
)
from verifier_server.client import exchange as exchange_module


def item(answer: str, completion: str = "4", **fields: Any) -> dict[str, Any]:
    return {"checker": "exact", "completion": completion, "params": {"answer": answer}, **fields}


def alternating(count: int) -> list[dict[str, Any]]:
    return [item("4" if i % 2 else "5", id=str(i)) for i in range(count)]


def outage(status: int, **headers: str) -> Any:
    return lambda exchange: exchange.problem(status, "out of order", **headers)


async def test_scores_come_in_request_order_over_many_batches(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    verdicts = await client.score(alternating(11))
    assert [v.score for v in verdicts] == [i % 2 for i in range(11)]
    assert [v.index for v in verdicts] == list(range(11))
    assert [v.id for v in verdicts] == [str(i) for i in range(11)]
    assert sorted(len(items) for items in service.requests) == [3, 4, 4]


async def test_batches_are_bounded_in_bytes_too(
    client: AsyncVerifierClient, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange_module, "BATCH_BYTES", 1000)
    await client.score([item("4"), item("4"), item("x" * 5000), item("4")])
    assert sorted(len(items) for items in service.requests) == [1, 1, 2]


async def test_calls_of_one_client_share_its_connections(service: FakeService) -> None:
    pair = threading.Barrier(2, timeout=20)
    under_way: set[int] = set()
    peaks: list[int] = []

    def counted(exchange: Exchange) -> None:
        under_way.add(id(exchange))
        peaks.append(len(under_way))
        pair.wait()
        under_way.discard(id(exchange))
        honest(exchange)

    service.always = counted
    async with AsyncVerifierClient(service.url, batch_size=1, max_connections=2) as client:
        await asyncio.gather(*(client.score(alternating(10)) for _ in range(5)))
    assert len(peaks) == 50
    assert max(peaks) <= 2


async def test_a_proxy_of_the_environment_is_not_asked_for_loopback(
    service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    async with AsyncVerifierClient(service.url, retries=0) as client:
        assert (await client.score([item("4")]))[0].score == 1


async def test_an_empty_list_needs_no_request(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    assert await client.score([]) == []
    assert service.requests == []


async def test_the_key_is_sent_as_a_bearer_token(service: FakeService) -> None:
    async with AsyncVerifierClient(service.url, api_key="secret") as client:
        await client.score([item("4")])
    assert service.headers[0]["authorization"] == "Bearer secret"


async def test_items_and_messages_are_sent_as_the_contract_says(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    messages = [{"role": "assistant", "content": "4"}]
    await client.score(
        [Item(checker="exact", completion=messages, params={"answer": None}, deadline_s=2)]
    )
    assert service.requests == [
        [
            {
                "checker": "exact",
                "completion": messages,
                "params": {"answer": None},
                "deadline_s": 2,
            }
        ]
    ]


async def test_lone_surrogates_survive_the_wire(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    verdicts = await client.score([item("\ud800", "\ud800")])
    assert verdicts[0].score == 1
    assert service.requests[0][0]["completion"] == "\ud800"


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_an_outage_is_tried_again(
    status: int, client: AsyncVerifierClient, service: FakeService, pauses: Pauses
) -> None:
    service.script.extend([outage(status), outage(status)])
    assert (await client.score_one("exact", "4", {"answer": "4"})).score == 1
    assert len(service.requests) == 3
    assert len(pauses.seconds) == 2


async def test_retry_after_is_waited_for_but_not_for_ever(
    client: AsyncVerifierClient, service: FakeService, pauses: Pauses
) -> None:
    service.script.extend([outage(429, Retry_After="7"), outage(503, Retry_After="86400")])
    await client.score([item("4")])
    assert 7 <= pauses.seconds[0] <= 8
    assert 30 <= pauses.seconds[1] <= 32


@pytest.mark.parametrize(
    ("status", "outcome"), [(500, Outcome.CHECKER_ERROR), (429, Outcome.OVERLOADED)]
)
async def test_an_outage_that_lasts_leaves_items_unscored(
    status: int, outcome: Outcome, client: AsyncVerifierClient, service: FakeService
) -> None:
    service.always = outage(status)
    verdicts = await client.score([item("4", id="a"), item("5")])
    assert [(v.score, v.fault, v.outcome) for v in verdicts] == [(None, Fault.SERVICE, outcome)] * 2
    assert verdicts[0].id == "a"
    assert "out of order" in verdicts[0].explanation
    assert len(service.requests) == 4


async def test_only_items_with_a_service_fault_are_asked_again(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    def second_fails(exchange: Exchange) -> None:
        raws = [verdict(i, item) for i, item in enumerate(exchange.items)]
        raws[1] = fault(1, exchange.items[1])
        exchange.lines(raws)

    service.script.append(second_fails)
    verdicts = await client.score(alternating(4))
    assert [v.score for v in verdicts] == [0, 1, 0, 1]
    assert [[i["id"] for i in items] for items in service.requests] == [["0", "1", "2", "3"], ["1"]]


async def test_a_service_fault_that_lasts_comes_back_as_it_is(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    service.always = lambda exchange: exchange.lines([fault(0, exchange.items[0])])
    result = await client.score_one("exact", "4", {"answer": "4"})
    assert (result.outcome, result.score) == (Outcome.SANDBOX_ERROR, None)
    assert len(service.requests) == 4


async def test_a_task_fault_is_not_tried_again(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    bad = {"outcome": "bad_reference", "fault": "task", "score": None}
    service.always = lambda e: e.lines([verdict(0, e.items[0]) | bad])
    assert (await client.score([item("4")]))[0].outcome is Outcome.BAD_REFERENCE
    assert len(service.requests) == 1


async def test_an_item_is_not_asked_again_after_its_deadline(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    service.always = lambda e: e.lines([fault(i, it) for i, it in enumerate(e.items)])
    await client.score([item("4", id="hasty", deadline_s=1e-6), item("4", id="patient")])
    assert [[i["id"] for i in items] for items in service.requests] == [
        ["hasty", "patient"],
        *[["patient"]] * 3,
    ]


async def test_a_stream_that_breaks_off_is_asked_for_the_rest_alone(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    service.script.append(broken_off(after=3))
    verdicts = await client.score(alternating(4))
    assert [v.score for v in verdicts] == [0, 1, 0, 1]
    assert [[i["id"] for i in items] for items in service.requests] == [["0", "1", "2", "3"], ["3"]]


async def test_verdicts_before_a_break_are_delivered_before_the_retry(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    service.script.append(broken_off(after=2))
    seen = [v.index async for v in client.score_stream(alternating(4))]
    assert seen == [0, 1, 2, 3]


async def test_a_stream_left_early_frees_its_connections(service: FakeService) -> None:
    async with AsyncVerifierClient(service.url, max_connections=1, batch_size=1) as client:
        stream = client.score_stream(alternating(50))
        await anext(stream)
        await stream.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert len(await client.score(alternating(3))) == 3


def _duplicate(raws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [raws[0], *raws]


def _out_of_range(raws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*raws[:-1], raws[-1] | {"index": 99}]


def _short(raws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return raws[:-1]


def _nan(raws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [raws[0] | {"score": float("nan")}, *raws[1:]]


def _scored_service_fault(raws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [raws[0] | {"outcome": "sandbox_error", "fault": "service", "score": 0.0}, *raws[1:]]


def _disagreeing_fault(raws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [raws[0] | {"fault": "task"}, *raws[1:]]


def _accepted_half(raws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [raws[1] | {"index": 0, "score": 0.5}, *raws[1:]]


def _unknown_outcome(raws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [raws[0] | {"outcome": "maybe"}, *raws[1:]]


BREACHES = [
    _duplicate,
    _out_of_range,
    _short,
    _nan,
    _scored_service_fault,
    _disagreeing_fault,
    _accepted_half,
    _unknown_outcome,
]


@pytest.mark.parametrize("breach", BREACHES)
@pytest.mark.parametrize("form", ["lines", "body"])
async def test_an_answer_that_breaks_the_contract_is_a_service_fault(
    breach: Any, form: str, client: AsyncVerifierClient, service: FakeService
) -> None:
    def step(exchange: Exchange) -> None:
        raws = breach([verdict(i, item) for i, item in enumerate(exchange.items)])
        if form == "lines":
            exchange.lines(raws)
        else:
            exchange.whole(200, json.dumps({"verdicts": raws}).encode(), "application/json")

    service.script.append(step)
    assert [v.score for v in await client.score(alternating(4))] == [0, 1, 0, 1]
    assert len(service.requests) == 2

    service.always = step
    lasting = await client.score(alternating(4))
    assert all(v.score in (None, v.index % 2) for v in lasting)
    assert {v.outcome for v in lasting if v.score is None} <= {Outcome.CHECKER_ERROR}


async def test_a_body_with_misplaced_verdicts_is_not_used_at_all(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    def step(exchange: Exchange) -> None:
        raws = _duplicate([verdict(i, item) for i, item in enumerate(exchange.items)])
        exchange.whole(200, json.dumps({"verdicts": raws}).encode(), "application/json")

    service.always = step
    assert [v.score for v in await client.score(alternating(2))] == [None, None]


async def test_a_plain_json_answer_is_understood(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    def step(exchange: Exchange) -> None:
        raws = [verdict(i, item) for i, item in enumerate(exchange.items)]
        exchange.whole(200, json.dumps({"verdicts": raws}).encode(), "application/json")

    service.always = step
    assert [v.score for v in await client.score(alternating(5))] == [0, 1, 0, 1, 0]


async def test_a_web_page_instead_of_verdicts_is_a_service_fault(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    service.always = lambda e: e.whole(200, b"<html>hello</html>", "text/html")
    result = (await client.score([item("4")]))[0]
    assert (result.score, result.outcome) == (None, Outcome.CHECKER_ERROR)
    assert "text/html" in result.explanation


@pytest.mark.parametrize("status", [400, 401, 404, 422])
async def test_a_request_that_is_wrong_raises_the_problem_at_once(
    status: int, client: AsyncVerifierClient, service: FakeService
) -> None:
    service.always = lambda exchange: exchange.problem(status, "you erred")
    with pytest.raises(ClientError, match="you erred") as caught:
        await client.score([item("4")])
    assert caught.value.status == status
    assert len(service.requests) == 1


def limited(items: int) -> Any:
    def step(exchange: Exchange) -> None:
        if len(exchange.items) > items:
            exchange.problem(413, "too large")
        else:
            honest(exchange)

    return step


async def test_a_batch_that_is_too_large_is_halved(
    client: AsyncVerifierClient, service: FakeService, pauses: Pauses
) -> None:
    service.always = limited(items=1)
    assert [v.score for v in await client.score(alternating(4))] == [0, 1, 0, 1]
    assert [len(items) for items in service.requests] == [4, 2, 1, 1, 1, 1]
    assert sum(pauses.seconds) == 0


async def test_an_item_too_large_by_itself_is_unscored_only_by_the_tasks_fault(
    client: AsyncVerifierClient, service: FakeService
) -> None:
    service.always = limited(items=0)
    long_completion, long_params = await client.score([item("4", "x" * 999), item("x" * 999)])
    assert (long_completion.outcome, long_completion.score) == (Outcome.POLICY_VIOLATION, 0)
    assert (long_params.outcome, long_params.score) == (Outcome.BAD_REFERENCE, None)


@pytest.mark.parametrize(
    "bad",
    [
        {"checker": "exact"},
        {"checker": "exact", "completion": "4", "params": {"answer": float("nan")}},
        {"checker": "exact", "completion": "4", "params": {"answer": {1, 2}}},
        {"checker": "exact", "completion": b"4", "surprise": 1},
        {"completion": 4},
    ],
)
async def test_an_item_that_cannot_be_sent_does_not_hurt_its_neighbours(
    bad: dict[str, Any], client: AsyncVerifierClient, service: FakeService
) -> None:
    verdicts = await client.score([item("4"), bad, item("5")])
    assert [v.score for v in verdicts] == [1, None, 0]
    assert verdicts[1].outcome is Outcome.BAD_REFERENCE
    assert [len(items) for items in service.requests] == [2]


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


async def test_nobody_there_raises_with_the_remedy(pauses: Pauses) -> None:
    async with AsyncVerifierClient(f"http://127.0.0.1:{closed_port()}", sleep=pauses) as client:
        with pytest.raises(VerifierUnreachable, match="verifier-server serve"):
            await client.score([item("4")])
        assert await client.ready() is False
    assert len(pauses.seconds) == 4


async def test_a_service_that_dies_between_batches_leaves_the_rest_unscored(
    pauses: Pauses, service: FakeService
) -> None:
    alive = AsyncVerifierClient(service.url, sleep=pauses, batch_size=1, max_connections=1)
    gone = f"http://127.0.0.1:{closed_port()}"
    async with alive as client:
        stream = client.score_stream(alternating(2))
        assert (await anext(stream)).score == 0
        client._http.base_url = gone
        rest = [v async for v in stream]
    assert [(v.score, v.outcome) for v in rest] == [(None, Outcome.CHECKER_ERROR)]


async def test_a_url_without_scheme_is_refused_with_the_remedy() -> None:
    with pytest.raises(ClientError, match="http://host:port"):
        AsyncVerifierClient("localhost:8000")


ANSWERS = st.sampled_from(["honest", "fault", "drop", "outage", "short"])


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    count=st.integers(0, 9),
    batch_size=st.integers(1, 5),
    answers=st.lists(ANSWERS, max_size=6),
)
async def test_every_item_gets_its_own_verdict_or_none_whatever_the_service_does(
    count: int, batch_size: int, answers: list[str], service: FakeService
) -> None:
    steps = {
        "honest": honest,
        "fault": lambda e: e.lines([fault(i, it) for i, it in enumerate(e.items)]),
        "drop": broken_off(after=1),
        "outage": outage(503),
        "short": lambda e: e.lines([verdict(0, e.items[0])]),
    }
    service.script.clear()
    service.script.extend(steps[answer] for answer in answers)
    client = AsyncVerifierClient(service.url, sleep=Pauses(), retries=2, batch_size=batch_size)
    async with client:
        verdicts = await client.score(alternating(count))
    assert [v.id for v in verdicts] == [str(i) for i in range(count)]
    assert all(v.score in (None, v.index % 2) for v in verdicts)
    if len(answers) <= 2:
        assert all(v.score is not None for v in verdicts)
