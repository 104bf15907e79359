"""What stands in for `dataclasses` and `typing` in a launcher does what they do there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandboxes.base import ExecResult, ExitReason, Limits, ResourceUsage
from sandboxes.launcher import lean
from sandboxes.launcher.bundle import launcher_files
from sandboxes.launcher.messages import Ended, Ready, Run, Setup, encode, receive

RESULT = ExecResult(ExitReason.EXITED, 3, None, b"out", b"err", True, ResourceUsage(0.5, 0.25, 7))
MESSAGES = [
    Setup(namespaces=True, meter={"memory": 3}, preload=("pytest",)),
    Ready(1 << 20, ("seccomp",)),
    Run(("python3", "a"), ".", {"A": "b"}, Limits(cpu_s=1.5), b"stdin", {"a": b"text"}),
    Ended(RESULT, spent=True),
]
# A launcher's copy of the modules decodes what it is given, and encodes it anew.
ECHO = """
import sys
sys.path.insert(0, sys.argv[1])
from sandboxes.launcher.messages import BrokenStream, encode, receive
def read(size):
    data = sys.stdin.buffer.read(size)
    if len(data) < size:
        raise BrokenStream("end")
    return data
try:
    while True:
        sys.stdout.buffer.write(encode(receive(read)))
except BrokenStream:
    assert not {"dataclasses", "typing", "inspect", "pathlib", "socket"} & sys.modules.keys()
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("launcher")
    for path, content in launcher_files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def test_a_launchers_copy_speaks_as_the_host_does_without_the_costly_modules(bundle: Path) -> None:
    sent = b"".join(map(encode, MESSAGES))
    command = [sys.executable, "-I", "-S", "-c", ECHO, str(bundle)]
    echoed = subprocess.run(command, input=sent, capture_output=True, check=True, timeout=60)
    left = memoryview(echoed.stdout)

    def read(size: int) -> bytes:
        nonlocal left
        piece, left = left[:size], left[size:]
        return bytes(piece)

    assert [receive(read) for _ in MESSAGES] == MESSAGES
    assert not left


def test_every_module_of_the_launcher_can_be_imported_there(bundle: Path) -> None:
    names = [p.removesuffix(".py").replace("/", ".") for p in launcher_files() if p[0] != "_"]
    names = [name.removesuffix(".__init__") for name in names]
    program = f"import sys, importlib; sys.path.insert(0, {str(bundle)!r})\n"
    program += f"for name in {names}: importlib.import_module(name)\n"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True, timeout=60)


@lean.dataclass(frozen=True, slots=True)
class Record:
    first: int
    second: str = "two"
    third: list[int] = lean.field(default_factory=list)


def test_records_take_their_fields_by_place_and_by_name() -> None:
    record = Record(1, third=[3])  # type: ignore[call-arg]
    assert lean.asdict(record) == {"first": 1, "second": "two", "third": [3]}
    assert record == Record(first=1, third=[3])  # type: ignore[call-arg]
    assert record != Record(2)  # type: ignore[call-arg]


def test_defaults_that_are_made_are_not_shared() -> None:
    one, other = Record(1), Record(2)  # type: ignore[call-arg]
    one.third.append(3)
    assert other.third == []


@pytest.mark.parametrize(("given", "named"), [((), {}), ((1, "", [], 4), {}), ((1,), {"x": 1})])
def test_a_record_with_other_fields_is_a_type_error(given: tuple, named: dict) -> None:  # type: ignore[type-arg]
    with pytest.raises(TypeError):
        Record(*given, **named)


def test_only_imports_are_written_anew() -> None:
    source = b"import platform\nimport platforms\nx = 'from typing import'\nfrom typing import Any"
    assert lean.lean_copy(source) == (
        b"from sandboxes.launcher import lean as platform\nimport platforms\n"
        b"x = 'from typing import'\nfrom sandboxes.launcher.lean import Any"
    )
