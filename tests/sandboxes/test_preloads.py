"""Interpreters that have imported what a use needs: nothing is left to import but its own."""

from __future__ import annotations

import json
from contextlib import closing

from sandboxes.base import SandboxSpec
from sandboxes.embedded.namespaces import NamespacesProvider
from sandboxes.preloads import pytest_modules

PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
PLUGIN = """
import json, sys
before = set(sys.modules)
def pytest_unconfigure():
    with open("new.json", "w") as file:
        json.dump(sorted(set(sys.modules) - before), file)
"""
TEST = b"def test_one():\n    assert 1 + 1 == 2\n"


def test_pytest_imports_next_to_nothing_in_a_warm_interpreter() -> None:
    with closing(NamespacesProvider()) as provider:
        spec = SandboxSpec(packages=PACKAGES, preload=pytest_modules())
        with provider.create(spec) as box:
            box.write({"test_one.py": TEST, "conftest.py": b""})
            box.write({"look.py": PLUGIN.encode()})
            command = ["python3", "-m", "pytest", "-q", "-p", "look", "-p", "no:cacheprovider"]
            result = box.exec(command, env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
            assert result.exit == 0, result.stderr
            new = json.loads(box.read("new.json", 10_000))
    assert set(new) - {"conftest", "test_one", "_pytest._argcomplete", "readline"} == set()
