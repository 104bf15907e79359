"""A run's curves as a PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def plot_run(rows: Sequence[dict[str, Any]], path: Path, title: str) -> None:
    """Reward of each batch and held-out pass@1 over training steps.

    Args:
        rows: of a metrics.jsonl.
        path: the PNG to write.
        title: above the axes.
    """
    steps = [row for row in rows if row["event"] == "step"]
    evaluations = [row for row in rows if row["event"] == "eval"]
    figure = Figure(figsize=(7, 4), dpi=120, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
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
