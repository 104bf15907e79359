"""Fixtures that every area shares."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


def cases_folder() -> Path | None:
    """The folder of cases with known verdicts, if this checkout has it beside it."""
    folder = Path(os.environ.get("ANSWERKEY_CASES", ROOT.parent / "shared" / "cases"))
    return folder if folder.is_dir() else None


def expand(text: Any) -> Any:
    """A case's completion: itself, or what its generator object stands for."""
    if not isinstance(text, dict):
        return text
    out = text.get("before", "") + text["repeat"] * text["times"] + text.get("then", "")
    if "repeat2" in text:
        out += text["repeat2"] * text.get("times2", text["times"])
    return out + text.get("after", "")


def load_cases(name: str) -> list[dict[str, Any]]:
    """The cases of one file, completions expanded; none where the folder is not there."""
    folder = cases_folder()
    if folder is None:
        return []
    rows = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    return [{**row, "completion": expand(row["completion"])} for row in rows]


@pytest.fixture(scope="session", autouse=True)
def heed_interrupts() -> None:
    """A shell starts background jobs with SIGINT ignored, which every child would inherit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def record_nothing() -> None:
    """Services of tests write no ledger into the user's home, unless one is named."""
    os.environ.setdefault("VERIFIER_LEDGER", "off")


@pytest.fixture(scope="session")
def repo_root() -> Path:
    return ROOT
