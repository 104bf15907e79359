"""What our providers hold, attack by attack."""

from __future__ import annotations

import pytest

from sandboxes.conformance import ATTACKS, Attack, Outcome, run_conformance
from sandboxes.embedded.bubblewrap import BubblewrapProvider
from sandboxes.unsafe import UnsafeProvider
from tests.sandboxes.conftest import OrdinaryUser

BY_NAME = {attack.name: attack for attack in ATTACKS}

AS_ORDINARY_USER = """
import json, os
from sandboxes.conformance import run_conformance
from sandboxes.embedded.bubblewrap import BubblewrapProvider
provider = BubblewrapProvider(os.environ["BWRAP"])
results = list(run_conformance(provider))
print(json.dumps({
    "uid": os.getuid(),
    "isolation": provider.probe().isolation,
    "tried": len(results),
    "not held": [f"{r.outcome}: {r.name}: {r.detail}" for r in results if not r.ok],
    "gaps": [r.name for r in results if r.outcome == "known gap"],
}))
"""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_bubblewrap_holds_against(attack: Attack, provider: BubblewrapProvider) -> None:
    (result,) = run_conformance(provider, [attack])
    assert result.outcome is Outcome.HELD, result.detail


@pytest.mark.timeout(900)
def test_bubblewrap_holds_for_an_ordinary_user(ordinary_user: OrdinaryUser) -> None:
    told = ordinary_user.run(AS_ORDINARY_USER)
    assert told["uid"] != 0
    assert told["isolation"].startswith("bubblewrap")
    assert told["tried"] == len(ATTACKS)
    assert told["not held"] == []
    assert set(told["gaps"]) <= {
        "memory of every other process",
        "descriptors of every other process",
        "pipe buffers of all runs together",
        "descriptors in flight of all runs together",
        # Where a watchdog stands in for a cgroup.
        "memory in socket pairs",
        "memory in TCP connections",
        "memory in UDP sockets",
        "memory in the kernel's books of mappings",
    }


@pytest.mark.parametrize(
    "name",
    [
        "the host's files",
        "the host's loopback",
        "the host's name",
        "AF_UNIX",
        "AF_NETLINK",
        "installed packages",
    ],
)
def test_a_provider_without_isolation_is_found_out(name: str) -> None:
    (result,) = run_conformance(UnsafeProvider(), [BY_NAME[name]])
    assert result.outcome is Outcome.BROKEN
