"""What a host may lack, told with a remedy before anything runs; nothing is left of the attempt."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sandboxes.base import (
    SandboxBroken,
    SandboxSpec,
    SandboxUnavailable,
)
from sandboxes.embedded.cgroups import CgroupParent
from sandboxes.oci.container import Container
from sandboxes.oci.profile import container_config, waiting_resources
from sandboxes.oci.provider import OciProvider
from sandboxes.oci.runtime import RUNTIMES, Runtime
from tests.sandboxes.conftest import SMALL, OrdinaryUser
from tests.sandboxes.oci.conftest import Open, left_by

SPEC = SandboxSpec(SMALL)
Fake = Callable[[str], None]
AS_ORDINARY_USER = """
import json
from sandboxes.base import SandboxSpec, SandboxUnavailable
from sandboxes.oci.provider import OciProvider
try:
    OciProvider().create(SandboxSpec())
except SandboxUnavailable as error:
    print(json.dumps([str(error), error.remedy, OciProvider().probe().available]))
"""


def refusal(provider: OciProvider, spec: SandboxSpec = SPEC) -> SandboxUnavailable:
    with pytest.raises(SandboxUnavailable) as caught:
        provider.create(spec).exec(["true"])
    assert caught.value.remedy
    provider.close()
    assert left_by(os.getpid()) == []
    return caught.value


def test_an_ordinary_user(ordinary_user: OrdinaryUser) -> None:
    """A runtime would run his containers, but without the memory limit."""
    told, remedy, available = ordinary_user.run(AS_ORDINARY_USER)
    assert "take root" in told
    assert "run as root" in remedy
    assert available is False


def test_no_runtime(as_root: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandboxes.oci.runtime._PATH", "/nowhere")
    fault = refusal(OciProvider())
    assert fault.remedy == " or ".join(f"apt install {name}" for name in RUNTIMES)
    probe = OciProvider().probe()
    assert not probe.available
    assert probe.isolation == "none"
    assert "crun is not installed" in probe.findings[0].detail


def test_a_runtime_that_is_not_one_of_ours(as_root: None) -> None:
    assert "use crun or runc" in refusal(OciProvider("runsc")).remedy


def test_no_cgroup(as_root: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CgroupParent, "find", lambda: None)
    assert "no cgroup is writable" in str(refusal(OciProvider()))


def test_no_directory(as_root: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("sandboxes.oci.host.HOME", tmp_path / "file" / "oci")
    assert "can't be made" in str(refusal(OciProvider()))


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (replace(SPEC, runtime="cobol"), "no cobol in containers"),
        (replace(SPEC, packages=("no-such-package",)), "no-such-package"),
        (replace(SPEC, mounts={"data": "/usr/share"}), "directories of the host"),
    ],
    ids=["tool chain", "package", "mount"],
)
def test_a_box_that_it_does_not_make(spec: SandboxSpec, told: str, open_provider: Open) -> None:
    fault = refusal(open_provider(), spec)
    assert told in str(fault)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_root: None) -> Fake:
    """Puts a shell script in the place of crun, and nothing in that of runc."""

    def put(script: str) -> None:
        program = tmp_path / "crun"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setattr("sandboxes.oci.runtime._PATH", str(tmp_path))

    return put


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo no such kernel >&2; exit 1", "crun could not start a container: no such kernel"),
        ("exit 1", "said nothing"),
        ("kill -9 $$", "said nothing"),
        ("exit 0", "a container can't be started"),  # and wrote no pid
    ],
)
def test_a_runtime_that_fails(script: str, told: str, fake: Fake) -> None:
    fake(script)
    assert told in str(refusal(OciProvider()))


def test_a_runtime_that_hangs_is_killed(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandboxes.oci.maker._START_S", 0.2)
    fake("exec sleep 600")
    assert "took too long" in str(refusal(OciProvider()))


def test_a_runtime_that_says_too_much_is_cut(fake: Fake) -> None:
    fake("yes no | head -c 60000 >&2; exit 1")
    assert len(str(refusal(OciProvider()))) < 10_000


def test_the_next_runtime_is_taken_where_the_first_does_not_work(
    fake: Fake, tmp_path: Path, open_provider: Open
) -> None:
    runc = Path("/usr/sbin/runc")
    if not runc.exists():
        pytest.skip("runc is not installed")
    fake("echo cgroups in hybrid mode not supported >&2; exit 1")
    (tmp_path / "runc").symlink_to(runc)
    provider = open_provider()
    probe = provider.probe()
    assert probe.isolation == "oci+runc"
    (passed_over,) = [finding for finding in probe.findings if not finding.ok]
    assert "hybrid" in passed_over.detail


def test_a_runtime_that_goes_away_is_a_failure_that_passes(
    open_provider: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = open_provider(bound=0)  # none is made ahead
    with provider.create(SPEC) as box:
        assert box.exec(["true"]).exit == 0
        maker = provider._open()._maker
        works = maker._runtime
        monkeypatch.setattr(maker, "_runtime", Runtime("crun", "/nowhere/crun"))
        with pytest.raises(SandboxBroken, match="can't be started") as caught:
            box.exec(["true"])
        assert caught.value.remedy
        monkeypatch.setattr(maker, "_runtime", works)
        assert box.exec(["true"]).exit == 0


def test_no_room_for_what_describes_a_container(
    open_provider: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = open_provider(bound=0)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with provider.create(SPEC) as box:
        assert box.exec(["true"]).exit == 0
        with monkeypatch.context() as context:
            context.setattr(provider._open()._maker, "_bundle", full)
            with pytest.raises(SandboxBroken, match="No space left") as caught:
                box.exec(["true"])
        assert "/run/answerkey/oci" in caught.value.remedy
        assert box.exec(["true"]).exit == 0


def test_a_process_that_died_is_no_container(as_root: None) -> None:
    parent = CgroupParent.find()
    assert parent is not None
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    cgroup = parent.make(memory_bytes=64 << 20, pids=8)
    try:
        with pytest.raises(SandboxBroken, match="died at birth"):
            Container("name", "oci", pid, cgroup, None, Path("/nowhere"))  # type: ignore[arg-type]
        # A pid that was given to another since.
        with pytest.raises(SandboxBroken, match="died at birth"):
            Container("name", "oci", os.getpid(), cgroup, None, Path("/nowhere"))  # type: ignore[arg-type]
    finally:
        cgroup.close()


def test_what_confines_a_container() -> None:
    config = container_config("/root", {"A": "b"}, "/group", waiting_resources())
    process, linux = config["process"], config["linux"]
    assert process["noNewPrivileges"] is True
    assert not any(process["capabilities"].values())
    assert process["user"]["uid"] != 0
    core = {"type": "RLIMIT_CORE", "hard": 1, "soft": 1}  # at 1 the kernel starts no handler
    assert core in process["rlimits"]
    assert config["root"]["readonly"] is True
    kinds = {namespace["type"] for namespace in linux["namespaces"]}
    assert kinds == {"user", "pid", "network", "ipc", "uts", "mount", "cgroup"}
    assert linux["uidMappings"][0]["hostID"] > 1_000_000
    assert linux["seccomp"]["defaultAction"] == "SCMP_ACT_ERRNO"
    assert linux["resources"]["devices"] == [{"allow": False, "access": "rwm"}]
    assert linux["resources"]["memory"]["swap"] == linux["resources"]["memory"]["limit"]
    assert "/proc/kcore" in linux["maskedPaths"]
    assert not [mount for mount in config["mounts"] if mount["type"] in ("bind", "sysfs", "cgroup")]
