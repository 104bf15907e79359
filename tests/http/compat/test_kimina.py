"""Kimina's clients find here what they find there, and no failure of ours as a failed proof."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.checkers.lean.toolchain import make_toolchain
from verifier_server.client import LocalServer

HEADER = "prelude\nimport Core\nset_option genCtorIdx false\n"
GOOD = HEADER + "theorem t : Eq 1 1 := Eq.refl 1\n"
BAD = HEADER + "theorem t : Eq 1 2 := Eq.refl 1\n"
SORRY = HEADER + "theorem t : Eq 1 2 := sorry\n"


@pytest.fixture(scope="module")
def lean() -> Iterator[httpx.Client]:
    with (
        tempfile.TemporaryDirectory(prefix="lean-") as folder,
        LocalServer(env=make_toolchain(Path(folder))) as server,
        httpx.Client(base_url=f"{server.url}/compat/kimina", timeout=60, trust_env=False) as http,
    ):
        yield http


@pytest.fixture(scope="module")
def without_lean() -> Iterator[httpx.Client]:
    with (
        LocalServer(env={"VERIFIER_LEAN_COMMAND": "/nowhere/lean"}) as server,
        httpx.Client(base_url=f"{server.url}/compat/kimina", timeout=60, trust_env=False) as http,
    ):
        yield http


def errors(result: dict[str, Any]) -> list[str]:
    return [m["data"] for m in result["response"]["messages"] if m["severity"] == "error"]


def test_check(lean: httpx.Client) -> None:
    snippets = [{"id": name, "code": code} for name, code in (("a", GOOD), ("b", BAD))]
    body = {"snippets": snippets, "timeout": 20, "debug": True}
    good, bad = lean.post("/api/check", json=body).json()["results"]
    assert (good["id"], bad["id"]) == ("a", "b")
    assert errors(good) == []
    assert "sorries" not in good["response"]
    assert good["time"] > 0
    assert good["diagnostics"]["repl_uuid"]
    assert errors(bad)
    places = [m["pos"] for m in bad["response"]["messages"] if m["severity"] == "error"]
    assert {place["line"] for place in places} == {4}
    assert (good["verdict"]["score"], bad["verdict"]["score"]) == (1, 0)


def test_verify_as_older_clients_ask_it(lean: httpx.Client) -> None:
    codes = [{"custom_id": 1, "proof": GOOD}, {"custom_id": "2", "code": BAD}]
    for route in ("/verify", "/one_pass_verify_batch"):
        good, bad = lean.post(route, json={"codes": codes, "timeout": 20}).json()["results"]
        assert (good["custom_id"], bad["custom_id"]) == ("1", "2")
        assert good["response"]["time"] >= 0
        assert (errors(good), bool(errors(bad))) == ([], True)


def test_a_proof_that_is_left_out_is_none(lean: httpx.Client) -> None:
    body = {"snippets": [{"id": "a", "code": SORRY}]}
    [result] = lean.post("/api/check", json=body).json()["results"]
    assert result["verdict"]["score"] == 0
    assert errors(result) or result["response"]["sorries"]


def test_a_statement_may_be_named(lean: httpx.Client) -> None:
    """What such a server can't know: whether the file proves what was asked."""
    params = {"statement": "theorem t : Eq 1 2", "header": HEADER}
    snippets = [{"id": "a", "code": GOOD}, {"id": "b", "code": GOOD, "params": params}]
    free, bound = lean.post("/api/check", json={"snippets": snippets}).json()["results"]
    assert (free["verdict"]["score"], bound["verdict"]["score"]) == (1, 0)
    assert errors(bound)


def test_a_time_limit_is_told_as_theirs_is(lean: httpx.Client) -> None:
    slow = HEADER + "set_option maxRecDepth 1000000\ntheorem t : Eq 1 2 := " + "(" * 20_000
    body = {"snippets": [{"id": "a", "code": slow}], "timeout": 1}
    [result] = lean.post("/api/check", json=body).json()["results"]
    assert result["verdict"]["score"] == 0
    if result["verdict"]["outcome"] == "time_limit":
        assert "timed out" in result["error"]
    else:
        assert errors(result)


def test_a_failure_of_ours_is_no_failed_proof(without_lean: httpx.Client) -> None:
    for body, route in (
        ({"snippets": [{"id": "a", "code": GOOD}]}, "/api/check"),
        ({"codes": [{"custom_id": "a", "proof": GOOD}]}, "/verify"),
    ):
        [result] = without_lean.post(route, json=body).json()["results"]
        assert "response" not in result
        assert result["error"]
        assert "timed out" not in result["error"]
        assert (result["verdict"]["score"], result["verdict"]["fault"]) == (None, "service")


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("/api/check", {"snippets": []}),
        ("/api/check", {"snippets": [{"id": "a", "code": "x"}, {"id": "a", "code": "y"}]}),
        ("/api/check", {"snippets": [{"id": "", "code": "x"}]}),
        ("/api/check", {}),
        ("/verify", {"codes": [{"custom_id": "a"}]}),
        ("/verify", []),
    ],
)
def test_what_is_no_request_is_refused(
    without_lean: httpx.Client, route: str, body: object
) -> None:
    answer = without_lean.post(route, json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"]


def test_it_says_that_it_serves(without_lean: httpx.Client) -> None:
    assert without_lean.get("/health").json() == {"status": "ok"}


def test_without_lean_the_checker_says_what_it_lacks(without_lean: httpx.Client) -> None:
    url = without_lean.base_url.copy_with(path="/checkers/lean")
    info = without_lean.get(url).json()
    assert info["status"] == "unavailable"
    assert "/nowhere/lean" in info["needs"]
