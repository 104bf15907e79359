"""The trainer and the real service, over loopback."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from grpo_client.cli.main import app
from grpo_client.cli.service import open_reward
from grpo_client.config import RewardConfig
from grpo_client.errors import RewardError
from grpo_client.recipes import arithmetic
from grpo_client.types import Prompt, Rollout, RolloutGroup
from tests.grpo_client.conftest import TINY
from verifier_server.client import LocalServer


@pytest.fixture(scope="module")
def url() -> object:
    with LocalServer() as server:
        yield server.url


def children() -> set[int]:
    return {process.pid for process in psutil.Process().children(recursive=True)}


def group_of(prompt: Prompt, *texts: str) -> RolloutGroup:
    return RolloutGroup(prompt, (1,), tuple(Rollout((2,), (0.0,), "stop", t) for t in texts))


def test_the_recipes_rows_are_judged_as_it_means_them(url: str) -> None:
    row = arithmetic.heldout_rows()[0]
    prompt = Prompt(0, row["prompt"], row["checker"], row["params"])
    a, b = map(int, row["id"].split("+"))
    worked, wrong = arithmetic._worked(a, b), arithmetic._worked(a, b + 1)
    group = group_of(prompt, worked, wrong, f"\\boxed{{{a + b}}}", "<think>1+", worked[:-1], "")
    with open_reward(RewardConfig(url=url), [prompt], local=False) as reward:
        rewards = reward.score([group])[0].rewards
    assert [r.value for r in rewards] == pytest.approx([1.0, 0.1, 0.9, 0.0, 0.1, 0.0])
    assert [r.accuracy for r in rewards] == [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert [r.answer for r in rewards[:2]] == [str(a + b), str(a + b + 1)]
    assert rewards[3].outcome == "no_answer"


def test_a_broken_reference_is_unscored_and_stops_the_run(url: str) -> None:
    prompt = Prompt(0, "1+1=", "math", {"answer": "\\frac{"})
    with (
        open_reward(RewardConfig(url=url), [prompt], local=False) as reward,
        pytest.raises(RewardError, match=r"1 of 1 .*1 bad_reference"),
    ):
        reward.score([group_of(prompt, "\\boxed{2}")])


@pytest.mark.parametrize(
    ("checker", "params"),
    [("maths", {}), ("composite", {"parts": [{"checker": "maths", "params": {}}]})],
)
def test_a_checker_that_the_service_lacks_is_told_before_training(
    url: str, checker: str, params: dict[str, object]
) -> None:
    prompt = Prompt(0, "", checker, params)
    with (
        pytest.raises(RewardError, match=r"checker 'maths'.*\(it has: .*math"),
        open_reward(RewardConfig(url=url), [prompt], local=False),
    ):
        pass


def test_a_local_service_lives_as_long_as_the_run(tmp_path: Path) -> None:
    before = children()
    config = tmp_path / "run.toml"
    config.write_text(f"out = '{tmp_path / 'run'}'\n")
    settings = [*TINY, "threads=1", "train.steps=2", "rollout.prompts_per_step=4"]
    settings += ["reward.url=http://127.0.0.1:9", "evaluate.max_problems=8"]
    result = CliRunner().invoke(app, ["train", str(config), "--local", *settings])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert [row["unscored"] for row in rows] == [0] * len(rows)
    assert children() == before
