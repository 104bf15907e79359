"""What is done to every file system at the end."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path

FINISH = Path(__file__).parents[3] / "sandboxes" / "images" / "finish.py"


def finish(root: Path) -> None:
    subprocess.run([sys.executable, "-I", str(FINISH), str(root)], check=True)


def test_set_id_bits_are_taken_off(tmp_path: Path) -> None:
    program, folder = tmp_path / "su", tmp_path / "shared"
    program.touch()
    program.chmod(0o6755)
    folder.mkdir(mode=0o2755)
    finish(tmp_path)
    assert program.stat().st_mode & 0o7777 == 0o755


def test_byte_code_is_made_that_does_not_depend_on_times(tmp_path: Path) -> None:
    module = tmp_path / "opt" / "answerkey" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text("x = 1\n")
    finish(tmp_path)
    (compiled,) = (module.parent / "__pycache__").iterdir()
    head = compiled.read_bytes()
    assert head.startswith(MAGIC_NUMBER + b"\x01\0\0\0")  # by hash, unchecked
    assert str(tmp_path).encode() not in head
    module.write_text("x = 2\n")
    finish(tmp_path)
    assert compiled.read_bytes() != head


def test_the_user_is_named_once_beside_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text("root:x:0:0::/root:/bin/sh\n")
    for _ in range(2):
        finish(tmp_path)
    names = [line.split(":")[0] for line in (tmp_path / "etc/passwd").read_text().splitlines()]
    assert names == ["root", "box"]
    assert (tmp_path / "etc/group").read_text() == "box:x:64000:\n"


def test_the_interpreter_is_named(tmp_path: Path) -> None:
    for _ in range(2):
        finish(tmp_path)
    for name in ("python", "python3"):
        link = tmp_path / "opt/box/bin" / name
        assert link.readlink() == Path(sys.executable).resolve()
