"""HumanEval's 164 problems: every canonical solution is accepted, every mutated one rejected."""

from __future__ import annotations

from contextlib import closing
from typing import Literal

import pytest

from sandboxes.registry import open_provider
from tests.checkers.code.human_eval_items import human_eval_items
from verifier_server.client import VerifierClient


@pytest.mark.parametrize("mode", ["function", "asserts"])
def test_none_of_the_164_is_judged_wrongly(
    mode: Literal["function", "asserts"], client: VerifierClient
) -> None:
    with closing(open_provider()) as provider:
        problems = human_eval_items(provider, mode)
    assert len(problems) == 164
    items = [
        {"checker": "code", "completion": completion, "params": problem.params}
        for problem in problems
        for completion in (problem.right, problem.mutated)
    ]
    verdicts = client.score(items)
    wrong = [
        (problems[v.index // 2].task_id, v.outcome, v.explanation)
        for v in verdicts
        if v.score != 1 - v.index % 2
    ]
    assert wrong == []
