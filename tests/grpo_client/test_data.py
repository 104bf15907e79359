from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_client.data import draw, read_prompts
from grpo_client.errors import DataError
from tests.grpo_client.conftest import prompt

GOOD = {"prompt": "1+1=", "checker": "math", "params": {"answer": "2"}}


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines))
    return path


def test_rows_carry_everything_and_blank_lines_count_for_nothing(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "2?"}]
    second = {**GOOD, "prompt": messages, "id": "b", "tags": ["easy"]}
    path = write(tmp_path / "rows.jsonl", json.dumps(GOOD), "", json.dumps(second), "")
    first, other = read_prompts(path)
    assert (first.text, first.checker, first.params) == ("1+1=", "math", {"answer": "2"})
    assert (other.ordinal, other.text, other.id, other.tags) == (1, messages, "b", ("easy",))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r":2: not JSON"),
        ("[]", r":2: row: "),
        ('{"checker": "math"}', r":2: prompt: .*required"),
        ('{"prompt": "1", "checker": 5}', r":2: checker: .*string"),
        ('{"prompt": "1", "checker": "math", "param": {}}', r":2: param: .*a row is"),
        ('{"prompt": [{"role": "user"}], "checker": "math"}', r":2: prompt.*content"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "rows.jsonl", json.dumps(GOOD), line)
    with pytest.raises(DataError, match=r"rows\.jsonl" + message):
        read_prompts(path)


def test_a_missing_or_empty_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"can't read .*none\.jsonl"):
        read_prompts(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match="holds no row"):
        read_prompts(write(tmp_path / "empty.jsonl", "", " "))


PROMPTS = [prompt(str(i), i) for i in range(7)]


def test_an_epoch_shows_every_prompt_once_and_the_next_in_another_order() -> None:
    two = [p.ordinal for p in draw(PROMPTS, 0, 0, 14)]
    assert Counter(two) == {i: 2 for i in range(7)}
    assert sorted(two[:7]) == list(range(7))
    assert two[:7] != two[7:]


@given(st.integers(0, 40), st.integers(1, 30), st.integers(1, 30), st.integers(0, 5))
def test_the_order_is_a_function_of_the_position(
    start: int, first: int, second: int, seed: int
) -> None:
    whole = draw(PROMPTS, seed, start, first + second)
    assert whole == draw(PROMPTS, seed, start, first) + draw(PROMPTS, seed, start + first, second)


def test_seeds_give_different_orders() -> None:
    assert draw(PROMPTS, 0, 0, 7) != draw(PROMPTS, 1, 0, 7)
