from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandboxes.base import Sandbox
from sandboxes.files import file_parts, lay_files, make_folder, read_file, relative_parts

ESCAPES = ["/etc/passwd", "../up", "a/../../up", "..", "a/..", "//x", "a\0b"]


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "work").mkdir()
    (tmp_path / "outside").write_text("outside")
    fd = os.open(tmp_path / "work", os.O_PATH | os.O_DIRECTORY)
    yield fd
    os.close(fd)


@pytest.mark.parametrize("path", ESCAPES)
def test_paths_that_leave_the_directory_are_refused(path: str, box: Sandbox, root: int) -> None:
    with pytest.raises(ValueError, match="below the work directory"):
        relative_parts(path)
    with pytest.raises(ValueError, match="below the work directory"):
        box.write({path: b""})
    with pytest.raises(ValueError, match="below the work directory"):
        box.read(path, 10)
    with pytest.raises(ValueError, match="below the work directory"):
        read_file(root, path, 10)


@pytest.mark.parametrize("path", ["", ".", "./", "a/", "a/./"])
def test_a_directory_is_no_file(path: str) -> None:
    with pytest.raises(ValueError, match="names no file"):
        file_parts(path)


@given(st.text(alphabet="ab./\0é", max_size=12))
def test_accepted_parts_never_climb(path: str) -> None:
    try:
        parts = relative_parts(path)
    except ValueError:
        assert path.startswith("/") or ".." in path.split("/") or "\0" in path
    else:
        assert not {"", ".", ".."} & set(parts)
        assert os.path.normpath("/w/" + path) == "/w" + "".join("/" + part for part in parts)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.binary(max_size=200), max_size=4))
def test_what_is_laid_down_is_read_back(root: int, files: dict[str, bytes]) -> None:
    paths = {f"dir-{name}/{name}.txt": content for name, content in files.items()}
    lay_files(root, paths, None)
    assert {path: read_file(root, path, 200) for path in paths} == paths


def test_a_link_is_followed_neither_in_nor_out(root: int, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "file").symlink_to(tmp_path / "outside")
    (work / "folder").symlink_to(tmp_path)
    for path in ("file", "folder/outside"):
        with pytest.raises(FileNotFoundError):
            read_file(root, path, 100)
        with pytest.raises(OSError, match=r"link|directory"):
            lay_files(root, {path: b"changed"}, None)
    assert (tmp_path / "outside").read_text() == "outside"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_only_regular_files_are_read(make: object, root: int, tmp_path: Path) -> None:
    make(tmp_path / "work" / "odd")  # type: ignore[operator]
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        read_file(root, "odd", 100)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_may_be_as_large_as_allowed_and_no_larger(root: int) -> None:
    lay_files(root, {"file": b"12345"}, None)
    assert read_file(root, "file", 5) == b"12345"
    with pytest.raises(ValueError, match="larger than 4 bytes"):
        read_file(root, "file", 4)


def test_a_folder_can_be_made_twice(root: int, tmp_path: Path) -> None:
    make_folder(root, "a/b", None)
    make_folder(root, "a/b", None)
    assert stat.S_ISDIR((tmp_path / "work/a/b").stat().st_mode)


def test_what_a_program_left_can_be_read_until_the_next(box: Sandbox) -> None:
    with pytest.raises(FileNotFoundError, match="no program has run"):
        box.read("out.txt", 10)
    box.exec(["sh", "-c", "mkdir deep; echo left > deep/out.txt"])
    assert box.read("deep/out.txt", 10) == b"left\n"
    assert box.read("./deep//out.txt", 10) == b"left\n"
    box.exec(["true"])
    with pytest.raises(FileNotFoundError):
        box.read("deep/out.txt", 10)


def test_written_files_are_there_for_every_program_as_written(box: Sandbox) -> None:
    box.write({"a.txt": b"one"})
    box.exec(["sh", "-c", "echo two > a.txt; rm a.txt"])
    assert box.exec(["cat", "a.txt"]).stdout == b"one"
    box.write({"a.txt": b"three", "b/c.txt": b"four"})
    assert box.exec(["cat", "a.txt", "b/c.txt"]).stdout == b"threefour"


def test_written_files_may_be_larger_than_the_disk_the_program_gets(box: Sandbox) -> None:
    box.write({"big": bytes(40 << 20), **{f"many/{i}": b"x" for i in range(500)}})
    result = box.exec(["sh", "-c", "wc -c < big; ls many | wc -l; echo more > more"])
    assert result.stdout.split() == [str(40 << 20).encode(), b"500"]
    assert result.exit == 0


def test_a_path_cannot_be_file_and_directory(box: Sandbox) -> None:
    box.write({"a": b""})
    with pytest.raises(ValueError, match="a file and a directory"):
        box.write({"a/b": b""})
    assert box.exec(["ls"]).stdout == b"a\n"


def test_a_file_that_its_program_closed_is_not_an_error_of_ours(box: Sandbox) -> None:
    box.exec(["sh", "-c", "echo secret > out; chmod 0 out"])
    try:
        content = box.read("out", 100)
    except FileNotFoundError:
        content = b"secret\n"
    assert content == b"secret\n"
