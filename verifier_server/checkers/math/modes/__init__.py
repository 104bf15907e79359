"""Compatibility modes: another grader's published rules, for who must match an old run.

Each is our own code in a module of its own with `check_golds` and `judge`, imported when asked
for. Two rules of ours hold in all of them: only what follows the last `</think>` counts, and
what is too large is refused before anything is done with it. What else each does otherwise
than `standard` is named in docs/math.md and tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from verifier_server.verdict import Judgement

_MODULES = {"dapo": "dapo", "hendrycks": "hendrycks", "math-verify": "math_verify"}


class Mode(Protocol):
    """What the module of a mode offers."""

    def check_golds(self, golds: Sequence[str]) -> None:
        """Raises BadReference for a gold that these rules make nothing of."""

    def judge(self, completion: str, golds: Sequence[str]) -> Judgement:
        """Judges by these rules; any gold counts. Raises BadReference as above."""


def get_mode(name: str) -> Mode:
    """The mode of that name, one of `MathParams.mode` but `standard`."""
    return cast(Mode, import_module(f"{__name__}.{_MODULES[name]}"))
