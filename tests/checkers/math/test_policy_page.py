"""The tables of docs/math.md say what the checker does."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.checkers.math.conftest import ask
from tests.conftest import ROOT
from verifier_server.checkers.math.checker import MathChecker

_PAGE = (ROOT / "docs" / "math.md").read_text()
_TABLES = tomllib.loads((ROOT / "docs" / "math.toml").read_text())


@pytest.mark.parametrize("row", _TABLES["form"], ids=lambda row: row["name"])
def test_a_form_accepts_and_rejects_what_its_row_says(row: dict[str, Any]) -> None:
    for accepted, answers in ((1, row["accepts"]), (0, row["rejects"])):
        for answer in answers:
            judgement = ask(f"\\boxed{{{answer}}}", row["gold"], **row.get("params", {}))
            assert judgement.score == accepted, (answer, judgement.explanation)


@pytest.mark.parametrize("row", _TABLES["deviation"], ids=lambda r: f"{r['mode']}: {r['name']}")
def test_a_mode_deviates_as_its_row_says(row: dict[str, Any]) -> None:
    assert row["standard"] != row["other"]
    assert ask(row["completion"], row["gold"]).score == row["standard"]
    assert ask(row["completion"], row["gold"], mode=row["mode"]).score == row["other"]


def test_the_page_holds_every_row_and_option() -> None:
    names = [row["name"] for table in _TABLES.values() for row in table]
    options = [f"`{option}`" for option in MathChecker.Params.model_fields]
    assert [text for text in (*names, *options) if text not in _PAGE] == []


def test_every_mode_has_its_deviations() -> None:
    modes = MathChecker.Params.model_json_schema()["properties"]["mode"]["enum"]
    assert {row["mode"] for row in _TABLES["deviation"]} == set(modes) - {"standard"}
