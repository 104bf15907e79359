"""Boxes of both levels on a real engine."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from sandboxes.base import MIB, ExitReason, Limits, SandboxSpec, SandboxUnavailable
from sandboxes.docker.engine import Engine
from sandboxes.docker.pool import Pool
from sandboxes.docker.provider import DockerProvider
from sandboxes.images.contents import Stamp
from sandboxes.layout import LAUNCHER, PACKAGES
from tests.sandboxes.conftest import SMALL, until
from tests.sandboxes.docker.conftest import KINDS, Open

Ours = Callable[[], set[str]]
SPEC = SandboxSpec(SMALL)
HOLD_A_PORT = """
import os, socket, sys
server = socket.create_server(("127.0.0.1", 4321))
print("held", flush=True)
if sys.argv[1:] and os.fork() == 0:
    os.setsid()
    server.accept()
"""
FORK_ALL = """
import os, time
children = 0
try:
    while children < 100:
        if os.fork() == 0:
            time.sleep(60)
        children += 1
except OSError:
    print(children, flush=True)
"""


def pool_of(provider: DockerProvider) -> Pool:
    return provider._pool()


def overlay(mounts: bytes) -> bytes:
    """The root's line, which names the layer of the container."""
    return next(line for line in mounts.splitlines() if line.startswith(b"overlay / "))


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_runs_programs_over_its_files(kind: str, open_provider: Open) -> None:
    provider = open_provider(kind)
    with provider.create(SPEC) as box:
        assert box.isolation == provider.isolation
        box.write({"in": b"x", "sub/tool": b"#!/bin/sh\ncat ../in > ../out; echo $HOME\n"})
        result = box.exec(["./tool"], cwd="sub", stdin=b"unread")
        assert (result.exit, result.stdout) == (0, b"/tmp/box\n")
        assert box.read("out", 10) == b"x"
        assert box.exec(["cat", "out"]).exit == 1  # nothing is left for the next
        with pytest.raises(FileNotFoundError):
            box.read("out", 10)
        box.close()
        box.close()


@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_forks_of_a_warm_interpreter_if_asked(kind: str, open_provider: Open) -> None:
    look = ["python3", "-c", "import sys; print({'json', 'iniconfig'} <= sys.modules.keys())"]
    with open_provider(kind).create(SPEC) as box:
        assert box.exec(look).stdout == b"False\n"
    warm = replace(SPEC, packages=("iniconfig",), preload=("json", "iniconfig"))
    with open_provider(kind).create(warm) as box:
        assert box.exec(look).stdout == b"True\n"
        assert box.exec(look, env={"PYTHONHASHSEED": "1"}).stdout == b"False\n"


@pytest.mark.parametrize("runtime", ["crun", "runsc"])
def test_another_runtime_is_told_in_every_verdict(
    runtime: str, open_provider: Open, no_runtime: Callable[[str], None]
) -> None:
    no_runtime(runtime)
    provider = open_provider(runtime=runtime)
    probe = provider.probe()
    assert probe.available, probe
    assert probe.isolation == f"docker+{runtime}"
    with provider.create(SPEC) as box:
        result = box.exec(["python3", "-c", "print(open('/proc/version').read())"])
    assert result.exit == 0, result.stderr
    assert (b"gVisor" in result.stdout or b"4.4.0" in result.stdout) is (runtime == "runsc")


@pytest.mark.parametrize("kind", KINDS)
def test_probing_tells_what_holds(kind: str, open_provider: Open) -> None:
    probe = open_provider(kind).probe()
    assert probe.available
    assert {"box", "memory limit", "process limit", "seccomp"} <= {f.what for f in probe.findings}
    assert all(finding.ok for finding in probe.findings)


def test_a_container_is_used_once(open_provider: Open, ours: Ours) -> None:
    provider = open_provider()
    hosts = set()
    with provider.create(SPEC) as box:
        for _ in range(3):
            hosts.add(overlay(box.exec(["cat", "/proc/mounts"]).stdout))
            until(lambda: pool_of(provider).ready() > 0, "no container was made ahead")
    assert len(hosts) == 3
    provider.close()
    until(lambda: not ours(), "a container was left behind")


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_containers_have_one_user(
    kind: str, open_provider: Open, engine: Engine, ours: Ours
) -> None:
    """The kernel counts pages in pipes and descriptors in flight by user, across namespaces."""
    provider = open_provider(kind)
    with provider.create(SPEC) as one, provider.create(SPEC) as other:
        for box in (one, other):
            assert box.exec(["true"]).exit == 0
        made = [engine._client().inspect_container(name)["Config"] for name in ours()]
        users = [config["User"] for config in made if config["Cmd"][-1] == LAUNCHER]
    assert len(users) >= 2
    assert len(set(users)) == len(users)


def test_a_slot_is_replaced_when_it_has_run_enough(open_provider: Open) -> None:
    with open_provider("nested", most_runs=3).create(SPEC) as box:
        slots = [overlay(box.exec(["cat", "/proc/mounts"]).stdout) for _ in range(12)]
    uses = Counter(slots)
    assert max(uses.values()) == 3
    assert len(uses) >= 4


def test_a_slot_is_replaced_at_once_when_a_program_was_killed(open_provider: Open) -> None:
    short = replace(SMALL, time_s=0.5)
    with open_provider("nested").create(SPEC) as box:
        look_and_sleep = ["sh", "-c", "cat /proc/mounts; sleep 60"]
        killed = {overlay(box.exec(look_and_sleep, limits=short).stdout) for _ in range(3)}
        alive = {overlay(box.exec(["cat", "/proc/mounts"]).stdout) for _ in range(6)}
    assert len(killed) == 3
    assert not killed & alive
    assert len(alive) < 6


@pytest.mark.parametrize("kind", KINDS)
def test_limits_of_a_run_replace_those_of_the_box(kind: str, open_provider: Open) -> None:
    hog = ["python3", "-c", "x = b'x' * (200 << 20)"]
    with open_provider(kind).create(SandboxSpec(Limits(memory_bytes=64 * MIB))) as box:
        assert box.exec(hog).reason is ExitReason.MEMORY_LIMIT
        assert box.exec(hog, limits=Limits(memory_bytes=400 * MIB)).reason is ExitReason.EXITED
        assert box.exec(hog).reason is ExitReason.MEMORY_LIMIT


def test_files_written_into_a_box_come_on_top_of_its_disk(open_provider: Open) -> None:
    limits = replace(SMALL, disk_bytes=2 * MIB, memory_bytes=256 * MIB)
    with open_provider().create(SandboxSpec(limits)) as box:
        box.write({"large": bytes(20 * MIB), **{f"small{i}": b"x" for i in range(300)}})
        assert box.exec(["sh", "-c", "cat large > /dev/null; echo > new"]).exit == 0


def test_processes_of_two_containers_are_not_counted_together(open_provider: Open) -> None:
    provider = open_provider()
    counts: list[int] = []

    def fork() -> None:
        with provider.create(SPEC) as box:
            counts.append(int(box.exec(["python3", "-c", FORK_ALL]).stdout))

    threads = [threading.Thread(target=fork) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [SMALL.pids - 1] * 2


def test_a_joined_network_has_nothing_of_the_program_before(open_provider: Open) -> None:
    provider = open_provider()
    look = "import socket; socket.create_connection(('127.0.0.1', 4321), 5)"
    with provider.create(SPEC) as box:
        box.write({"hold.py": HOLD_A_PORT.encode()})
        for _ in range(4):
            assert box.exec(["python3", "hold.py", "and stay"]).stdout == b"held\n"
            until(lambda: pool_of(provider).ready() > 0, "no container was made ahead")
            refused = box.exec(["python3", "-c", look])
            assert b"ConnectionRefusedError" in refused.stderr


def test_programs_at_the_same_time_have_networks_of_their_own(open_provider: Open) -> None:
    provider = open_provider()
    look = ["readlink", "/proc/self/ns/net"]
    with provider.create(SPEC) as one, provider.create(SPEC) as other:
        for _ in range(4):  # one's container is not given back before other has had one
            until(lambda: pool_of(provider).ready() > 0, "no container was made ahead")
            assert one.exec(look).stdout != other.exec(look).stdout


def test_containers_that_died_while_they_waited_are_not_leased(
    open_provider: Open, engine: Engine, ours: Ours
) -> None:
    provider = open_provider()
    with provider.create(SPEC) as box:
        box.exec(["true"])
        until(lambda: pool_of(provider).ready() > 0, "no container was made ahead")
        for name in ours():  # the one that holds the network, too
            engine.remove(name)
        assert box.exec(["true"]).exit == 0


def test_demand_decides_how_many_wait(open_provider: Open) -> None:
    provider = open_provider(most_ready=3)
    pool = pool_of(provider)
    with provider.create(SPEC) as box:
        for _ in range(8):
            box.exec(["true"])
    until(lambda: pool.ready() == 3, "the stock does not grow")
    pool.give_up_idle(after_s=0.0)
    until(lambda: pool.ready() == 0, "the stock does not shrink")


def test_packages_are_seen_only_by_who_asks(
    open_provider: Open, engine: Engine, image: str
) -> None:
    stamp = Stamp.of_labels(engine.image(image).labels)
    assert stamp is not None
    provider = open_provider()
    look = ["python3", "-c", "import iniconfig; print(iniconfig.__file__)"]
    if "iniconfig" in stamp.packages:
        with provider.create(SandboxSpec(SMALL, packages=("iniconfig",))) as box:
            assert box.exec(look).stdout.startswith(PACKAGES.encode())
    else:
        with pytest.raises(SandboxUnavailable, match="has no iniconfig"):
            provider.create(SandboxSpec(SMALL, packages=("iniconfig",)))
    with provider.create(SPEC) as box:
        assert box.exec(look).exit == 1
