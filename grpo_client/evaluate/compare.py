"""A trained policy beside the one it came from: table, crossover, samples on disk.

Reinforcement learning may raise pass@1 and lower pass@k at large k, where the base model
overtakes it (Yue et al. 2025, arXiv 2504.13837); one number alone would not show that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from grpo_client.types import EvalReport, RolloutGroup


def table(reports: Mapping[str, EvalReport]) -> str:
    """One line an estimate, one column a policy, each with its 95 % interval."""
    names = list(dict.fromkeys(n for report in reports.values() for n in report.estimates))
    rows = [["", *reports]]
    for name in names:
        cells = [report.estimates.get(name) for report in reports.values()]
        rows.append([name, *(str(cell or "not available") for cell in cells)])
    for label in ("samples", "unscored", "unextracted", "truncated", "dropped_problems"):
        rows.append([label, *(str(getattr(report, label)) for report in reports.values())])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def crossover(base: EvalReport, trained: EvalReport) -> int | None:
    """The least k at which the base's pass@k is above the trained one's; None if nowhere."""
    ks = sorted(int(name[5:]) for name in base.estimates if name.startswith("pass@"))
    above = (
        k for k in ks if base.estimates[f"pass@{k}"].value > trained.estimates[f"pass@{k}"].value
    )
    return next(above, None)


def write_samples(groups: Sequence[RolloutGroup], path: Path) -> None:
    """Every sample, one JSON object a line: what each number can be computed from again."""
    with path.open("w", encoding="utf-8") as file:
        for group in groups:
            for number, (rollout, reward) in enumerate(
                zip(group.rollouts, group.rewards, strict=True)
            ):
                row = {
                    "problem": group.prompt.ordinal,
                    "id": group.prompt.id,
                    "sample": number,
                    "text": rollout.text,
                    "tokens": len(rollout.token_ids),
                    "finish_reason": rollout.finish_reason,
                    "reward": reward.value,
                    "accuracy": reward.accuracy,
                    "outcome": reward.outcome,
                    "answer": reward.answer,
                    "components": dict(reward.components),
                }
                file.write(json.dumps(row) + "\n")
