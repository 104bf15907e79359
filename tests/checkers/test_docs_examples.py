"""The examples in the documentation, and those that the checkers carry."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.checkers.conftest import Judge
from tests.conftest import ROOT
from verifier_server.checkers.registry import get_registry

NAMES = ["exact", "choice", "format", "constraint", "composite", "control"]
DOCS = (ROOT / "docs" / "checkers.md").read_text(encoding="utf-8")


def documented() -> list[dict[str, Any]]:
    blocks = re.findall(r"^```jsonl\n(.*?)^```$", DOCS, re.MULTILINE | re.DOTALL)
    return [json.loads(line) for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize(
    "row", documented(), ids=lambda row: f"{row['item']['checker']} {row['item']['completion']!r}"
)
def test_a_documented_item_gets_the_documented_verdict(judge: Judge, row: dict[str, Any]) -> None:
    item = row["item"]
    judgement = judge(item["checker"], item["completion"], item["params"])
    got = {name: getattr(judgement, name) for name in row["verdict"]}
    assert got == row["verdict"], judgement.explanation


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_documented(name: str) -> None:
    section = DOCS.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    fields = get_registry().get(name).Params.model_fields
    assert section
    assert [field for field in fields if f"`{field}`" not in section and field != "kind"] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_checker_gets_its_own_examples_right(judge: Judge, name: str) -> None:
    examples = get_registry().get(name).examples
    for example in examples:
        judgement = judge(name, example.completion, dict(example.params))
        assert judgement.score == example.score, example
        assert example.outcome in (None, judgement.outcome), example
        assert judgement.explanation
    scores = [example.score for example in examples]
    assert scores.count(1.0) >= 2
    assert scores.count(0.0) >= 3
