"""Everything that can be missing or wrong, told with a remedy, and mended without a restart."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import docker.errors
import pytest

from sandboxes.base import (
    LimitUnsupported,
    SandboxBroken,
    SandboxError,
    SandboxSpec,
    SandboxUnavailable,
)
from sandboxes.docker.engine import About, Engine
from sandboxes.docker.faults import ContainerGone, ImageMissing, typed
from sandboxes.docker.profile import Profile, Resources
from sandboxes.docker.provider import ContainerProvider, DockerProvider
from tests.sandboxes.conftest import SMALL, until
from tests.sandboxes.docker.conftest import TEMPLATE, Open

SPEC = SandboxSpec(SMALL)


def refusal(provider: DockerProvider, spec: SandboxSpec = SPEC) -> SandboxUnavailable:
    with pytest.raises(SandboxUnavailable) as caught:
        provider.create(spec)
    assert caught.value.remedy
    probe = provider.probe()
    assert probe.available is (spec != SPEC)  # it tries what any host should be able to do
    assert probe.findings[0].detail
    return caught.value


def test_no_engine(tmp_path: Path) -> None:
    provider = ContainerProvider(url=f"unix://{tmp_path}/docker.sock")
    assert "DOCKER_HOST" in refusal(provider).remedy


def test_an_engine_that_refuses_connections(tmp_path: Path) -> None:
    (tmp_path / "docker.sock").touch()  # nobody listens
    provider = ContainerProvider(url=f"unix://{tmp_path}/docker.sock")
    assert "start the engine" in refusal(provider).remedy


def test_no_right_to_use_the_engine() -> None:
    with pytest.raises(SandboxUnavailable, match="can't be reached") as caught, typed("asking"):
        raise PermissionError(13, "Permission denied")
    assert "group `docker`" in caught.value.remedy


def test_no_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    assert "answerkey[docker]" in refusal(ContainerProvider()).remedy


def test_no_image(about: About) -> None:
    fault = refusal(ContainerProvider(image="no-such-image:{runtime}"))
    assert "no-such-image:python" in str(fault)
    assert fault.remedy == "verifier-server sandbox build python"


def test_an_image_that_was_removed_and_one_that_is_built_in_time(
    open_provider: Open, image: str, engine: Engine
) -> None:
    """The provider finds both out by itself."""
    client = engine._client()
    name = "answerkey-test-faults"
    provider = open_provider(image=name)
    refusal(provider)
    client.tag(image, name)
    try:
        with provider.create(SPEC) as box:
            assert box.exec(["true"]).exit == 0
    finally:
        client.remove_image(name, noprune=True)


@pytest.mark.parametrize(
    ("changes", "lacking"),
    [({"packages": ("no-such-package",)}, "no-such-package"), ({"runtime": "cobol"}, "cobol")],
)
def test_an_image_that_lacks_something(
    changes: dict[str, object], lacking: str, open_provider: Open, image: str
) -> None:
    fault = refusal(open_provider(image=image), replace(SPEC, **changes))  # type: ignore[arg-type]
    assert lacking in str(fault)
    assert "sandbox build" in fault.remedy


def test_an_image_with_another_launcher(
    open_provider: Open, image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandboxes.images.contents.launcher_digest", lambda: "sha256:another")
    assert "does not hold our launcher" in str(refusal(open_provider()))


def test_no_such_runtime(open_provider: Open) -> None:
    fault = refusal(open_provider(runtime="no-such"))
    assert "daemon.json" in fault.remedy
    assert "runc" in fault.remedy


def test_gvisor_makes_no_namespaces_for_slots(
    open_provider: Open, no_runtime: Callable[[str], None]
) -> None:
    no_runtime("runsc")
    assert "`container`" in refusal(open_provider("nested", runtime="runsc")).remedy


@pytest.mark.parametrize(
    ("said", "kind", "remedy"),
    [
        ("write /var/x: no space left on device", SandboxUnavailable, "docker system prune"),
        ("Unknown runtime specified kata", SandboxUnavailable, "daemon.json"),
        ("unknown or invalid runtime name: kata", SandboxUnavailable, "daemon.json"),
        ("creating cgroup: cgroups in hybrid mode not supported", SandboxUnavailable, "hugetlb"),
        ('exec: "python3": executable file not found in $PATH', SandboxUnavailable, "image"),
        ("something else", SandboxBroken, ""),
    ],
)
def test_what_the_engine_says_is_typed(said: str, kind: type[SandboxError], remedy: str) -> None:
    with pytest.raises(kind, match="starting") as caught, typed("starting"):
        raise docker.errors.APIError("500", explanation=said)
    assert type(caught.value) is kind
    assert remedy in caught.value.remedy


@pytest.fixture
def created(engine: Engine, image: str) -> Iterator[Callable[[Profile], None]]:
    names = []

    def create(profile: Profile) -> None:
        names.append(f"answerkey-test-{len(names)}")
        engine.create(names[-1], profile.body({}, {}))
        engine.start(names[-1])

    yield create
    for name in names:
        engine.remove(name)


def test_an_image_without_the_program(created: Callable[[Profile], None], image: str) -> None:
    profile = Profile(image, ("no-such-program",), "runc", Resources(64 << 20, 9), 1 << 20)
    with pytest.raises(SandboxUnavailable, match="no-such-program"):
        created(profile)


def test_a_container_that_is_gone(engine: Engine, about: About) -> None:
    with pytest.raises(ContainerGone):
        engine.start("answerkey-no-such")
    engine.remove("answerkey-no-such")  # is what was wanted
    with pytest.raises(ImageMissing):
        engine.image("answerkey-no-such")


def test_a_container_that_the_engine_has_lost_is_none_of_ours(
    engine: Engine, about: About, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that was killed lists it without a name until it is restarted."""
    told = [{"Id": "1", "Names": [], "Labels": {}}, {"Id": "2", "Names": ["/a"], "Labels": {}}]
    monkeypatch.setattr(engine._client(), "containers", lambda **_: told)
    assert [*engine.containers("label")] == ["a"]


def test_a_limit_that_the_engine_leaves_out_is_refused(
    engine: Engine, about: About, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = engine._client()
    warning = "Your kernel does not support swap limit capabilities. Limitation discarded."
    told = {"Id": "1", "Warnings": [warning]}
    monkeypatch.setattr(client, "create_container_from_config", lambda body, name: told)
    with pytest.raises(LimitUnsupported, match="swap limit") as caught:
        engine.create("answerkey-test", {})
    assert "swapaccount" in caught.value.remedy


def test_a_container_that_is_killed_under_a_program_is_a_failure_of_ours(
    open_provider: Open, engine: Engine
) -> None:
    provider = open_provider(image=TEMPLATE)
    ended: list[object] = []

    def work() -> None:
        with provider.create(SPEC) as box:
            try:
                ended.append(box.exec(["sleep", "60"]))
            except SandboxError as error:
                ended.append(error)

    def leased() -> list[str]:
        return [name for name in engine.containers("answerkey.owner") if is_busy(engine, name)]

    before = set(leased())
    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: bool(set(leased()) - before), "the program did not start")
    for name in set(leased()) - before:
        engine.remove(name)
    thread.join()
    assert isinstance(ended[0], SandboxBroken), ended


def is_busy(engine: Engine, name: str) -> bool:
    """Whether a program runs in a container."""
    try:
        rows = engine._client().top(name)["Processes"]
    except docker.errors.APIError:  # it may be gone, or not started yet
        return False
    return any("sleep 60" in " ".join(row) for row in rows)
