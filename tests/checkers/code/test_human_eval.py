from __future__ import annotations

from typing import Literal

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.human_eval_items import human_eval_items
from tests.checkers.code.judging import judge
from verifier_server.verdict import Outcome


@pytest.mark.parametrize("mode", ["function", "asserts"])
def test_canonical_solutions_pass_and_mutated_ones_fail(
    mode: Literal["function", "asserts"], provider: SandboxProvider
) -> None:
    items = human_eval_items(provider, mode)
    assert len(items) == 164
    # A sample: the whole set goes through the server's own tests.
    for item in items[::20]:
        assert judge(item.right, item.params, provider).outcome is Outcome.ACCEPTED, item.task_id
        assert judge(item.mutated, item.params, provider).score == 0, item.task_id
