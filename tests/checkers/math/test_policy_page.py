"""The tables of docs/math.md say what the checker does."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.checkers.math.conftest import ask
from tests.conftest import ROOT

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
