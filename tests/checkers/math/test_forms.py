"""Every form of answer, accepted and rejected."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checkers.math.completions import COMPLETIONS
from tests.checkers.math.conftest import ask
from tests.checkers.math.forms import FORMS, Row
from tests.checkers.math.variants import VARIANTS
from verifier_server.verdict import Outcome

_ROWS = [
    (kind, row[0], answer, verdict, row[3] if len(row) > 3 else {})
    for kind, rows in (*FORMS.items(), *VARIANTS.items())
    for row in rows
    for verdict, answers in ((True, row[1]), (False, row[2]))
    for answer in answers
]


@pytest.mark.parametrize(
    ("kind", "gold", "answer", "accepted", "options"),
    _ROWS,
    ids=[f"{kind}-{n}" for n, (kind, *_) in enumerate(_ROWS)],
)
def test_form_gets_its_verdict(
    kind: str, gold: str, answer: str, accepted: bool, options: dict[str, Any]
) -> None:
    judgement = ask(f"The result is $\\boxed{{{answer}}}$.", gold, **options)
    assert (judgement.score == 1) is accepted, judgement.explanation
    assert judgement.score is not None
    assert accepted or judgement.explanation


@pytest.mark.parametrize("row", COMPLETIONS, ids=[str(n) for n in range(len(COMPLETIONS))])
def test_answer_is_taken_from_the_right_place(row: Any) -> None:
    gold, completion, verdict, options = (*row, {})[:4]
    judgement = ask(completion, gold, **options)
    assert (judgement.score == 1) is (verdict is True), judgement
    if verdict == "no_answer":
        assert judgement.outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize("rows", [*FORMS.values(), *VARIANTS.values()])
def test_every_gold_equals_itself_however_it_is_boxed(rows: list[Row]) -> None:
    for row in rows:
        gold, options = row[0], row[3] if len(row) > 3 else {}
        for completion in (f"\\boxed{{{gold}}}", f"\\boxed{{ {gold} }}", f"$$\\boxed{{{gold}}}$$."):
            assert ask(completion, gold, **options).score == 1, completion
