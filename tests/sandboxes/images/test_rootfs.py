"""Images unpacked for boxes that no engine makes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sandboxes.base import SandboxUnavailable
from sandboxes.images import contents, rootfs
from sandboxes.images.build import Order, Way, build_rootfs, export_image
from sandboxes.images.contents import Stamp
from sandboxes.images.engine import Engine
from sandboxes.images.errors import ImageError, WayClosed
from sandboxes.images.rootfs import new_rootfs


def make(runtime: str, **changes: object) -> Path:
    """An unpacked image that holds its stamp alone."""
    stamp = Stamp.new((runtime,), (), "host", "")
    with new_rootfs(runtime) as folder:
        rootfs_files = dict(contents.contents(stamp))
        (folder / "opt/box").mkdir(parents=True)
        (folder / "opt/box/image.json").write_bytes(rootfs_files[contents.STAMP])
    return folder


def test_an_image_is_unpacked_whole_and_open_to_all(
    engine: Engine, host_image: Stamp, cache: Path
) -> None:
    folder = export_image(engine, "python")
    assert rootfs.rootfs("python") == folder
    assert rootfs.read_stamp(folder) == host_image
    assert list((folder / "dev").iterdir()) == []
    closed = [
        path
        for path in folder.rglob("*")
        if not path.is_symlink() and path.stat().st_mode & 0o4 != 0o4
    ]
    assert closed == []


def test_without_an_engine_the_hosts_files_are_taken(cache: Path) -> None:
    umask = os.umask(0o077)
    try:
        stamp, folder = build_rootfs(Order("python", ("iniconfig",)))
    finally:
        os.umask(umask)
    assert rootfs.rootfs("python") == folder
    assert stamp.base == "host"
    for path in [folder, *folder.rglob("*")]:
        assert path.is_symlink() or path.stat().st_mode & 0o5 in (0o4, 0o5), path
    if os.geteuid() == 0:
        program = "import sys; sys.path[:0] = ['/opt/box/packages']; import iniconfig, ssl"
        command = ["chroot", str(folder), "/opt/box/bin/python3", "-c", program]
        subprocess.run(command, check=True)


@pytest.mark.parametrize("order", [Order("c"), Order("python", way=Way.REGISTRY)])
def test_without_an_engine_other_ways_are_closed(order: Order, cache: Path) -> None:
    with pytest.raises(WayClosed):
        build_rootfs(order)
    assert not cache.exists() or list(cache.iterdir()) == []


def test_a_missing_file_system_is_told_with_the_remedy(cache: Path) -> None:
    with pytest.raises(SandboxUnavailable) as raised:
        rootfs.rootfs("python")
    assert "sandbox build python --export" in raised.value.remedy


def test_one_with_another_launcher_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("python")
    monkeypatch.setattr(contents, "launcher_digest", lambda: "sha256:another")
    with pytest.raises(SandboxUnavailable, match="older launcher"):
        rootfs.rootfs("python")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"runtimes": 1}', "\xff"])
def test_one_with_a_broken_stamp_is_refused(text: str, cache: Path) -> None:
    folder = make("python")
    (folder / "opt/box/image.json").write_text(text)
    with pytest.raises(SandboxUnavailable, match="incomplete"):
        rootfs.rootfs("python")


def test_one_that_could_not_be_filled_leaves_the_last_in_force(cache: Path) -> None:
    before = make("python")
    with pytest.raises(ImageError, match="can't be filled"), new_rootfs("python") as folder:
        rootfs.unpack([b"no tar"], folder)
    assert rootfs.rootfs("python") == before
    assert sorted(entry.name for entry in cache.iterdir()) == ["python", before.name]


def test_replaced_ones_are_removed_and_all_on_demand(cache: Path) -> None:
    first, second, other = make("python"), make("python"), make("bash")
    assert rootfs.remove_replaced() == 1
    assert [f.exists() for f in (first, second, other)] == [False, True, True]
    assert rootfs.remove_all() == 2
    assert list(cache.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_one_that_a_box_has_mounted_stays(cache: Path, tmp_path: Path) -> None:
    first, _ = make("python"), make("python")
    place = tmp_path / "place"
    place.mkdir()
    script = 'mount --bind "$0" "$1" && echo mounted && read _'
    command = ["unshare", "--mount", "sh", "-c", script, str(first), str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as box:
        assert box.stdin is not None
        assert box.stdout is not None
        assert box.stdout.readline() == b"mounted\n"
        assert rootfs.remove_replaced() == 0
        box.stdin.close()
    assert rootfs.remove_replaced() == 1
