from __future__ import annotations

from pathlib import Path

from grpo_client.monitors.jsonl import FILE_NAME, JsonlMonitor, read_rows
from grpo_client.monitors.plot import plot_run
from grpo_client.monitors.text import terminal_curve


def test_metrics_are_read_as_they_were_written_and_a_torn_line_is_left_out(tmp_path: Path) -> None:
    monitor = JsonlMonitor(tmp_path)
    monitor.start(0)
    monitor.write("step", {"step": 1, "reward": 0.5})
    with (tmp_path / FILE_NAME).open("a") as file:
        file.write('{"event": "st')
    assert read_rows(tmp_path / FILE_NAME) == [{"event": "step", "step": 1, "reward": 0.5}]


def test_a_resumed_run_forgets_the_steps_it_will_repeat_and_a_new_one_all(tmp_path: Path) -> None:
    monitor = JsonlMonitor(tmp_path)
    monitor.start(0)
    monitor.write("warm_start", {"step": 100})
    for step in range(1, 6):
        monitor.write("step", {"step": step})
    monitor.start(3)
    assert [row["step"] for row in read_rows(tmp_path / FILE_NAME)] == [100, 1, 2, 3]
    monitor.start(0)
    assert read_rows(tmp_path / FILE_NAME) == []


def test_the_terminal_curve_rises_with_the_values() -> None:
    text = terminal_curve([(0, 0.0), (5, 0.5), (10, 1.0)], "pass@1", width=11, height=4)
    title, *rows = text.splitlines()
    assert title == "pass@1"
    heights = [sum(row[6 + x] == "█" for row in rows[:4]) for x in range(11)]
    assert heights == [0] * 5 + [2] * 5 + [4]
    assert rows[-1].split() == ["0", "step", "10"]


def test_a_single_point_still_makes_a_curve() -> None:
    assert "█" in terminal_curve([(0, 1.0)], "pass@1")


def test_the_plot_is_a_png(tmp_path: Path) -> None:
    rows = [{"event": "step", "step": 1, "reward": 0.5}, {"event": "eval", "step": 0, "pass@1": 0}]
    plot_run(rows, tmp_path / "curve.png", "title")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
