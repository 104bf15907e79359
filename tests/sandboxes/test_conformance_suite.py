"""The suite itself: a provider that is weak in one way or another is found out."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandboxes.base import (
    MIB,
    ExecResult,
    ExitReason,
    Probe,
    ResourceUsage,
    Sandbox,
    SandboxBroken,
    SandboxProvider,
    SandboxSpec,
)
from sandboxes.conformance import ATTACKS, Attack, Outcome, Result, run_conformance
from sandboxes.embedded import host, recipe
from sandboxes.embedded.bubblewrap import BubblewrapProvider

BY_NAME = {attack.name: attack for attack in ATTACKS}
ALLOW_ALL = struct.pack("<HBBI", 0x06, 0, 0, 0x7FFF0000)
# Without their limit these would go on for 60 s or take 512 MiB; so much shows it as well.
BRIEF = {
    "sleeping": "time.sleep(1)",
    "busy loop": "until = time.monotonic() + 1\nwhile time.monotonic() < until: pass",
    "memory bomb": "kept = bytearray(b'x') * (100 << 20); time.sleep(0.2)",
}

Exec = Callable[..., ExecResult]


def result_of(provider: SandboxProvider, attack: Attack | str) -> Result:
    if isinstance(attack, str):
        attack = BY_NAME[attack]
        attack = replace(attack, program=BRIEF.get(attack.name, attack.program))
    (result,) = run_conformance(provider, [attack])
    return result


class Changed:
    """A provider whose boxes are another's, with a change to what is asked or answered."""

    name = "changed"

    def __init__(
        self,
        real: SandboxProvider,
        *,
        limits: Mapping[str, Any] | None = None,
        around: Callable[[Sandbox, Exec], Exec] | None = None,
        known_gaps: Mapping[str, str] | None = None,
    ) -> None:
        self._real = real
        self._limits = limits or {}
        self._around = around
        self.known_gaps = known_gaps or {}

    def probe(self) -> Probe:
        return self._real.probe()

    def create(self, spec: SandboxSpec) -> Sandbox:
        limits = replace(spec.limits, **self._limits)
        box: Any = self._real.create(replace(spec, limits=limits))
        if self._around is not None:
            box.exec = self._around(box, box.exec)
        return box  # type: ignore[no-any-return]

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        ({"memory_bytes": 512 * MIB}, "memory bomb"),
        ({"memory_bytes": 900 * MIB, "pids": 400}, "fork bomb"),
        ({"memory_bytes": 900 * MIB, "pids": 400}, "thread bomb"),
        ({"open_files": 1024}, "all descriptors"),
        ({"file_bytes": 16 * MIB}, "one huge file"),
        ({"memory_bytes": 900 * MIB, "disk_bytes": 300 * MIB}, "filling the disk"),
        ({"output_bytes": 8 * MIB}, "a flood just before the end"),
        ({"time_s": 20.0}, "sleeping"),
        ({"time_s": 20.0}, "busy loop"),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else str(value),
)
def test_a_limit_that_is_not_kept(
    limits: Mapping[str, Any], name: str, provider: BubblewrapProvider
) -> None:
    assert result_of(Changed(provider, limits=limits), name).outcome is Outcome.BROKEN
    assert result_of(provider, name).outcome is Outcome.HELD


@pytest.mark.parametrize(
    ("left_out", "name"),
    [
        ("--unshare-net", "the host's loopback"),
        ("--unshare-net", "the host's sockets in /proc"),
        ("--unshare-net", "sockets of a run at the same time"),
        ("--hostname box", "the host's name"),
    ],
)
def test_a_namespace_that_is_shared(
    left_out: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = " ".join(recipe._BASE_OPTIONS)
    assert left_out in options
    monkeypatch.setattr(recipe, "_BASE_OPTIONS", options.replace(left_out, "").split())
    assert result_of(BubblewrapProvider(), name).outcome is Outcome.BROKEN


@pytest.mark.parametrize(
    "name",
    [
        "being traced by its child",
        "system call io_uring_setup",
        "system call bpf",
        "new namespaces",
        "AF_UNIX",
        "AF_NETLINK",
        "the host's abstract sockets",
        "all other socket families",
    ],
)
def test_a_box_without_a_filter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "seccomp_filter", lambda: ALLOW_ALL)
    result = result_of(BubblewrapProvider(), name)
    # An abstract socket is out of reach by its network namespace as well.
    expected = Outcome.HELD if name == "the host's abstract sockets" else Outcome.BROKEN
    assert result.outcome is expected


@pytest.mark.parametrize(
    ("mounted", "name"),
    [
        (("--ro-bind", "/etc", "/etc"), "the host's files"),
        (("--dev-bind", "/dev", "/dev"), "device nodes"),
        (("--perms", "1777", "--tmpfs", "/run"), "read-only system"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[-1],
)
def test_a_part_of_the_host_in_view(
    mounted: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = host.mount_options
    monkeypatch.setattr(host, "mount_options", lambda view: (*real(view), *mounted))
    assert result_of(BubblewrapProvider(), name).outcome is Outcome.BROKEN


def _leaks_environment(_: Sandbox, real: Exec) -> Exec:
    return lambda argv, **rest: real(argv, **rest, env={"SECRET_OF_THE_HOST": "1"})


def _reports_no_limit(_: Sandbox, real: Exec) -> Exec:
    return lambda argv, **rest: replace(real(argv, **rest), reason=ExitReason.EXITED, exit=0)


def _keeps_what_was_left(box: Sandbox, real: Exec) -> Exec:
    def run(argv: Any, **rest: Any) -> ExecResult:
        result = real(argv, **rest)
        box.write({"left": b""})
        return result

    return run


@pytest.mark.parametrize(
    ("around", "name"),
    [
        (_leaks_environment, "the host's environment"),
        (_reports_no_limit, "memory bomb in a child, whose parent exits 0"),
        (_reports_no_limit, "killing itself"),
        (_keeps_what_was_left, "leftovers of the run before"),
    ],
)
def test_a_box_that_lies_or_remembers(
    around: Callable[[Sandbox, Exec], Exec],
    name: str,
    provider: BubblewrapProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    assert result_of(Changed(provider, around=around), name).outcome is Outcome.BROKEN


def test_a_copy_out_that_follows_links(provider: BubblewrapProvider, tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("read")

    def follow(box: Any, real: Exec) -> Exec:
        box.read = lambda path, _: (tmp_path / Path(path).name[:99]).read_bytes()
        return real

    result = result_of(
        Changed(provider, around=follow), "links, pipes and folders to be copied out"
    )
    assert result.outcome is Outcome.BROKEN
    assert "root/etc/passwd could be read" in result.detail


def test_a_box_that_holds_its_judge_up(provider: BubblewrapProvider) -> None:
    slow = Attack("slow", "time.sleep(0.2)", within_s=0.1)
    result = result_of(provider, slow)
    assert result.outcome is Outcome.BROKEN
    assert "held its judge up" in result.detail


def test_a_box_in_which_nothing_runs(provider: BubblewrapProvider) -> None:
    def refuse(_: Sandbox, real: Exec) -> Exec:
        return lambda argv, **rest: real(["false"], **rest)

    refusing = Changed(provider, around=refuse)
    broken = [result_of(refusing, attack).outcome for attack in ("AF_UNIX", "honest: own loopback")]
    assert broken == [Outcome.BROKEN] * 2


@pytest.mark.parametrize(
    ("reason", "exit_status", "signal", "stdout"),
    [
        (ExitReason.TIME_LIMIT, None, None, b"held\n"),
        (ExitReason.SIGNALLED, None, 11, b"held\n"),
        (ExitReason.EXITED, 1, None, b"held\n"),
        (ExitReason.EXITED, 0, None, b"broken: all\n"),
        (ExitReason.EXITED, 0, None, b""),
    ],
)
def test_only_the_expected_end_counts_as_held(
    reason: ExitReason,
    exit_status: int | None,
    signal: int | None,
    stdout: bytes,
    provider: BubblewrapProvider,
) -> None:
    end = ExecResult(reason, exit_status, signal, stdout, b"", False, ResourceUsage(0.1))
    scripted = Changed(provider, around=lambda box, real: lambda *_, **__: end)
    assert result_of(scripted, Attack("attack", "")).outcome is Outcome.BROKEN


def test_a_gap_that_is_known_is_named_and_excuses_no_other(provider: BubblewrapProvider) -> None:
    weak = Changed(provider, limits={"open_files": 1024}, known_gaps={"all descriptors": "no room"})
    gap, other = result_of(weak, "all descriptors"), result_of(weak, Attack("x", "sys.exit(1)"))
    assert (gap.outcome, gap.ok) == (Outcome.KNOWN_GAP, True)
    assert gap.detail.startswith("no room (")
    assert (other.outcome, other.ok) == (Outcome.BROKEN, False)


def test_a_gap_that_is_none_here_is_said_to_hold(provider: BubblewrapProvider) -> None:
    shy = Changed(provider, known_gaps={"AF_UNIX": "perhaps"})
    result = result_of(shy, "AF_UNIX")
    assert result.outcome is Outcome.HELD
    assert "perhaps" in result.detail


def test_no_gap_excuses_a_box_that_fails(provider: BubblewrapProvider) -> None:
    def fail(_: Sandbox, real: Exec) -> Exec:
        def run(*_: Any, **__: Any) -> ExecResult:
            raise SandboxBroken("the engine went away")

        return run

    failing = Changed(provider, around=fail, known_gaps={"AF_UNIX": "perhaps"})
    result = result_of(failing, "AF_UNIX")
    assert result.outcome is Outcome.BROKEN
    assert "the engine went away" in result.detail


def test_attacks_have_names_and_groups() -> None:
    assert len(BY_NAME) == len(ATTACKS)
    assert all(attack.group for attack in ATTACKS)
