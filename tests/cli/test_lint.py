"""`verifier-server lint`: against a scripted service, and once against a real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.client.fake_service import FakeService, fake_service, fault
from tests.conftest import ROOT
from verifier_server.cli.main import app

BAD = {"outcome": "bad_reference", "fault": "task", "score": None, "explanation": "no gold"}
BROKEN = {"outcome": "checker_error", "fault": "service", "score": None, "explanation": "oops"}


@pytest.fixture
def service() -> Iterator[FakeService]:
    with fake_service() as service:
        yield service


def lint(*arguments: str, rows: list[Any]) -> Result:
    stdin = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    return CliRunner().invoke(app, ["lint", "-", *arguments], input=stdin)


def cells(result: Result) -> list[list[str]]:
    return [line.split() for line in result.stdout.splitlines()]


def test_good_references_pass_whatever_else_their_lines_hold(service: FakeService) -> None:
    row = {"checker": "exact", "params": {"answer": "4"}, "prompt": "2+2?", "tags": ["easy"]}
    result = lint("--url", service.url, rows=[row, row | {"completion": "<think>4"}])
    assert result.exit_code == 0, result.output
    assert ["exact", "2", "2", "0", "0"] in cells(result)
    (items,) = service.requests
    only_the_check = {"checker": "exact", "params": {"answer": "4"}, "completion": ""}
    assert [{name: item[name] for name in only_the_check} for item in items] == 2 * [only_the_check]
    assert not any(item.get("prompt") for item in items)


def test_faults_of_the_service_are_told_apart_from_bad_references(service: FakeService) -> None:
    def answer(exchange: Any) -> None:
        kinds = [BROKEN if item["params"]["answer"] else BAD for item in exchange.items]
        exchange.lines([fault(n, exchange.items[n]) | kind for n, kind in enumerate(kinds)])

    service.always = answer
    rows = [{"checker": "exact", "params": {"answer": answer}} for answer in ("", "4")]
    result = lint("--url", service.url, rows=rows)
    assert result.exit_code == 1
    assert "line 1: no gold" in result.stdout
    assert "line 2: not linted, checker_error: oops" in result.stdout
    assert ["exact", "2", "0", "1", "1"] in cells(result)


def test_a_missing_file_is_an_error_with_its_name() -> None:
    result = CliRunner().invoke(app, ["lint", "nowhere.jsonl"])
    assert (result.exit_code, "can't read nowhere.jsonl" in result.stderr) == (2, True)


def test_bad_golds_of_any_checker_are_found_and_a_hanging_one_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(ROOT) / "tests" / "plugins"))
    parts = [{"checker": "format", "params": {}}, {"checker": "math", "params": {"answer": "6=5"}}]
    rows = [
        {"checker": "math", "params": {"answer": ["1/2", "0.5"]}},
        {"checker": "misbehaving", "params": {"prepare": "hang"}},
        {"checker": "math", "params": {"answer": r"\frac{1}{"}},
        "{oops",
        "",
        {"checker": "composite", "params": {"combine": "gate", "parts": parts}},
        {"checker": "unheard-of", "params": {}},
        {"params": {"answer": "4"}},
        {"checker": "math", "params": {"answer": "4", "percent": "maybe"}},
    ]
    result = lint("--json", rows=rows)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["line"] for row in found] == [2, 3, 4, 6, 7, 8, 9]
    assert {row["outcome"] for row in found} == {"bad_reference"}
    reasons = {row["line"]: row["reason"] for row in found}
    assert "unclosed" in reasons[3]
    assert "part 'math'" in reasons[6]
    assert "percent" in reasons[9]
    assert result.exit_code == 1
