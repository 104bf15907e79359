"""The examples of docs/code.md get the verdicts that stand beside them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.judging import judge
from tests.conftest import ROOT

DOCS = (ROOT / "docs" / "code.md").read_text()
ROWS = [
    json.loads(line)
    for block in re.findall(r"^```jsonl\n(.*?)^```$", DOCS, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["item"]["params"]["mode"])
def test_a_documented_item_gets_the_documented_verdict(
    row: dict[str, Any], provider: SandboxProvider
) -> None:
    item = row["item"]
    judgement = judge(item["completion"], item["params"], provider)
    got = {name: getattr(judgement, name) for name in row["verdict"]}
    assert got == row["verdict"], judgement.explanation
