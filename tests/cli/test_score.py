"""`verifier-server score` against a scripted service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.client.fake_service import FakeService, fake_service, fault
from verifier_server.cli.main import app

GOOD = {"checker": "exact", "completion": "4", "params": {"answer": "4"}, "id": "a"}
WRONG = GOOD | {"completion": "5", "id": "b"}


@pytest.fixture
def service() -> Iterator[FakeService]:
    with fake_service() as service:
        yield service


def score(service: FakeService, *arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["score", *arguments, "--url", service.url], input=stdin)


def lines(*rows: Any) -> bytes:
    return b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)


def test_a_file_is_scored_and_summed_up_by_outcome_and_checker(
    service: FakeService, tmp_path: Path
) -> None:
    file = tmp_path / "items.jsonl"
    file.write_bytes(lines(GOOD, WRONG, WRONG, WRONG))
    result = score(service, str(file))
    assert result.exit_code == 0
    cells = [line.split() for line in result.stdout.splitlines()]
    assert ["wrong_answer", "candidate", "3", "75.0%"] in cells
    assert ["accepted", "none", "1", "25.0%"] in cells
    assert ["exact", "4", "1", "0", "0.250"] in cells


def test_json_prints_nothing_but_verdicts_in_order(service: FakeService) -> None:
    result = score(service, "-", "--json", stdin=lines(GOOD, WRONG))
    verdicts = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(v["id"], v["index"], v["score"]) for v in verdicts] == [("a", 0, 1), ("b", 1, 0)]
    assert "wrong_answer" in result.stderr


def test_bad_lines_are_named_counted_and_do_not_stop_the_others(service: FakeService) -> None:
    stdin = lines(GOOD, b"{oops", b"", [1], {"checker": "exact"}, b'{"checker": "\xff"}', WRONG)
    result = score(service, "-", "--json", stdin=stdin)
    verdicts = [json.loads(line) for line in result.stdout.splitlines()]
    assert [v["score"] for v in verdicts] == [1, None, None, None, None, 0]
    assert [v["index"] for v in verdicts] == list(range(6))
    assert {v["outcome"] for v in verdicts[1:5]} == {"bad_reference"}
    for number in (2, 4, 5, 6):
        assert f"line {number}: bad_reference" in result.stderr
    assert result.exit_code == 1
    assert [len(items) for items in service.requests] == [2]


def test_output_holds_all_verdicts(service: FakeService, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    score(service, "-", "--output", str(out), stdin=lines(GOOD, WRONG))
    assert [json.loads(line)["score"] for line in out.read_text().splitlines()] == [1, 0]


def test_one_item_is_given_by_options(service: FakeService) -> None:
    options = ["--checker", "exact", "--completion", "4", "--params", '{"answer": "4"}']
    result = score(service, *options)
    assert (result.exit_code, "accepted" in result.stdout) == (0, True)


def test_an_unscored_item_makes_the_command_fail(service: FakeService) -> None:
    bad = {"outcome": "bad_reference", "fault": "task", "score": None, "explanation": "no gold"}
    service.always = lambda e: e.lines([fault(0, e.items[0]) | bad])
    result = score(service, "-", stdin=lines(GOOD))
    assert result.exit_code == 1
    assert "line 1: bad_reference: no gold" in result.stderr


def test_hostile_text_cannot_steer_the_terminal(service: FakeService) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07\r[red]x[/red]\u202e\ud800"

    def answer(exchange: Any) -> None:
        verdict = {
            "id": "[bold]\x1b[1m", "index": 0, "checker": "exact", "outcome": "wrong_answer",
            "fault": "candidate", "score": 0.0, "answer": hostile, "explanation": hostile,
        }  # fmt: skip
        exchange.lines([verdict])

    service.always = answer
    result = score(service, "-", stdin=lines(GOOD))
    assert result.exit_code == 0
    assert all(c == "\n" or c.isprintable() for c in result.stdout)
    assert "[bold]" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-", "--checker", "exact"],
        ["--checker", "exact"],
        ["--checker", "exact", "--completion", "4", "--params", "{"],
    ],
)
def test_a_wrong_call_is_explained(arguments: list[str], service: FakeService) -> None:
    result = score(service, *arguments, stdin=b"")
    assert result.exit_code == 2
    assert "--checker" in result.stderr or "--params" in result.stderr


def test_a_missing_file_is_an_error_with_its_name(service: FakeService) -> None:
    result = score(service, "nowhere.jsonl")
    assert (result.exit_code, result.stderr) == (
        2,
        "error: can't read nowhere.jsonl: No such file or directory\n",
    )


def test_an_empty_file_is_no_error(service: FakeService) -> None:
    result = score(service, "-", "--json", stdin=b"\n")
    assert (result.exit_code, result.stdout) == (0, "")


def test_a_refusal_is_told_without_a_traceback(service: FakeService) -> None:
    service.always = lambda exchange: exchange.problem(401, "who are you?")
    result = score(service, "-", stdin=lines(GOOD))
    assert result.exit_code == 2
    assert "who are you?" in result.stderr
    assert "api_key" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_key_comes_from_the_environment(
    service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERIFIER_API_KEY", "secret")
    score(service, "-", stdin=lines(GOOD))
    assert service.headers[0]["authorization"] == "Bearer secret"
