from __future__ import annotations

import pytest

from sandboxes.base import ExecResult, ExitReason, ResourceUsage
from sandboxes.conformance import ATTACKS, Attack, run_conformance
from sandboxes.embedded.bubblewrap import BubblewrapProvider
from sandboxes.unsafe import UnsafeProvider
from tests.sandboxes.conftest import OrdinaryUser

BY_NAME = {attack.name: attack for attack in ATTACKS}

AS_ORDINARY_USER = """
import json, os
from sandboxes.conformance import ATTACKS, run_conformance
from sandboxes.embedded.bubblewrap import BubblewrapProvider
provider = BubblewrapProvider(os.environ["BWRAP"])
findings = run_conformance(provider)
print(json.dumps({
    "uid": os.getuid(),
    "isolation": provider.probe().isolation,
    "tried": len(findings),
    "broken": [f"{f.what}: {f.detail}" for f in findings if not f.ok],
}))
"""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_bubblewrap_holds_against(attack: Attack, provider: BubblewrapProvider) -> None:
    (finding,) = run_conformance(provider, [attack])
    assert finding.ok, finding.detail


def test_bubblewrap_holds_for_an_ordinary_user(ordinary_user: OrdinaryUser) -> None:
    told = ordinary_user.run(AS_ORDINARY_USER)
    assert told["uid"] != 0
    assert told["isolation"].startswith("bubblewrap")
    assert told["tried"] == len(ATTACKS)
    assert told["broken"] == []


def test_attacks_have_names_of_their_own() -> None:
    assert len(BY_NAME) == len(ATTACKS)


@pytest.mark.parametrize(
    "name",
    [
        "the host's files",
        "the host's loopback",
        "the host's name",
        "AF_UNIX",
        "AF_NETLINK",
        "filling the disk",
        "installed packages",
        "links, pipes and folders to be copied out",
    ],
)
def test_a_provider_without_isolation_is_found_out(name: str) -> None:
    attack = BY_NAME[name]
    if name.startswith("links"):  # it guards its copy-out: let it leave something readable
        attack = Attack(name, "open('left', 'w').close()", unreadable=("left",))
    (finding,) = run_conformance(UnsafeProvider(), [attack])
    assert not finding.ok


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
    reason: ExitReason, exit_status: int | None, signal: int | None, stdout: bytes
) -> None:
    result = ExecResult(reason, exit_status, signal, stdout, b"", False, ResourceUsage(0.1))
    provider = _Scripted(result)
    (finding,) = run_conformance(provider, [Attack("attack", "")])
    assert not finding.ok


class _Scripted(UnsafeProvider):
    """Boxes in which every program ends as told."""

    def __init__(self, result: ExecResult) -> None:
        self._result = result

    def create(self, spec):  # type: ignore[no-untyped-def]
        box = super().create(spec)
        box.exec = lambda *args, **kwargs: self._result
        return box
