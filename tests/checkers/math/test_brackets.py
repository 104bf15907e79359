"""Square brackets that are turned outwards, and texts that only look like it."""

from __future__ import annotations

import pytest

from verifier_server.checkers.math.brackets import turned_inwards


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("]1,2[", "(1,2)"),
        ("[1,2[", "[1,2)"),
        ("]1,2]", "(1,2]"),
        (r"x\in\left]0,1\right[", r"x\in\left(0,1\right)"),
        (r"]-\infty,\frac{1}{2}]\cup]1,f(2)[", r"(-\infty,\frac{1}{2}]\cup(1,f(2))"),
    ],
)
def test_open_ends_become_round(text: str, turned: str) -> None:
    assert turned_inwards(text) == turned


@pytest.mark.parametrize(
    "text",
    [
        "", "5", "[1,2]", "(1,2]", "[1,2)", r"(0,1]\cup[2,3)", "(1,2],[3,4)", "(1,2],5,[3,4)",
        r"\sqrt[3]{2}", "]1,2", "][", "],[", "]1[", "]1,2,3[", "([1,2])",
    ],
)  # fmt: skip
def test_everything_else_stays(text: str) -> None:
    assert turned_inwards(text) == text
