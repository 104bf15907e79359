"""A plugin that breaks the contract is listed as broken, and harms no other checker."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar

import pytest

from verifier_server.checkers.base import CheckContext, Checker, Example, Params
from verifier_server.checkers.registry import Registry
from verifier_server.checkers.runtime import CheckRuntime
from verifier_server.errors import BrokenChecker
from verifier_server.verdict import Judgement


class NoParams(Params):
    pass


class Plugin(Checker[NoParams]):
    """Keeps the contract."""

    name = "plugin"
    version = "1"
    Params = NoParams
    examples: ClassVar[Sequence[Example]] = (Example("yes", {}, 1), Example("no", {}, 0))

    def check(self, completion: str, params: NoParams, ctx: CheckContext) -> Judgement:
        return Judgement.accept()


class Versionless(Checker[NoParams]):
    name = "plugin"
    Params = NoParams
    examples = Plugin.examples
    check = Plugin.check


class Namesake(Plugin):
    name = "another"


class OfNoQueue(Plugin):
    resource: ClassVar[Any] = "gpu"


class Uncritical(Plugin):
    examples: ClassVar[Sequence[Example]] = (Example("yes", {}, 1),)


class Cold(Plugin):
    def warm(self) -> None:
        raise ImportError("not installed")


class NoChecker:
    pass


@pytest.fixture(autouse=True)
def module(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("a_plugin")
    vars(module).update(globals())
    monkeypatch.setitem(sys.modules, "a_plugin", module)


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        ("Versionless", "version"),
        ("Namesake", "another"),
        ("OfNoQueue", "gpu"),
        ("Uncritical", "examples"),
        ("NoChecker", "Checker"),
    ],
)
def test_a_plugin_that_breaks_the_contract_is_broken(attribute: str, words: str) -> None:
    registry = Registry({"plugin": f"a_plugin:{attribute}"})
    with pytest.raises(BrokenChecker, match=words):
        registry.get("plugin")
    info = registry.describe("plugin")
    assert info.status == "broken"
    assert words in info.needs


def test_a_plugin_that_cant_be_warmed_up_harms_no_other() -> None:
    registry = Registry({"plugin": "a_plugin:Cold"})
    CheckRuntime(registry, lambda: pytest.fail("no sandbox is needed")).warm()


def test_a_plugin_that_keeps_the_contract_is_listed() -> None:
    registry = Registry({"plugin": "a_plugin:Plugin"})
    assert registry.get("plugin").version == "1"
    assert registry.describe("plugin").summary == "Keeps the contract."
