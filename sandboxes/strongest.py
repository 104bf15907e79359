"""What `auto` stands for on this host: found out by attacks on real boxes, once a process.

Levels that need an engine, an image or a runtime of somebody else's are not among those tried,
though two walls are better than one: whoever can talk to an engine is root on its host, which
is the operator's to say; and an image that was pruned, or an engine that restarts, would
change the level of a running service from one worker to the next. They are used by name.

Of the others `namespaces` comes first: it has Landlock, a place of namespaces around the
launcher, and for an ordinary user an init that programs can't look into, none of which
`bubblewrap` has; and it is the quicker by far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from sandboxes.base import Finding, SandboxError, SandboxProvider, SandboxUnavailable

STRONGEST_FIRST = ("namespaces", "bubblewrap")
_BY_NAME_ONLY = ("nested", "container", "oci")
# Of the conformance suite: one for each wall, each over in a tenth of a second.
TRIALS = frozenset(
    (
        *("the host's files", "the host's processes", "the host's loopback", "privileges"),
        *("all other socket families", "new namespaces"),
        *("memory bomb", "thread bomb", "filling the disk"),
    )
)
Open = Callable[[str], SandboxProvider]


@dataclass(frozen=True, slots=True)
class Choice:
    """A level, and of each that there is a finding: whether it was taken, and why not."""

    name: str
    findings: tuple[Finding, ...]


@cache
def choose(open_provider: Open) -> Choice:
    """The first level that works here and holds.

    Raises:
        SandboxUnavailable: none does.
    """
    findings: list[Finding] = []
    for place, name in enumerate(STRONGEST_FIRST):
        finding = _tried(open_provider, name)
        findings.append(finding)
        if finding.ok:
            later = [Finding(n, False, f"{name} comes first") for n in STRONGEST_FIRST[place + 1 :]]
            return Choice(name, (*findings, *later, *map(_not_asked_for, _BY_NAME_ONLY)))
    raise SandboxUnavailable(
        "no sandbox works on this host: "
        + " | ".join(f"{f.what}: {f.detail}; {f.remedy}" for f in findings),
        remedy="run `verifier-server doctor`, or accept the risk with --unsafe-no-sandbox",
    )


def _tried(open_provider: Open, name: str) -> Finding:
    # The attacks are not imported where a level is named.
    from sandboxes.conformance import ATTACKS, run_conformance

    provider = open_provider(name)
    try:
        probe = provider.probe()
        if not probe.available:
            why = next(finding for finding in probe.findings if not finding.ok)
            return Finding(name, False, why.detail, why.remedy)
        trials = [attack for attack in ATTACKS if attack.name in TRIALS]
        for result in run_conformance(provider, trials):
            if not result.ok:
                found = f"does not hold against {result.name}: {result.detail}"
                return Finding(name, False, found, "run `verifier-server sandbox check`")
        return Finding(name, True, f"{probe.isolation}, held against {len(trials)} attacks")
    except SandboxError as error:
        return Finding(name, False, str(error.args[0]), error.remedy)
    finally:
        provider.close()


def _not_asked_for(name: str) -> Finding:
    return Finding(name, False, "used by name only", f"set VERIFIER_SANDBOX={name}")


__all__ = ["STRONGEST_FIRST", "TRIALS", "Choice", "choose"]
