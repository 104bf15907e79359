"""Providers by name, imported at first use.

`auto` is the strongest that this host passes, by probing; it never falls back to running
without a sandbox. That takes the explicit name `unsafe`.
"""

from __future__ import annotations

from importlib import import_module

from sandboxes.base import SandboxProvider, SandboxUnavailable

_PROVIDERS = {
    "namespaces": "sandboxes.embedded.namespaces:NamespacesProvider",
    "bubblewrap": "sandboxes.embedded.bubblewrap:BubblewrapProvider",
    "unsafe": "sandboxes.unsafe:UnsafeProvider",
}
_STRONGEST_FIRST = ("namespaces", "bubblewrap")


def open_provider(name: str = "auto") -> SandboxProvider:
    """The provider of that name.

    Raises:
        SandboxUnavailable: no such name, or `auto` found none that works here.
    """
    if name == "auto":
        return _strongest()
    if name not in _PROVIDERS:
        known = ", ".join(["auto", *_PROVIDERS])
        raise SandboxUnavailable(f"no sandbox provider {name!r}", remedy=f"use one of: {known}")
    module, _, attribute = _PROVIDERS[name].partition(":")
    provider: SandboxProvider = getattr(import_module(module), attribute)()
    return provider


def provider_names() -> tuple[str, ...]:
    """Every name but `auto`."""
    return tuple(_PROVIDERS)


def _strongest() -> SandboxProvider:
    reasons = []
    for name in _STRONGEST_FIRST:
        provider = open_provider(name)
        probe = provider.probe()
        if probe.available:
            return provider
        reasons += [f"{name}: {f.what}: {f.detail}; {f.remedy}" for f in probe.findings if not f.ok]
    raise SandboxUnavailable(
        "no sandbox works on this host: " + " | ".join(reasons),
        remedy="run `verifier-server doctor`, or accept the risk with --unsafe-no-sandbox",
    )
