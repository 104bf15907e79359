"""Images, made by a real engine and looked at from inside."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sandboxes.base import SandboxError
from sandboxes.images import build, contents, recipes
from sandboxes.images.build import Order, Way, build_image, is_needed
from sandboxes.images.contents import Stamp
from sandboxes.images.engine import Engine
from sandboxes.images.errors import ImageError, WayClosed
from sandboxes.images.recipes import Base, recipe
from sandboxes.layout import LAUNCHER, PACKAGES
from tests.sandboxes.images.conftest import RunIn, silent

LOOK = f"""
import json, os, stat, sys
sys.path.insert(0, {PACKAGES!r})
import bz2, ctypes, hashlib, lzma, sqlite3, ssl, zlib  # each brings libraries
import iniconfig
writable, set_id, closed, uncompiled = [], [], [], []
for folder, folders, names in os.walk("/"):
    folders[:] = [f for f in folders if os.path.join(folder, f) not in ("/proc", "/sys", "/dev")]
    for name in names:
        path = os.path.join(folder, name)
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode) and mode & 0o6000:
            set_id.append(path)
        if path.startswith("/opt/") and not os.access(path, os.R_OK):
            closed.append(path)
        if path.startswith(({LAUNCHER!r}, {PACKAGES!r})) and path.endswith(".py"):
            cached = os.path.join(folder, "__pycache__", name[:-2] + sys.implementation.cache_tag)
            if not os.path.exists(cached + ".pyc"):
                uncompiled.append(path)
print(json.dumps({{
    "uid": os.getuid(),
    "gid": os.getgid(),
    "packages": os.path.dirname(iniconfig.__path__[0]),
    "launcher": os.path.exists("{LAUNCHER}/__main__.py"),
    "executable": os.path.dirname(sys.executable),
    "set_id": set_id,
    "closed": closed,
    "uncompiled": uncompiled,
}}))
"""
LOOKED = {
    "uid": 64000,
    "gid": 64000,
    "packages": PACKAGES,
    "launcher": True,
    "executable": "/opt/box/bin",
    "set_id": [],
    "closed": [],
    "uncompiled": [],
}
PYTHON = ["/opt/box/bin/python3", "-c"]


def test_a_host_image_has_all_that_boxes_need(
    host_image: Stamp, repository: str, run_in: RunIn
) -> None:
    assert json.loads(run_in(f"{repository}:python", [*PYTHON, LOOK])) == LOOKED


def test_a_host_image_runs_shell_programs(
    host_image: Stamp, repository: str, run_in: RunIn
) -> None:
    program = "printf 'b\\na\\n' | sort | sed s/a/A/ | awk '{print NR \":\" $1}'"
    assert run_in(f"{repository}:python", ["bash", "-c", program]) == b"1:A\n2:b\n"


def test_an_image_says_in_its_labels_what_it_is(
    host_image: Stamp, engine: Engine, repository: str
) -> None:
    assert engine.stamp(f"{repository}:python") == host_image
    assert host_image.base == "host"
    assert host_image.runtimes == ("python", "bash")
    assert host_image.launcher == contents.launcher_digest()


def test_an_image_is_built_on_one_that_is_there(
    host_image: Stamp, engine: Engine, repository: str, run_in: RunIn
) -> None:
    on = f"{repository}:python"
    stamp = build_image(engine, Order("bash", ("iniconfig",), base_image=on), silent)
    try:
        assert engine.stamp(f"{repository}:bash") == stamp
        assert (stamp.base, stamp.base_image) == ("image", engine.identity(on))
        assert json.loads(run_in(f"{repository}:bash", [*PYTHON, LOOK])) == LOOKED
    finally:
        engine.remove(f"{repository}:bash")


def test_an_image_without_python_is_no_base(
    engine: Engine, repository: str, host_image: Stamp
) -> None:
    empty = f"{repository}-empty:1"
    engine.build([("Dockerfile", b"FROM scratch\nLABEL empty=1\n")], empty, {}, {}, silent)
    try:
        with pytest.raises(ImageError, match="can't be built"):
            build_image(engine, Order("python", base_image=empty), silent)
    finally:
        engine.remove(empty)


def test_a_base_that_is_not_there_is_named_with_the_remedy(engine: Engine) -> None:
    with pytest.raises(WayClosed) as raised:
        build_image(engine, Order("python", base_image="no-such-image:1"), silent)
    assert raised.value.remedy == "docker pull no-such-image:1"


def test_closed_ways_are_passed_over_and_each_says_why(
    engine: Engine, repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = Base("trixie", "http://127.0.0.1:1", f"127.0.0.1:1/debian@sha256:{64 * '0'}")
    monkeypatch.setattr(build, "base", lambda: nowhere)
    monkeypatch.setattr(build, "REPOSITORY", repository)
    said: list[str] = []
    with pytest.raises(ImageError) as raised:
        build_image(engine, Order("c"), said.append)
    told = str(raised.value)
    assert told.index("127.0.0.1:1/debian") < told.index("debootstrap") < told.index("by host")
    assert "--base" in raised.value.remedy
    assert [line.split(":")[0] for line in said if line.startswith("not by")] == [
        "not by registry",
        "not by debootstrap",
        "not by host",
    ]


def test_an_image_is_needed_if_it_is_missing_or_lacks_something(
    host_image: Stamp, engine: Engine, repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def needed(runtime: str = "python", packages: tuple[str, ...] = ("iniconfig",)) -> bool:
        return is_needed(engine, Order(runtime, packages), export=False)

    assert not needed()
    assert needed(runtime="rust")
    assert needed(packages=("iniconfig", "pytest"))
    monkeypatch.setattr(contents, "launcher_digest", lambda: "sha256:another")
    assert needed()


def test_images_that_lost_their_name_are_removed(
    host_image: Stamp, engine: Engine, repository: str
) -> None:
    lines = f"FROM {repository}:python\n"
    for text in ("one", "two"):
        dockerfile = f"{lines}LABEL text={text}\n".encode()
        engine.build([("Dockerfile", dockerfile)], f"{repository}:twice", {}, {}, silent)
        if text == "one":
            first = engine.identity(f"{repository}:twice")
    try:
        assert first is not None
        assert engine.remove_replaced() >= 1
        assert engine.identity(first) is None
        assert engine.identity(f"{repository}:python") is not None
    finally:
        engine.remove(f"{repository}:twice")


@pytest.mark.timeout(900)
def test_debian_brings_a_compiler(
    engine: Engine, repository: str, run_in: RunIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "REPOSITORY", repository)
    try:
        stamp = build_image(engine, Order("c", ("iniconfig",), way=Way.DEBOOTSTRAP), silent)
    except WayClosed as error:
        pytest.skip(str(error))
    try:
        assert stamp.runtimes == ("python", "bash", "c")
        assert stamp.base_image.startswith(f"Debian {recipes.base().suite}, sha256:")
        looked = json.loads(run_in(f"{repository}:c", [*PYTHON, LOOK]))
        assert looked == LOOKED
        program = "cd /tmp && echo 'int main(){return 42;}' >p.c && gcc p.c -o /tmp/p && ls p"
        assert run_in(f"{repository}:c", ["sh", "-c", program]) == b"p\n"
    finally:
        for tag in (f"{repository}:c", f"{repository}-base:{recipes.base().suite}"):
            engine.remove(tag)


def test_every_runtime_has_a_recipe_on_a_base_that_is_pinned() -> None:
    for runtime in recipes.runtimes():
        made = recipe(runtime)
        assert runtime in made.offers
        assert "python3" in made.packages
    name, _, digest = recipes.base().image.partition("@sha256:")
    assert name.startswith("debian:")
    assert len(bytes.fromhex(digest)) == 32


def test_an_unknown_runtime_is_told_with_those_there_are() -> None:
    with pytest.raises(SandboxError, match=r"cobol.*python, bash, c, cpp"):
        recipe("cobol")


def test_labels_and_file_say_the_same(host_image: Stamp) -> None:
    odd = replace(host_image, packages=(), base_image='a "quoted" base, of Debian')
    assert Stamp.of_labels(odd.labels()) == odd
    assert Stamp.of_labels({"answerkey.base": "host"}) is None
