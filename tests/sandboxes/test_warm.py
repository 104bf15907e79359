"""A program run by a fork of a warm interpreter can't be told from one run by a fresh one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from sandboxes.base import ExitReason, Sandbox, SandboxBroken, SandboxSpec
from sandboxes.embedded.namespaces import NamespacesProvider
from tests.sandboxes.conftest import SMALL
from tests.sandboxes.warm_programs import PROGRAMS

PRELOADED = ("json", "random", "threading", "dataclasses", "logging")
WARM = "import sys; print('json' in sys.modules)"

# Those to which it matters how they are named.
SOURCES = (
    *("what it sees", "exception", "syntax error", "late syntax error", "warning and syntax error"),
    *("pool", "process pool", "own source", "pickle", "unit tests", "import beside it"),
    *("exit with finalizers", "finalizers in order", "encoding", "not here"),
)
CASES = [
    *((name, form) for form in ("file", "module") for name in PROGRAMS),
    *((name, form) for form in ("file in a folder", "text") for name in SOURCES),
]
# It would wait for ever: a spawned process finds nothing of a text.
CASES.remove(("pool", "text"))


@pytest.fixture(scope="module")
def boxes() -> Iterator[tuple[Sandbox, Sandbox]]:
    """A fresh interpreter's, and a warm one's."""
    provider = NamespacesProvider()
    with (
        provider.create(SandboxSpec(SMALL)) as fresh,
        provider.create(SandboxSpec(SMALL, preload=PRELOADED)) as warm,
    ):
        yield fresh, warm
    provider.close()


@pytest.mark.parametrize(("name", "form"), CASES)
def test_a_warm_program_does_what_a_fresh_one_does(
    boxes: tuple[Sandbox, Sandbox], name: str, form: str
) -> None:
    told = [_told(box, PROGRAMS[name], form) for box in boxes]
    assert told[1] == told[0]


def _told(box: Sandbox, program: str, form: str) -> dict[str, Any]:
    box.write(
        {
            "p.py": program.encode(),
            "d/p.py": program.encode(),
            "beside.py": b"",
            "d/beside.py": b"",
        }
    )
    argv = {
        "file": ["p.py", "a", "-b"],
        "file in a folder": ["./d/p.py"],
        "module": ["-m", "d.p", "a"],
        "text": ["-c", program, "a"],
    }[form]
    result = box.exec(["python3", *argv], stdin=b"you\r\n\xff", env={"PYTHONHASHSEED": "0"})
    try:
        left = box.read("out", 1000)
    except FileNotFoundError:
        left = b"nothing"
    how = (result.reason, result.exit, result.signal)
    return {"how": how, "wrote": _steady(result.stdout), "erred": _steady(result.stderr)} | {
        "left": left
    }


def _steady(text: bytes) -> bytes:
    return re.sub(rb"0x[0-9a-f]+|in \d\.\d+s", b"@", text)


@pytest.mark.parametrize(
    ("argv", "options", "warm"),
    [
        (["python3", "p.py"], {}, True),
        (["python3", "-B", "p.py"], {}, True),
        (["python3", "-m", "p"], {}, True),
        (["python3", "-c", WARM], {}, True),
        (["python3", "p.py"], {"env": {"SEED": "7"}}, True),
        (["python3", "-I", "p.py"], {}, False),
        (["python3", "-u", "p.py"], {}, False),
        (["python3", "-X", "utf8", "p.py"], {}, False),
        (["python3", "-"], {"stdin": WARM.encode()}, False),
        (["python3", "without-ending"], {}, False),
        (["python3", "p.py"], {"env": {"PYTHONHASHSEED": "1"}}, False),
        (["python3", "p.py"], {"env": {"PYTHONPATH": "/tmp"}}, False),
        (["python3", "p.py"], {"env": {"LC_ALL": "C"}}, False),
        (["python", "p.py"], {}, False),
        (["sh", "-c", "exec python3 p.py"], {}, False),
    ],
)
def test_only_what_would_be_the_same_is_run_warm(
    boxes: tuple[Sandbox, Sandbox], argv: list[str], options: dict[str, Any], warm: bool
) -> None:
    _, box = boxes
    box.write({"p.py": WARM.encode(), "without-ending": WARM.encode()})
    result = box.exec(argv, **options)
    assert (result.exit, result.stdout) == (0, b"%r\n" % warm)


def test_packages_of_the_user_are_found() -> None:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    provider = NamespacesProvider()
    with provider.create(SandboxSpec(preload=PRELOADED)) as box:
        box.write({f".local/lib/{version}/site-packages/mine.py": b"print('mine')"})
        assert box.exec(["python3", "-c", "import mine"]).stdout == b"mine\n"
    provider.close()


@pytest.mark.parametrize("path", ["json.py", "json/__init__.py", "d/json.py"])
def test_a_module_beside_the_program_comes_before_one_of_ours(path: str) -> None:
    program = "import json; print(json.__file__)"
    files = {path: b"", "d/p.py": program.encode(), "p.py": program.encode()}
    told = []
    for preload in ((), PRELOADED):
        provider = NamespacesProvider()
        with provider.create(SandboxSpec(SMALL, preload=preload)) as box:
            box.write(files)
            forms = (["p.py"], ["d/p.py"], ["-m", "p"], ["-c", program])
            told.append([box.exec(["python3", *form]).stdout for form in forms])
        provider.close()
    assert told[1] == told[0]
    assert any(path.encode() in line for line in told[1])


def test_nothing_of_a_run_is_in_the_memory_of_the_next(boxes: tuple[Sandbox, Sandbox]) -> None:
    _, box = boxes
    secret = "hidden" + "-test-4711"
    box.write({"tests.py": secret.encode() * 1000})
    box.exec(["python3", "-c", f"print('{secret}')"], stdin=secret.encode() * 1000)
    search = """
import re, sys
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
    for line in maps:
        start, end = (int(x, 16) for x in line.split()[0].split("-"))
        if line.split()[1].startswith("rw"):
            memory.seek(start)
            found += memory.read(end - start).count(b"HIDDEN-TEST-4711".lower())
print(found)
"""
    box.write({"tests.py": b""})
    result = box.exec(["python3", "-c", search])
    assert result.reason is ExitReason.EXITED
    assert int(result.stdout) < 5  # what it looks for is there itself


def test_every_run_draws_random_numbers_of_its_own(boxes: tuple[Sandbox, Sandbox]) -> None:
    _, box = boxes
    drawn = {box.exec(["python3", "-c", "import random; print(random.random())"]).stdout}
    drawn |= {box.exec(["python3", "-c", "import random; print(random.random())"]).stdout}
    assert len(drawn) == 2


def test_a_module_that_is_not_there_is_the_boxes_failure() -> None:
    provider = NamespacesProvider()
    with (
        provider.create(SandboxSpec(preload=("no_such_module",))) as box,
        pytest.raises(SandboxBroken, match="no_such_module"),
    ):
        box.exec(["python3", "-c", "pass"])
    provider.close()
