"""Providers by name, imported at first use.

`auto` is the strongest that this host passes (see `strongest`); it never falls back to running
without a sandbox. That takes the explicit name `unsafe`. A provider that is to be another than
it is by default has its options behind its name: `container?runtime=runsc`.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from urllib.parse import parse_qsl

from sandboxes.base import Finding, SandboxProvider, SandboxUnavailable
from sandboxes.strongest import choose

_PROVIDERS = {
    "container": "sandboxes.docker.provider:ContainerProvider",
    "nested": "sandboxes.docker.provider:NestedProvider",
    "oci": "sandboxes.oci.provider:OciProvider",
    "namespaces": "sandboxes.embedded.namespaces:NamespacesProvider",
    "bubblewrap": "sandboxes.embedded.bubblewrap:BubblewrapProvider",
    "unsafe": "sandboxes.unsafe:UnsafeProvider",
}


def open_provider(address: str = "auto") -> SandboxProvider:
    """The provider of that name, made with the options that may follow it.

    Raises:
        SandboxUnavailable: no such name or option, or `auto` found none that works here.
    """
    name, _, query = address.partition("?")
    if name == "auto":
        return open_provider(choose(open_provider).name)
    if name not in _PROVIDERS:
        known = ", ".join(["auto", *_PROVIDERS])
        raise SandboxUnavailable(f"no sandbox provider {name!r}", remedy=f"use one of: {known}")
    module, _, attribute = _PROVIDERS[name].partition(":")
    kind = getattr(import_module(module), attribute)
    options = _options(query)
    if unknown := sorted(options.keys() - signature(kind).parameters.keys()):
        message = f"the sandbox provider {name} has no option {unknown[0]!r}"
        raise SandboxUnavailable(message, remedy="leave it out")
    provider: SandboxProvider = kind(**options)
    return provider


def provider_names() -> tuple[str, ...]:
    """Every name but `auto`."""
    return tuple(_PROVIDERS)


def settle(address: str) -> str:
    """The address with the level that `auto` stands for here in its place.

    Where nothing works it stays as it is, so that whoever opens it is told why.
    """
    if address != "auto":
        return address
    try:
        return choose(open_provider).name
    except SandboxUnavailable:
        return address


def what_auto_takes() -> tuple[Finding, ...]:
    """Of each level, whether `auto` takes it here, and why not."""
    try:
        return choose(open_provider).findings
    except SandboxUnavailable as error:
        return (Finding("auto", False, error.args[0], error.remedy),)


def _options(query: str) -> dict[str, str | int]:
    return {name: int(v) if v.isdecimal() else v for name, v in parse_qsl(query)}


__all__ = ["open_provider", "provider_names", "settle", "what_auto_takes"]
