"""Every verdict is recorded, in order; what is changed afterwards shows; nobody waits for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from verifier_server.bootstrap import build_service
from verifier_server.cli.main import app
from verifier_server.errors import ConfigError
from verifier_server.ledger import writer
from verifier_server.ledger.entry import Entry
from verifier_server.ledger.store import Filter, LedgerFailed, LedgerStore
from verifier_server.ledger.writer import LedgerWriter
from verifier_server.schemas import Item
from verifier_server.service import Malformed
from verifier_server.settings import Settings
from verifier_server.verdict import Outcome, Verdict


def entry(completion: str = "4", outcome: Outcome = Outcome.ACCEPTED) -> Entry:
    item = Item(checker="exact", completion=completion, params={"answer": "4"}, prompt="2+2?")
    score = {Outcome.ACCEPTED: 1.0, Outcome.WRONG_ANSWER: 0.0}.get(outcome)
    verdict = Verdict(
        checker="exact", version="1", outcome=outcome, fault=outcome.fault, score=score
    )
    return Entry(item, verdict)


def rows(*entries: Entry, keeps_completion: bool = True) -> list[dict[str, Any]]:
    return [one.to_row(keeps_completion=keeps_completion) for one in entries]


def change(store: LedgerStore, statement: str) -> None:
    with store._writing.begin() as connection:
        connection.execute(text(statement))


def test_entries_come_back_in_order(store: LedgerStore) -> None:
    store.append(rows(entry("a"), entry("b")))
    store.append(rows(entry("\ud800\x00c")))
    found = list(store.read())
    assert [row["number"] for row in found] == [1, 2, 3]
    assert [json.loads(row["item"])["completion"] for row in found] == ["a", "b", "\ud800\x00c"]
    assert store.verify().problems == ()
    assert store.verify().last_hash == found[-1]["hash"] == store.hash_of(3)


@pytest.mark.parametrize("name", ["\ud800", "a\x00b", "ж" * 500], ids=["surrogate", "NUL", "long"])
def test_a_name_that_no_database_holds_stops_nothing(store: LedgerStore, name: str) -> None:
    """A client chooses it: of what is no item, no schema has bounded it."""
    outcome = Outcome.BAD_REFERENCE
    verdict = Verdict(checker=name, outcome=outcome, fault=outcome.fault, score=None)
    store.append(rows(Entry(None, verdict), entry("after")))
    found = list(store.read())
    assert [row["number"] for row in found] == [1, 2]
    assert json.loads(found[0]["verdict"])["checker"] == name
    assert store.verify().problems == ()


def test_a_write_that_is_repeated_records_nothing_twice(store: LedgerStore) -> None:
    first, second = rows(entry("a"), entry("b"))
    store.append([first])
    store.append([first, second])
    assert [row["id"] for row in store.read()] == [first["id"], second["id"]]
    assert store.verify().problems == ()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE verdicts SET score = 0 WHERE number = 2", "entry 2 is not what was recorded"),
        ("UPDATE verdicts SET at = '2020' WHERE number = 3", "entry 3 is not what was recorded"),
        ("DELETE FROM verdicts WHERE number = 2", "entries 2 to 2 are missing"),
        ("DELETE FROM verdicts WHERE number > 1", "entries 2 to 3 are missing"),
        ("DELETE FROM verdicts", "entries 1 to 3 are missing"),
    ],
)
def test_what_is_changed_afterwards_shows(store: LedgerStore, statement: str, problem: str) -> None:
    store.append(rows(entry("a"), entry("b"), entry("c")))
    change(store, statement)
    assert problem in store.verify().problems


def test_a_chain_made_anew_does_not_have_the_end_that_was_noted(store: LedgerStore) -> None:
    store.append(rows(entry("a")))
    noted = store.verify()
    change(store, "DELETE FROM verdicts")
    change(store, f"UPDATE chain SET last_number = 0, last_hash = '{'0' * 64}'")
    store.append(rows(entry("b")))
    assert store.verify().problems == ()
    assert store.hash_of(noted.last_number) != noted.last_hash


def test_writers_take_turns(url: str) -> None:
    """Two services with one ledger: one chain, nothing lost."""
    stores = [LedgerStore(url) for _ in range(2)]

    def write(store: LedgerStore) -> None:
        for number in range(20):
            store.append(rows(entry(str(number))))

    threads = [threading.Thread(target=write, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stores[0].verify().entries == 40
    assert stores[0].verify().problems == ()
    for store in stores:
        store.close()


def test_old_entries_go_and_the_rest_is_still_a_chain(store: LedgerStore) -> None:
    old = [dict(row, at=f"2020-01-0{day}") for day, row in enumerate(rows(entry(), entry()), 1)]
    store.append(old)
    store.append(rows(entry("new")))
    assert store.prune("2021") == 2
    assert store.prune("2021") == 0
    assert [row["number"] for row in store.read()] == [3]
    assert store.verify().problems == ()
    assert store.prune("2999") == 1
    store.append(rows(entry("newer")))
    assert [row["number"] for row in store.read()] == [4]
    assert store.verify().problems == ()


def test_entries_are_chosen(store: LedgerStore) -> None:
    store.append(rows(entry("a"), entry("b", Outcome.WRONG_ANSWER)))
    [row] = store.read(Filter(outcome="wrong_answer"))
    assert row["number"] == 2
    assert not list(store.read(Filter(checker="math")))
    assert len(list(store.read(Filter(until="2999", since="2000")))) == 2
    assert not list(store.read(Filter(until="2000")))


def test_without_texts_there_is_no_text(store: LedgerStore) -> None:
    store.append(rows(entry("secret"), keeps_completion=False))
    [row] = store.read()
    assert "secret" not in str(row)
    assert json.loads(row["item"]) == {"checker": "exact", "params": {"answer": "4"}}
    digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
    assert row["completion_sha256"] == digest


@contextmanager
def writing(store: Any, **options: Any) -> Iterator[LedgerWriter]:
    recorder = LedgerWriter(store, **{"keeps_completion": True, "keep_days": 0, **options})
    yield recorder
    recorder.close()


class Flaky:
    """A store that fails until it is told to work."""

    def __init__(self, store: LedgerStore) -> None:
        self.works = threading.Event()
        self.failed = threading.Event()
        self._store = store

    def append(self, some: list[dict[str, Any]]) -> None:
        if not self.works.is_set():
            self.failed.set()
            raise LedgerFailed("the disk is full")
        self._store.append(some)

    def close(self) -> None:
        """The test does."""


def test_what_cant_be_written_waits_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_RETRY_S", 0.01)
    monkeypatch.setattr(writer, "_MOST_ENTRIES", 5)
    store = LedgerStore(f"sqlite:///{tmp_path}/ledger.sqlite")
    flaky = Flaky(store)
    with writing(flaky) as recorder:
        for number in range(7):
            recorder.record(entry(str(number)))
        assert flaky.failed.wait(30)
        assert (recorder.stats().waiting, recorder.stats().lost) == (5, 2)
        flaky.works.set()
    assert (recorder.stats().written, recorder.stats().waiting) == (5, 0)
    assert [json.loads(row["item"])["completion"] for row in store.read()] == list("01234")
    store.close()


def test_what_is_left_at_the_end_is_counted_as_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(writer, "_RETRY_S", 0.01)
    store = LedgerStore(f"sqlite:///{tmp_path}/ledger.sqlite")
    flaky = Flaky(store)
    recorder = LedgerWriter(flaky, keeps_completion=True, keep_days=0)  # type: ignore[arg-type]
    recorder.record(entry())
    assert flaky.failed.wait(30)
    recorder.close(timeout_s=0.1)
    assert recorder.stats().lost == 1
    assert "lacks 1 verdicts" in caplog.text
    flaky.works.set()
    store.close()


def test_old_entries_go_by_themselves(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.sqlite"
    store = LedgerStore(url)
    store.append([dict(row, at="2020-01-01") for row in rows(entry("old"))])
    with writing(store, keep_days=30) as recorder:
        recorder.record(entry("new"))
    reader = LedgerStore(url)
    assert [json.loads(row["item"])["completion"] for row in reader.read()] == ["new"]
    reader.close()


async def test_a_service_records_each_verdict(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/sub/ledger.sqlite"
    service = build_service(
        Settings(cpu_workers=1, sandbox_workers=1, ledger=url, ledger_texts="keep")
    )
    await service.dispatcher.start()
    item = Item(checker="exact", completion="4", params={"answer": "4"}, id="a")
    unknown = Item(checker="nobody", completion="4")
    await service.scoring.score([item, item, unknown, Malformed("no item")])
    await service.dispatcher.stop()
    await service.close()
    assert b'verifier_ledger_entries_total{what="written"} 4.0' in service.metrics.render()
    store = LedgerStore(url, must_exist=True)
    whole = list(store.read())
    store.close()
    assert {json.loads(row["item"]).get("completion") for row in whole} == {"4", None}
    found = sorted((row["checker"], row["outcome"], row["score"]) for row in whole)
    assert found == [
        ("", "bad_reference", None),
        ("exact", "accepted", 1),
        ("exact", "accepted", 1),
        ("nobody", "bad_reference", None),
    ]
    assert (tmp_path / "sub/ledger.sqlite").stat().st_mode & 0o077 == 0


def test_a_ledger_that_is_named_must_work_and_the_default_one_need_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    build_service(Settings(ledger="auto"))
    assert "verdicts are not recorded" in caplog.text
    with pytest.raises(ConfigError, match="VERIFIER_LEDGER"):
        build_service(Settings(ledger=f"sqlite:///{tmp_path}/file/ledger.sqlite"))
    with pytest.raises(ConfigError, match="VERIFIER_LEDGER"):
        build_service(Settings(ledger="nosuch:///database"))
    with pytest.raises(ConfigError, match="can't be used"):
        LedgerStore("postgresql+psycopg://nobody@127.0.0.1:1/nothing")


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["ledger", *arguments])
    return result.exit_code, result.output


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    url = f"sqlite:///{tmp_path}/ledger.sqlite"
    assert run("verify", "--ledger", url)[0] == 2
    assert "no ledger is kept" in run("query", "--ledger", "off")[1]
    store = LedgerStore(url)
    store.append(rows(entry("4"), entry("5", Outcome.WRONG_ANSWER)))
    store.append(rows(entry("4"), keeps_completion=False))
    store.append(rows(entry("6")))  # recorded as right, and wrong today
    end = store.verify()

    assert run("query", "--ledger", url, "--outcome", "wrong_answer")[1].count("exact@1") == 1
    assert run("query", "--ledger", url, "--outcome", "wrong")[0] == 2
    exported = [json.loads(line) for line in run("export", "--ledger", url)[1].splitlines()]
    assert [row["number"] for row in exported] == [1, 2, 3, 4]
    assert exported[0]["item"]["prompt"] == "2+2?"

    status, output = run("replay", "--ledger", url)
    assert status == 1
    assert "entry 4 (exact): accepted 1 -> wrong_answer 0" in output
    assert "1 entries without their texts" in output
    assert run("replay", "--ledger", url, "--outcome", "wrong_answer")[0] == 0

    noted = f"{end.last_number}:{end.last_hash}"
    assert run("verify", "--ledger", url, "--end", noted)[0] == 0
    assert run("verify", "--ledger", url, "--end", f"1:{end.last_hash}")[0] == 1
    change(store, "DELETE FROM verdicts WHERE number = 2")
    status, output = run("verify", "--ledger", url)
    assert (status, "entries 2 to 2 are missing" in output) == (1, True)
    store.close()
