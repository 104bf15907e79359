"""Cases with known verdicts: exploits are never paid, idioms never refused."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.judging import judge
from tests.conftest import ROOT

FOLDER = ROOT / "tests" / "checkers" / "code" / "cases"
PARAMS = ("language", "function", "asserts", "compare", "float", "limits")


def _cases() -> list[Any]:
    return [
        pytest.param(path.stem, case, id=f"{path.stem}: {case['why']}")
        for path in sorted(FOLDER.glob("*.toml"))
        for case in tomllib.loads(path.read_text())["case"]
    ]


def _params(mode: str, case: dict[str, Any]) -> dict[str, Any]:
    params = {"mode": mode, **{name: case[name] for name in PARAMS if name in case}}
    if mode == "stdio":
        params["tests"] = [{"stdin": _long(i), "stdout": _long(o)} for i, o in case["tests"]]
    elif mode == "function":
        params["tests"] = [_call(test) for test in case["tests"]]
    elif mode == "pytest":
        params["files"] = {"test_it.py": case["test"]}
    return params


def _long(text: str) -> str:
    return text.replace("__nines__", "9" * 5000).replace("__one_and_zeros__", "1" + "0" * 5000)


def _call(test: str) -> dict[str, Any]:
    args, _, returns = test.partition(" -> ")
    return {"args": json.loads(args, strict=False), "returns": json.loads(returns, strict=False)}


@pytest.mark.parametrize(("mode", "case"), _cases())
def test_case(mode: str, case: dict[str, Any], provider: SandboxProvider) -> None:
    fenced = f"```{case.get('language', 'python')}\n{case.get('source')}\n```"
    judgement = judge(case.get("completion", fenced), _params(mode, case), provider)
    assert judgement.score == case["score"], judgement
    assert judgement.outcome.value in case.get("outcomes", [judgement.outcome.value]), judgement
