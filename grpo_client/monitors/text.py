"""A run as text: the step line, the evaluation line, a curve for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grpo_client.types import EvalReport

_BLOCKS = " ▁▂▃▄▅▆▇█"


def step_line(row: Mapping[str, float], steps: int) -> str:
    """One greppable line of a training step's metrics."""
    parts = [
        f"step {row['step']:>{len(str(steps))}.0f}/{steps}",
        f"reward {row['reward']:.3f}",
        f"accuracy {row['accuracy']:.3f}",
        f"tokens {row['tokens']:.1f}",
        f"entropy {row['entropy']:.3f}",
        f"clip {row['clip_share']:.3f}",
        f"grad {row['grad_norm']:.2f}",
        f"no signal {row['zero_signal']:.0%}",
        *_drawn(row),
        f"unscored {row['unscored']:.0f}",
        f"sample {row['generate_s']:.2f}s score {row['score_s']:.2f}s train {row['update_s']:.2f}s",
    ]
    return " | ".join(parts)


def _drawn(row: Mapping[str, float]) -> list[str]:
    """How a batch came about, where it was not simply sampled for the step."""
    parts = []
    if row["rounds"] > 1 or row["carried"]:
        kept, sampled = row["trained_groups"], row["sampled_groups"]
        parts.append(f"kept {kept:.0f} of {sampled:.0f} in {row['rounds']:.0f} rounds")
    if row["staleness"]:
        parts.append(f"stale {row['staleness']:.2f}")
    return parts


def eval_line(report: EvalReport) -> str:
    """The estimates, and all that qualifies them."""
    estimates = ", ".join(f"{name} {e.value:.3f}" for name, e in report.estimates.items())
    return (
        f"{estimates} on {report.problems} problems ({report.samples} samples: "
        f"{report.unscored} unscored, {report.unextracted} without an answer, "
        f"{report.truncated} cut off; {report.dropped_problems} problems left out)"
    )


def terminal_curve(
    points: Sequence[tuple[float, float]], title: str, *, width: int = 60, height: int = 8
) -> str:
    """Points (x ascending, y in 0..1) as a block chart; columns take the last point before them."""
    first, last = points[0][0], points[-1][0]
    columns = []
    for column in range(width):
        x = first + (last - first) * column / (width - 1)
        y = next(y for px, y in reversed(points) if px <= x + 1e-9 * (abs(x) + 1))
        columns.append(min(1.0, max(0.0, y)) * height)
    lines = [title]
    for level in range(height - 1, -1, -1):
        label = f"{(level + 1) / height:4.2f}" if level % 2 else "    "
        cells = (_BLOCKS[round(8 * min(1.0, max(0.0, c - level)))] for c in columns)
        lines.append(f"{label} ┤{''.join(cells)}")
    lines.append(f"     └{'─' * width}")
    lines.append(f"      {f'{first:g}':<{width - 8}}{f'step {last:g}':>8}")
    return "\n".join(lines)
