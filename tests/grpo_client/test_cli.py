from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from grpo_client.cli import evaluate as evaluate_command
from grpo_client.cli import train as train_command
from grpo_client.cli.main import app
from grpo_client.config import RewardConfig
from grpo_client.reward import VerifierReward
from grpo_client.types import Prompt
from tests.grpo_client.conftest import TINY
from tests.grpo_client.fakes import FakeVerifier, Judge
from verifier_server.client import Item

Invoke = Callable[..., Result]
SMALL = [
    *TINY,
    "threads=1",
    "rollout.prompts_per_step=4",
    "rollout.group_size=4",
    "train.steps=4",
    "evaluate.every=2",
    "evaluate.max_problems=6",
]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def invoke(tmp_path: Path, out: Path) -> Invoke:
    config = tmp_path / "run.toml"
    config.write_text(f"out = '{out}'\n")
    return lambda command, *rest: CliRunner().invoke(app, [command, str(config), *SMALL, *rest])


def has_digit(item: Item) -> float:
    return float(any(c.isdigit() for c in item.completion_text[:2]))


def serve_by(monkeypatch: pytest.MonkeyPatch, judge: Judge) -> None:
    """Puts a verifier in this process where the commands would open a client."""

    @contextmanager
    def opened(
        config: RewardConfig, prompts: Sequence[Prompt], *, local: bool
    ) -> Iterator[VerifierReward]:
        yield VerifierReward(FakeVerifier(judge), config)

    monkeypatch.setattr(train_command, "open_reward", opened)
    monkeypatch.setattr(evaluate_command, "open_reward", opened)


def test_help_comes_without_loading_torch() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from grpo_client.cli.main import app; "
        "print(CliRunner().invoke(app, ['train', '--help']).output); "
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--dry-run" in done.stdout


def test_a_dry_run_prints_the_resolved_configuration_and_its_arithmetic(invoke: Invoke) -> None:
    result = invoke("train", "--dry-run", "--set", "train.steps=6", "train.minibatches=2")
    assert result.exit_code == 0
    tree = tomllib.loads(result.output)
    assert tree["train"]["steps"] == 6
    assert tree["algorithm"]["preset"] == "grpo"
    assert tree["algorithm"]["normalize"] == "sequence"
    assert "4 prompts x 4 completions = 16 sequences, at most 192 sampled tokens" in result.output
    assert "6 steps, 12 updates, 96 verdicts, 24 prompts drawn" in result.output


def test_a_dry_run_says_how_far_dynamic_sampling_may_go(invoke: Invoke) -> None:
    result = invoke("train", "--dry-run", "algorithm.preset=dapo", "algorithm.max_rounds=7")
    assert "up to 7 times as much" in result.output
    assert (
        "dynamic"
        not in invoke("train", "--dry-run", "algorithm.preset=gspo").output.split("#", 1)[1]
    )


def test_a_slip_in_a_setting_is_told_in_one_line(invoke: Invoke) -> None:
    result = invoke("train", "train.stpes=3")
    assert result.exit_code == 2
    assert result.output == "error: unknown key train.stpes (did you mean train.steps?)\n"


def test_an_unreachable_verifier_is_an_error_with_the_remedy(invoke: Invoke) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    result = invoke("train", "--url", f"http://127.0.0.1:{port}")
    assert result.exit_code == 1
    assert f"no verifier answers at http://127.0.0.1:{port}" in result.output
    assert "verifier-server serve" in result.output
    assert "Traceback" not in result.output


def test_a_run_leaves_metrics_curve_checkpoint_and_configuration(
    invoke: Invoke, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_by(monkeypatch, has_digit)
    result = invoke("train")
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows if row["event"] == "step"] == [1, 2, 3, 4]
    assert [row["step"] for row in rows if row["event"] == "eval"] == [0, 2, 4, 4]
    assert (out / "curve.png").exists()
    assert (out / "step-000004" / "model.safetensors").exists()
    first, last = (row["pass@1"] for row in (rows[0], rows[-1]))
    assert result.output.splitlines()[-1] == f"pass@1 {first:.2f} -> {last:.2f}"
    assert tomllib.loads((out / "config.toml").read_text())["train"]["steps"] == 4

    resumed = invoke("train", "--resume", "train.steps=5")
    assert resumed.exit_code == 0, resumed.output
    assert "step 5/5" in resumed.output
    assert "step 4/5" not in resumed.output
    assert resumed.output.splitlines()[-1].startswith(f"pass@1 {first:.2f} -> ")

    measured = invoke("eval", "evaluate.samples=3", "evaluate.k=[1, 3]")
    assert measured.exit_code == 0, measured.output
    assert measured.output.startswith(f"{out / 'step-000005'}: pass@1 ")
    assert "pass@3" in measured.output

    compared = invoke("eval", "--compare", "evaluate.samples=4", "evaluate.k=[1, 2, 4]")
    assert compared.exit_code == 0, compared.output
    lines = compared.output.splitlines()
    assert lines[2].split() == ["base", "trained"]
    assert [line.split()[0] for line in lines[3:6]] == ["pass@1", "pass@2", "pass@4"]
    assert "the base is ahead" in compared.output
    assert (out / "pass_at_k.png").read_bytes().startswith(b"\x89PNG")
    for name in ("base", "trained"):
        assert len((out / f"samples-{name}.jsonl").read_text().splitlines()) == 6 * 4


def test_training_ends_once_the_goal_is_reached(
    invoke: Invoke, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_by(monkeypatch, lambda item: 1.0)
    result = invoke("train", "evaluate.stop_at_pass_1=0.5")
    assert result.exit_code == 0, result.output
    assert [path.name for path in out.glob("step-*")] == ["step-000002"]


def test_the_warm_start_ends_at_its_goal_and_precedes_training(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_by(monkeypatch, has_digit)
    result = invoke(
        "train",
        "warm_start.max_steps=4",
        "warm_start.evaluate_from=1",
        "warm_start.evaluate_every=1",
        "warm_start.stop_at_pass_1=0",
    )
    lines = [line.partition(":")[0] for line in result.output.splitlines()]
    assert lines[:3] == ["warm start", "warm_start at step 1", "eval at step 0"]


def test_ctrl_c_saves_the_finished_step_and_exits_130(
    invoke: Invoke, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupts(item: Item) -> float:
        if interrupts.calls == 40:  # type: ignore[attr-defined]
            signal.raise_signal(signal.SIGINT)  # in the middle of scoring step 3
        interrupts.calls += 1  # type: ignore[attr-defined]
        return has_digit(item)

    interrupts.calls = 0  # type: ignore[attr-defined]
    handler = signal.getsignal(signal.SIGINT)
    serve_by(monkeypatch, interrupts)
    result = invoke("train", "evaluate.every=0")
    assert result.exit_code == 130
    assert [path.name for path in out.glob("step-*")] == ["step-000003"]
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_verifier_that_stops_scoring_ends_the_run_with_its_progress_saved(
    invoke: Invoke, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = iter([1.0] * (6 + 16 + 16))  # the first evaluation and two steps
    serve_by(monkeypatch, lambda item: next(scores, None))
    result = invoke("train", "evaluate.every=0")
    assert result.exit_code == 1
    assert "16 of 16 completions came back without a score" in result.output
    assert [path.name for path in out.glob("step-*")] == ["step-000002"]


def test_a_new_run_does_not_mix_with_an_earlier_one_unless_told(
    invoke: Invoke, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_by(monkeypatch, has_digit)
    assert invoke("train", "train.steps=3", "evaluate.every=0").exit_code == 0
    refused = invoke("train", "train.steps=2", "evaluate.every=0")
    assert refused.exit_code == 1
    assert "--resume" in refused.output
    assert "--overwrite" in refused.output
    assert invoke("train", "train.steps=2", "evaluate.every=0", "--overwrite").exit_code == 0
    assert [path.name for path in out.glob("step-*")] == ["step-000002"]


def test_resuming_from_nothing_says_so(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    serve_by(monkeypatch, has_digit)
    result = invoke("train", "--resume")
    assert result.exit_code == 1
    assert "no checkpoint in" in result.output
