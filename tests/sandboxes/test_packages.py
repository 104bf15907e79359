from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sandboxes.base import SandboxProvider, SandboxSpec, SandboxUnavailable
from sandboxes.embedded.bubblewrap import BubblewrapProvider
from sandboxes.unsafe import UnsafeProvider
from tests.sandboxes.conftest import SMALL, OrdinaryUser

FILES = {
    "boxed_demo/__init__.py": "VALUE = 7\n",
    "boxed_demo-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: boxed-demo\nVersion: 1.0\n",
    "boxed_demo-1.0.dist-info/RECORD": (
        "../../bin/boxed-demo,,\nboxed_demo/__init__.py,,\n"
        "boxed_demo-1.0.dist-info/METADATA,,\nboxed_demo-1.0.dist-info/RECORD,,\n"
    ),
    "neighbour.py": "",
}
LOOK = """
import boxed_demo, importlib.metadata
print(boxed_demo.VALUE, importlib.metadata.version("boxed-demo"))
for attempt in (lambda: open(boxed_demo.__file__, "a"), lambda: __import__("neighbour")):
    try:
        attempt()
        print("it can")
    except (OSError, ImportError) as error:
        print(type(error).__name__)
"""
IN_A_BOX = f"""
import json, os
from sandboxes.base import SandboxSpec
from sandboxes.embedded.bubblewrap import BubblewrapProvider
provider = BubblewrapProvider(os.environ["BWRAP"])
with provider.create(SandboxSpec(packages=("boxed-demo",))) as box:
    print(json.dumps(box.exec(["python3", "-c", {LOOK!r}]).stdout.decode()))
"""


def install(folder: Path) -> None:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("make", [BubblewrapProvider, UnsafeProvider])
def test_a_box_has_the_packages_asked_for(
    make: Callable[[], SandboxProvider], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with make().create(SandboxSpec(SMALL, packages=("boxed-demo",))) as box:
        stdout = box.exec(["python3", "-c", LOOK]).stdout.decode()
    assert stdout.startswith("7 1.0\n")
    if make is BubblewrapProvider:
        assert stdout.endswith("ModuleNotFoundError\n")
        assert "it can" not in stdout


def test_an_ordinary_user_has_them_too(ordinary_user: OrdinaryUser) -> None:
    install(ordinary_user.folder)
    looked = ordinary_user.run(IN_A_BOX)
    assert looked.startswith("7 1.0\n")
    assert "it can" not in looked


def test_other_boxes_have_none(provider: BubblewrapProvider) -> None:
    with provider.create(SandboxSpec(SMALL)) as box:
        result = box.exec(["python3", "-c", "import pytest"])
    assert b"ModuleNotFoundError" in result.stderr


@pytest.mark.parametrize("make", [BubblewrapProvider, UnsafeProvider])
def test_a_package_that_is_not_installed_is_named(make: Callable[[], SandboxProvider]) -> None:
    with pytest.raises(SandboxUnavailable, match=r"no-such-package.*pip install"):
        make().create(SandboxSpec(packages=("no-such-package",)))
