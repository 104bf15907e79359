"""Providers by name, imported at first use.

`auto` is the strongest that this host passes, by probing; it never falls back to running
without a sandbox. That takes the explicit name `unsafe`. A provider that is to be another than
it is by default has its options behind its name: `container?runtime=runsc`.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from urllib.parse import parse_qsl

from sandboxes.base import SandboxProvider, SandboxUnavailable

_PROVIDERS = {
    "container": "sandboxes.docker.provider:ContainerProvider",
    "nested": "sandboxes.docker.provider:NestedProvider",
    "namespaces": "sandboxes.embedded.namespaces:NamespacesProvider",
    "bubblewrap": "sandboxes.embedded.bubblewrap:BubblewrapProvider",
    "unsafe": "sandboxes.unsafe:UnsafeProvider",
}
_STRONGEST_FIRST = ("namespaces", "bubblewrap")


def open_provider(address: str = "auto") -> SandboxProvider:
    """The provider of that name, made with the options that may follow it.

    Raises:
        SandboxUnavailable: no such name or option, or `auto` found none that works here.
    """
    name, _, query = address.partition("?")
    if name == "auto":
        return _strongest()
    if name not in _PROVIDERS:
        known = ", ".join(["auto", *_PROVIDERS])
        raise SandboxUnavailable(f"no sandbox provider {name!r}", remedy=f"use one of: {known}")
    module, _, attribute = _PROVIDERS[name].partition(":")
    kind = getattr(import_module(module), attribute)
    options = dict(parse_qsl(query))
    if unknown := sorted(options.keys() - signature(kind).parameters.keys()):
        message = f"the sandbox provider {name} has no option {unknown[0]!r}"
        raise SandboxUnavailable(message, remedy="leave it out")
    provider: SandboxProvider = kind(**options)
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
