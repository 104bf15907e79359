"""Curves as a PNG: of a run, and of policies over k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grpo_client.types import EvalReport


def plot_pass_at_k(reports: Mapping[str, EvalReport], path: Path, title: str) -> None:
    """pass@k over k of several policies, with their intervals.

    Args:
        reports: by the policy's name.
        path: the PNG to write.
        title: above the axes.
    """
    canvas, axes = _canvas()
    for (name, report), color in zip(reports.items(), ("#9db4c8", "#0b5394"), strict=False):
        points = sorted(
            (int(key[5:]), e) for key, e in report.estimates.items() if key.startswith("pass@")
        )
        ks = [k for k, _ in points]
        axes.plot(ks, [e.value for _, e in points], color=color, marker="o", label=name)
        lows, highs = [e.low for _, e in points], [e.high for _, e in points]
        axes.fill_between(ks, lows, highs, color=color, alpha=0.2, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="k", ylabel="pass@k", ylim=(0, 1.02), title=title)
    axes.grid(alpha=0.25)
    axes.legend(loc="lower right", frameon=False)
    canvas.print_png(path)  # type: ignore[no-untyped-call]


def _canvas() -> tuple[FigureCanvasAgg, Axes]:
    figure = Figure(figsize=(7, 4), dpi=120, layout="constrained")
    return FigureCanvasAgg(figure), figure.add_subplot()


def plot_run(rows: Sequence[dict[str, Any]], path: Path, title: str) -> None:
    """Reward of each batch and held-out pass@1 over training steps.

    Args:
        rows: of a metrics.jsonl.
        path: the PNG to write.
        title: above the axes.
    """
    steps = [row for row in rows if row["event"] == "step"]
    evaluations = [row for row in rows if row["event"] == "eval"]
    canvas, axes = _canvas()
    axes.plot(
        [row["step"] for row in steps],
        [row["reward"] for row in steps],
        color="#9db4c8",
        linewidth=1.2,
        label="mean reward of the batch",
    )
    axes.plot(
        [row["step"] for row in evaluations],
        [row["pass@1"] for row in evaluations],
        color="#0b5394",
        marker="o",
        markersize=4,
        label="held-out pass@1",
    )
    axes.set(xlabel="training step", ylim=(0, 1.02), title=title)
    axes.grid(alpha=0.25)
    axes.legend(loc="lower right", frameon=False)
    canvas.print_png(path)  # type: ignore[no-untyped-call]
