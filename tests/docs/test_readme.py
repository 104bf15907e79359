"""Every block of the README runs, as it stands, against a real server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from verifier_server.client import LocalServer

BLOCKS = re.findall(r"```(sh|python)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
MAKE, SERVE, CURL, SCORE, DRY_RUN = (text for kind, text in BLOCKS if kind == "sh")
URL = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with LocalServer() as server:
        yield server.url


def run(command: list[str], cwd: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def ours(block: str) -> str:
    """The block with this interpreter's commands, wherever its environment is."""
    return block.replace(".venv/bin", os.path.dirname(sys.executable))


def test_the_make_targets_exist() -> None:
    targets = re.findall(r"^make (\w+)", MAKE, re.MULTILINE)
    assert targets == ["demo", "test"]
    for target in targets:
        run(["make", "--dry-run", target])


def test_curl_gets_a_verdict(url: str) -> None:
    verdict = json.loads(run(["bash", "-c", CURL.replace(URL, url)]))
    assert (verdict["score"], verdict["outcome"]) == (1, "accepted")


@pytest.mark.parametrize("block", [text for kind, text in BLOCKS if kind == "python"])
def test_python(block: str, url: str) -> None:
    run([sys.executable, "-c", block.replace(URL, url)])


def test_a_file_is_scored(tmp_path: Path) -> None:
    assert "accepted" in run(["bash", "-ec", ours(SCORE)], cwd=tmp_path)


def test_the_dry_run_tells_what_it_would_do() -> None:
    assert "512 sequences" in run(["bash", "-ec", ours(DRY_RUN)])


def test_serve_is_a_command() -> None:
    assert "Serve" in run(["bash", "-ec", ours(SERVE.strip() + " --help")])


def test_the_demo_scores_trains_and_stops(tmp_path: Path) -> None:
    shorten = ["warm_start.max_steps=2", "warm_start.evaluate_from=2", "train.steps=1"]
    shorten += ["rollout.prompts_per_step=2", "evaluate.max_problems=8", f"out={tmp_path}"]
    printed = run([sys.executable, "scripts/demo.py", *shorten])
    for word in ("accepted", "wrong_answer", "bad_reference", "time_limit", "is stopped"):
        assert word in printed
