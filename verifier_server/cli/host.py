"""What this machine can do, for the commands that say so."""

from __future__ import annotations

from contextlib import closing

from sandboxes.base import Finding, Probe, SandboxUnavailable
from sandboxes.registry import open_provider
from verifier_server.checkers.registry import Registry
from verifier_server.schemas import CheckerInfo


def probe_sandbox(name: str) -> Probe:
    """What the provider of that name finds here; unavailable where it can't even be opened."""
    try:
        with closing(open_provider(name)) as provider:
            return provider.probe()
    except SandboxUnavailable as error:
        finding = Finding(what="provider", ok=False, detail=error.args[0], remedy=error.remedy)
        return Probe(name, available=False, isolation="", findings=(finding,))


def describe_checkers(registry: Registry, sandbox: Probe) -> list[CheckerInfo]:
    """All checkers; those that need a sandbox are unavailable where there is none."""
    return [_describe(registry.describe(name), sandbox) for name in registry.names()]


def _describe(info: CheckerInfo, sandbox: Probe) -> CheckerInfo:
    if info.status != "ok" or info.resource == "cpu" or sandbox.available:
        return info
    failed = next((f for f in sandbox.findings if not f.ok), None)
    reason = f"{failed.what}: {failed.detail}; {failed.remedy}" if failed else "see doctor"
    return info.model_copy(update={"status": "unavailable", "needs": f"no sandbox here: {reason}"})
