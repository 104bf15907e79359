"""A short soak: nothing is left, and no run's end depends on its neighbours."""

from __future__ import annotations

import pytest

from benchmarks.soak import PROGRAMS, soak
from tests.sandboxes.conftest import EMBEDDED


@pytest.mark.parametrize("level", EMBEDDED)
def test_a_third_of_hostile_runs_leaves_nothing(level: str) -> None:
    assert soak(level, runs=2 * len(PROGRAMS), at_once=8) == []
