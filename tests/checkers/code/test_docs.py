"""The examples of docs/code.md get the verdicts that stand beside them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.judging import judge
from tests.conftest import ROOT
from verifier_server.checkers.code.languages import LANGUAGES
from verifier_server.verdict import Tampering

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


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_is_documented(name: str) -> None:
    language = LANGUAGES[name]
    tags = ", ".join(f"`{tag}`" for tag in sorted(language.tags))
    row = rf"^\| `{name}` \| {re.escape(tags)} \| .* \| {re.escape(language.needs)} \|$"
    assert re.search(row, DOCS, re.MULTILINE)


@pytest.mark.parametrize("kind", Tampering)
def test_what_is_seen_of_tampering_is_documented(kind: Tampering) -> None:
    assert f"`{kind.value}`" in DOCS
