"""2N steps = N steps + a checkpoint + N steps, bit for bit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from grpo_client.errors import TrainerError
from grpo_client.train.checkpoint import newest_checkpoint, restore, save_checkpoint
from grpo_client.train.loop import Trainer
from tests.grpo_client.tiny import PROMPTS, make_trainer, resumed, run, same, weights

RUNS = {
    "grpo, two updates": ["train.minibatches=2", "train.schedule=linear", "train.steps=6"],
    "dapo": ["algorithm.preset=dapo", "algorithm.overlong_share=0.5"],
    "gspo": ["algorithm.preset=gspo"],
    "ppo": ["algorithm.preset=ppo", "train.minibatches=2", "critic.learning_rate=1e-3"],
    "a moving reference": ["algorithm.kl_coef=0.1", "algorithm.reference_every=2"],
    "adapters with KL": ["model.lora.rank=4", "algorithm.kl_coef=0.1"],
}
SECONDS = {"generate_s", "score_s", "scoring_s", "update_s"}


def told(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{k: v for k, v in row.items() if k not in SECONDS} for row in rows]


def everything(trainer: Trainer, folder: Path) -> dict[str, torch.Tensor]:
    """All that a checkpoint holds: policy, moments, critic, reference."""
    saved = save_checkpoint(trainer, folder)
    return {
        f"{f.name}/{k}": v for f in saved.glob("*.safetensors") for k, v in load_file(f).items()
    }


@pytest.mark.parametrize("name", RUNS)
def test_a_resumed_run_equals_one_that_was_never_stopped(name: str, tmp_path: Path) -> None:
    straight = make_trainer(*RUNS[name])
    expected = told(run(straight, 6))

    first = make_trainer(*RUNS[name])
    rows = told(run(first, 3))
    save_checkpoint(first, tmp_path)
    if name == "dapo":
        assert first.collector.carry, "the case is about groups that are left over"
    second = resumed(tmp_path, *RUNS[name])
    rows += told(run(second, 3))

    assert rows == expected
    assert second.step == straight.step == 6
    assert same(weights(second), weights(straight))
    one, other = everything(second, tmp_path / "a"), everything(straight, tmp_path / "b")
    assert one.keys() == other.keys()
    assert all(torch.equal(one[key], other[key]) for key in one)


def test_a_run_killed_in_the_middle_of_a_step_goes_on_as_if_nothing_had_happened(
    tmp_path: Path,
) -> None:
    code = (
        "import sys, torch; torch.set_num_threads(1)\n"
        "from pathlib import Path\n"
        "from tests.grpo_client.tiny import make_trainer, run\n"
        "trainer, out = make_trainer(*sys.argv[2:]), Path(sys.argv[1])\n"
        "while True:\n"
        "    run(trainer, 1, out)\n"
        "    print(trainer.step, flush=True)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path), *RUNS["dapo"]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline().strip() for _ in range(2)] == ["1", "2"]
        process.kill()
    newest = newest_checkpoint(tmp_path)
    assert newest is not None
    trainer = resumed(tmp_path, *RUNS["dapo"])
    assert trainer.step >= 2
    steps = trainer.step + 2
    run(trainer, 2)
    straight = make_trainer(*RUNS["dapo"])
    run(straight, steps)
    assert same(weights(trainer), weights(straight))


def test_a_checkpoint_that_was_cut_short_is_not_taken_for_one(tmp_path: Path) -> None:
    """Whatever is missing when the process dies, the one before is what a run goes on from."""
    trainer = make_trainer()
    run(trainer, 2, tmp_path)
    whole = tmp_path / "step-000002"
    whole.rename(tmp_path / ".step-000002.partial")
    (tmp_path / ".step-000002.partial" / "trainer.json").unlink()
    assert resumed(tmp_path).step == 1


def test_other_data_or_another_kind_of_run_is_refused(tmp_path: Path) -> None:
    trainer = make_trainer()
    run(trainer, 1, tmp_path)
    with pytest.raises(TrainerError, match=r"no checkpoint of such a run.*reference"):
        resumed(tmp_path, "algorithm.kl_coef=0.1")
    changed = make_trainer()
    changed.prompts = PROMPTS[1:]
    with pytest.raises(TrainerError, match="training data is not that of"):
        restore(changed, tmp_path / "step-000001")
