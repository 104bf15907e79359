from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier_server.checkers.code.extract import extract

TAGS = frozenset({"python", "py", "python3"})
CODE = "n = int(input())\nif n:\n    print(n)\n"


def program(completion: str) -> str | None:
    """The program of a fence; None where the completion has none."""
    source = extract(completion, TAGS)
    return source.text if source is not None and source.fenced else None


@pytest.mark.parametrize("tag", ["python", "py", "python3", "Python", "PY", " python", "{python}"])
def test_every_name_of_the_language_counts(tag: str) -> None:
    assert program(f"Here:\n\n```{tag}\n{CODE}```\n") == CODE


@pytest.mark.parametrize("info", ["python title=a.py", "python3 {linenos}", "py, numbered"])
def test_words_after_the_language_are_ignored(info: str) -> None:
    assert program(f"```{info}\n{CODE}```") == CODE


@pytest.mark.parametrize("fence", ["````", "~~~", "~~~~~"])
def test_longer_fences_and_tildes_hold_backticks(fence: str) -> None:
    code = "s = '''\n```\n'''\n"
    assert program(f"{fence}python\n{code}{fence}\nDone.") == code


def test_a_longer_fence_closes_a_shorter_one() -> None:
    assert program(f"```python\n{CODE}`````\nDone.") == CODE


def test_a_fence_with_words_after_it_does_not_close() -> None:
    assert program("```python\na = 1\n``` no\nb = 2\n```") == "a = 1\n``` no\nb = 2\n"


def test_an_unclosed_last_fence_runs_to_the_end() -> None:
    assert program(f"Sum:\n\n```python\n{CODE}") == CODE


def test_the_last_block_of_the_language_counts() -> None:
    text = f"```python\nwrong\n```\nBetter:\n```py\n{CODE}```\nRun:\n```bash\npython3 a.py\n```"
    assert program(text) == CODE


def test_a_lone_untagged_block_counts_beside_other_languages() -> None:
    assert program(f"```\n{CODE}```\nOutput:\n```text\n8\n```") == CODE


def test_of_two_untagged_blocks_none_counts() -> None:
    assert program(f"```\n{CODE}```\n```\n8\n```") is None


def test_an_untagged_block_gives_way_to_a_tagged_one() -> None:
    assert program(f"```python\n{CODE}```\n```\n8\n```") == CODE


@pytest.mark.parametrize("indent", ["  ", "   ", "     ", "\t"])
def test_the_indentation_of_a_list_item_is_taken_off(indent: str) -> None:
    lines = "".join(indent + line + "\n" for line in ["```python", *CODE.splitlines(), "```"])
    assert program(f"1. First:\n\n{lines}\n2. Done.") == CODE


@pytest.mark.parametrize(("marker", "blanks"), [("- ", "  "), ("10. ", "    "), ("> ", "> ")])
def test_a_fence_may_follow_its_marker(marker: str, blanks: str) -> None:
    body = "".join(blanks + line + "\n" for line in CODE.splitlines())
    assert program(f"{marker}```python\n{body}{blanks}```\nDone.") == CODE


def test_a_fence_in_a_docstring_does_not_close() -> None:
    code = 'def f():\n    """Doubles.\n\n    ```\n    f(1)\n    ```\n    """\n'
    assert program(f"```python\n{code}```\nDone.") == code


def test_crlf_line_ends_become_line_feeds() -> None:
    assert program(f"Sure.\n\n```python\n{CODE}```\n".replace("\n", "\r\n")) == CODE


def test_other_separators_do_not_end_a_line() -> None:
    code = "s = 'a\x0cb\u2028c\x1dd'\n"
    assert program(f"```python\n{code}```") == code


def test_inline_code_opens_no_fence() -> None:
    assert program(f"```print(1)``` is short.\n\n```python\n{CODE}```") == CODE


def test_code_in_the_thinking_is_no_answer() -> None:
    text = f"<think>\n```python\nwrong\n```\n</think>\n```python\n{CODE}```"
    assert program(text) == CODE


def test_unfinished_thinking_is_no_answer() -> None:
    assert extract(f"<think>\n```python\n{CODE}```", TAGS) is None


def test_without_a_fence_the_whole_text_counts() -> None:
    source = extract(f"<think>easy</think>{CODE}", TAGS)
    assert source is not None
    assert (source.text, source.fenced) == (CODE, False)


@pytest.mark.parametrize("text", ["", " \n\t", "```python\n```", "```python\n\n\n```"])
def test_nothing_is_no_program(text: str) -> None:
    assert extract(text, TAGS) is None


@given(st.text(alphabet="`~ \n>-1.aé\t\r"))
def test_any_text_has_an_answer(text: str) -> None:
    extract(text, TAGS)


@given(st.lists(st.text(alphabet="ab =()#'\t", max_size=20), min_size=1).filter(any))
def test_what_is_fenced_comes_back_as_it_was(lines: list[str]) -> None:
    code = "\n".join(lines) + "\n"
    expected = code if code.strip() else None
    assert program(f"Text\n\n```python\n{code}```\nmore") == expected


HOSTILE = [
    "`",
    "```\n",
    "~~~`\n",
    "- ",
    "> ",
    ">- ",
    "1" * 9 + ". ",
    " ",
    "\r",
    "<think>",
    "</think>",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_megabytes_of_marks_take_linear_time(piece: str) -> None:
    text = piece * (2_000_000 // len(piece))
    start = time.monotonic()
    extract(text, TAGS)
    assert time.monotonic() - start < 5
