"""Whatever is sent gets a clear answer: a problem for a bad request, a verdict for a bad item."""

from __future__ import annotations

import gzip
import http.client
import json
from typing import Any

import httpx
import pytest

from verifier_server.client import LocalServer

JSON = {"content-type": "application/json"}
GOOD = {"checker": "exact", "completion": "4", "params": {"answer": "4"}}


def post(api: httpx.Client, body: bytes, **headers: str) -> httpx.Response:
    return api.post("/score", content=body, headers=JSON | headers)


def assert_problem(response: httpx.Response, status: int, *words: str) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    for word in words:
        assert word in problem["detail"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"checker": "exact", "completion": "4', "not JSON"),
        (b"", "not JSON"),
        (b'{"checker": "exact", "completion": "\xff\xfe"}', "not UTF-8"),
        (b'{"checker": "exact", "completion": "4", "params": {"x": NaN}}', "NaN"),
        (b'{"checker": "exact", "completion": "4", "deadline_s": -Infinity}', "-Infinity"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'{"x": ' + b"9" * 10_000 + b"}", "unreadable number"),
    ],
)
def test_a_body_that_is_no_json_is_refused(api: httpx.Client, body: bytes, words: str) -> None:
    assert_problem(post(api, body), 400, words)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"[1, 2]", "must be a JSON object"),
        (b'{"completion": "4"}', "checker"),
        (b'{"checker": "exact"}', "completion"),
        (b'{"checker": "exact", "completion": 4}', "completion"),
        (b'{"checker": "exact", "completion": "4", "param": {}}', "param"),
        (b'{"checker": "exact", "completion": "4", "deadline_s": 0}', "deadline_s"),
        (b'{"items": {}}', "list"),
        (b'{"items": [], "checker": "exact"}', "checker"),
    ],
)
def test_a_request_that_is_no_item_is_refused(api: httpx.Client, body: bytes, words: str) -> None:
    assert_problem(post(api, body), 422, words)


def test_another_content_type_is_refused(api: httpx.Client) -> None:
    response = api.post("/score", content=b"{}", headers={"content-type": "text/plain"})
    assert_problem(response, 415, "text/plain", "application/json")


def test_a_compressed_body_is_refused(api: httpx.Client) -> None:
    response = post(api, gzip.compress(json.dumps(GOOD).encode()), **{"content-encoding": "gzip"})
    assert_problem(response, 415, "gzip", "uncompressed")


def test_params_of_any_depth_never_harm_their_neighbours(api: httpx.Client) -> None:
    good = json.dumps(GOOD).encode()
    for depth in range(900, 1000):
        deep = b'{"checker": "exact", "completion": "4", "params": {"answer": "4", "x": %b}}'
        deep %= b"[" * depth + b"]" * depth
        response = post(api, b'{"items": [%b, %b]}' % (deep, good))
        if response.status_code == 400:
            assert_problem(response, 400, "nested too deeply")
            break
        bad, neighbour = response.json()["verdicts"]
        assert (bad["score"], bad["outcome"]) == (None, "bad_reference")
        assert neighbour["score"] == 1
    else:
        raise AssertionError("no depth is refused")


def test_a_checker_name_of_megabytes_is_refused_at_once(api: httpx.Client) -> None:
    name = "exact" * 1_000_000
    assert_problem(post(api, json.dumps(GOOD | {"checker": name}).encode()), 422, "checker", "200")


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/x-ndjson", "application/x-ndjson"),
        ("text/html, Application/X-NDJSON; q=0.5", "application/x-ndjson"),
        ("application/json, application/x-ndjson;q=0", "application/json"),
        ("application/x-ndjson ; q=0.000", "application/json"),
        ("*/*", "application/json"),
    ],
)
def test_lines_come_only_to_those_who_accept_them(
    api: httpx.Client, accept: str, kind: str
) -> None:
    response = post(api, json.dumps(GOOD).encode(), accept=accept)
    assert response.headers["content-type"] == kind


def test_a_huge_body_is_refused_before_it_is_sent(server: LocalServer) -> None:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)
    connection.putrequest("POST", "/score")
    for header, value in (JSON | {"content-length": str(1 << 40)}).items():
        connection.putheader(header, value)
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 413
    assert "VERIFIER_MAX_BODY_BYTES" in json.loads(response.read())["detail"]
    connection.close()


def test_a_huge_body_of_unknown_length_is_cut_off(api: httpx.Client) -> None:
    def chunks() -> Any:
        for _ in range(80):
            yield b" " * (1 << 20)

    response = api.post("/score", content=chunks(), headers=JSON)
    assert_problem(response, 413, "VERIFIER_MAX_BODY_BYTES")


def test_too_many_items_are_refused(api: httpx.Client) -> None:
    response = api.post("/score", json={"items": [GOOD] * 10_001})
    assert_problem(response, 413, "10001 items")


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/checkers/mth", 404)])
def test_unknown_paths_are_problems(api: httpx.Client, path: str, status: int) -> None:
    assert_problem(api.get(path), status)


def test_a_wrong_method_is_a_problem(api: httpx.Client) -> None:
    assert_problem(api.get("/score"), 405)


def test_an_unknown_checker_is_the_tasks_fault_and_gets_a_suggestion(api: httpx.Client) -> None:
    verdict = api.post("/score", json=GOOD | {"checker": "exat"}).json()
    assert (verdict["outcome"], verdict["fault"], verdict["score"]) == (
        "bad_reference",
        "task",
        None,
    )
    assert "did you mean 'exact'" in verdict["explanation"]


@pytest.mark.parametrize("params", [{}, {"answer": 4}, {"answer": "4", "anwser": "5"}])
def test_params_that_do_not_validate_are_the_tasks_fault(
    api: httpx.Client, params: dict[str, Any]
) -> None:
    verdict = api.post("/score", json=GOOD | {"params": params}).json()
    assert (verdict["outcome"], verdict["score"]) == ("bad_reference", None)
    assert "params" in verdict["explanation"]


def test_an_empty_batch_is_legal(api: httpx.Client) -> None:
    assert api.post("/score", json={"items": []}).json() == {"verdicts": []}


def test_an_empty_batch_streams_nothing(api: httpx.Client) -> None:
    response = api.post("/score", json={"items": []}, headers={"accept": "application/x-ndjson"})
    assert (response.status_code, response.text) == (200, "")


def test_bad_items_fail_alone_and_keep_their_places(api: httpx.Client) -> None:
    items = [
        GOOD | {"id": "a"},
        {"id": "b", "checker": "exact"},
        17,
        GOOD | {"id": "a", "completion": "5"},
        {"checker": 1, "completion": [], "id": 2},
        GOOD | {"id": "e", "checker": "nope"},
    ]
    verdicts = api.post("/score", json={"items": items}).json()["verdicts"]
    assert [v["index"] for v in verdicts] == list(range(6))
    assert [v["id"] for v in verdicts] == ["a", "b", None, "a", None, "e"]
    assert [v["score"] for v in verdicts] == [1, None, None, 0, None, None]
    assert {v["fault"] for v in verdicts if v["score"] is None} == {"task"}


def test_lone_surrogates_pass_through(api: httpx.Client) -> None:
    body = rb'{"checker": "exact", "completion": "\ud800", "params": {"answer": "x\udfff"}}'
    verdict = post(api, body).json()
    assert verdict["score"] == 0


def test_chat_messages_are_judged_by_the_last_assistant(api: httpx.Client) -> None:
    messages = [
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": "5"},
        {"role": "user", "content": "sure?"},
        {"role": "assistant", "content": [{"type": "text", "text": "4"}]},
        {"role": "user", "content": "thanks"},
    ]
    assert api.post("/score", json=GOOD | {"completion": messages}).json()["score"] == 1


def test_a_stream_answers_every_item_once(api: httpx.Client) -> None:
    items = [GOOD | {"completion": str(n), "id": str(n)} for n in range(100)]
    with api.stream(
        "POST", "/score", json={"items": items}, headers={"accept": "application/x-ndjson"}
    ) as response:
        assert response.headers["content-type"].startswith("application/x-ndjson")
        verdicts = [json.loads(line) for line in response.iter_lines()]
    assert sorted(v["index"] for v in verdicts) == list(range(100))
    assert all(v["id"] == str(v["index"]) for v in verdicts)
    assert [v["index"] for v in verdicts if v["score"] == 1] == [4]
