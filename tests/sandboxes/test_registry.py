"""Providers by name, and which of them `auto` is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from sandboxes import registry, strongest
from sandboxes.base import Finding, Probe, Sandbox, SandboxSpec, SandboxUnavailable
from sandboxes.conformance import ATTACKS
from sandboxes.registry import open_provider, provider_names, settle, what_auto_takes
from sandboxes.unsafe import UnsafeProvider
from tests.sandboxes.conftest import OrdinaryUser

AUTO = """
import json
from sandboxes.registry import open_provider, what_auto_takes
from sandboxes.strongest import choose
provider = open_provider("auto")
provider.close()
print(json.dumps([provider.name, [[f.what, f.ok, f.detail, f.remedy] for f in what_auto_takes()]]))
"""
HERE = "tests.sandboxes.test_registry"


class Leaky(UnsafeProvider):
    """Is there, and holds nothing."""

    opened = 0

    def create(self, spec: SandboxSpec) -> Sandbox:
        type(self).opened += 1
        return super().create(spec)


class Absent(UnsafeProvider):
    """Is not there."""

    def probe(self) -> Probe:
        return Probe(self.name, False, "none", (Finding("box", False, "no luck", "get some"),))


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    strongest.choose.cache_clear()
    yield
    strongest.choose.cache_clear()


def _put(monkeypatch: pytest.MonkeyPatch, **kinds: type) -> None:
    for name, kind in kinds.items():
        monkeypatch.setitem(registry._PROVIDERS, name, f"{HERE}:{kind.__name__}")


@pytest.mark.parametrize("name", provider_names())
def test_a_provider_has_the_name_that_it_is_opened_by(name: str) -> None:
    with contextlib.closing(open_provider(name)) as provider:
        assert provider.name == name


def test_a_name_that_nobody_knows_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SandboxUnavailable, match="auto, container, nested, oci, namespaces, bubb"):
        open_provider("chroot")


def test_options_follow_the_name() -> None:
    with contextlib.closing(open_provider("oci?runtime=runc&bound=2")) as provider:
        assert (provider._asked, provider._bound) == ("runc", 2)  # type: ignore[attr-defined]
    with pytest.raises(SandboxUnavailable, match="namespaces has no option 'runtime'"):
        open_provider("namespaces?runtime=runc")


def test_the_trials_are_attacks_of_the_suite() -> None:
    assert {attack.name for attack in ATTACKS} >= strongest.TRIALS


def test_auto_is_namespaces_where_they_hold() -> None:
    with contextlib.closing(open_provider("auto")) as provider:
        assert provider.name == settle("auto") == "namespaces"
    taken, *others = what_auto_takes()
    assert (taken.what, taken.ok) == ("namespaces", True)
    assert [f.what for f in others] == ["bubblewrap", "nested", "container", "oci"]
    assert not any(f.ok for f in others)


def test_auto_is_namespaces_for_an_ordinary_user(ordinary_user: OrdinaryUser) -> None:
    name, findings = ordinary_user.run(AUTO)
    assert name == "namespaces"
    assert findings[0][:2] == ["namespaces", True]


def test_a_level_that_does_not_hold_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    _put(monkeypatch, namespaces=Leaky)
    with contextlib.closing(open_provider("auto")) as provider:
        assert provider.name == "bubblewrap"
    leaky, taken, *_ = what_auto_takes()
    assert not leaky.ok
    assert "does not hold against" in leaky.detail
    assert taken.ok


def test_where_nothing_works_every_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _put(monkeypatch, namespaces=Absent, bubblewrap=Leaky)
    with pytest.raises(SandboxUnavailable, match=r"no luck; get some .* does not hold") as refusal:
        open_provider("auto")
    assert "--unsafe-no-sandbox" in refusal.value.remedy
    assert settle("auto") == "auto"
    assert [finding.ok for finding in what_auto_takes()] == [False]


def test_a_host_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settle("auto") == "namespaces"
    _put(monkeypatch, namespaces=Leaky)
    opened = Leaky.opened
    open_provider("auto").close()
    assert Leaky.opened == opened


def test_a_level_that_is_named_is_not_tried() -> None:
    assert settle("nested?most_ready=1") == "nested?most_ready=1"
    assert strongest.choose.cache_info().misses == 0
