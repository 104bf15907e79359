"""`verifier-server doctor`: what would keep the service from running here, and the remedy."""

from __future__ import annotations

import json
import platform
import socket
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verifier_server.cli.serve import UnsafeNoSandbox
from verifier_server.cli.terminal import stdout
from verifier_server.errors import ConfigError

if TYPE_CHECKING:
    from sandboxes.base import Probe
    from verifier_server.schemas import CheckerInfo
    from verifier_server.settings import Settings


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `required`: without it the service can't run as configured."""

    section: str
    what: str
    ok: bool
    detail: str = ""
    remedy: str = ""
    required: bool = True


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
    unsafe_no_sandbox: UnsafeNoSandbox = False,
) -> None:
    """Check this machine and the configuration.

    Exits with 1 if the service can't run as configured.
    """
    from verifier_server.cli.configuration import load_settings

    checks = [_python()]
    in_force: dict[str, Any] = {}
    try:
        settings = load_settings(unsafe_no_sandbox=unsafe_no_sandbox)
    except ConfigError as error:
        checks.append(Check("settings", "valid", False, error.args[0], error.remedy))
    else:
        in_force = settings.model_dump(mode="json")
        checks += _examine(settings)
    ok = all(check.ok or not check.required for check in checks)
    if as_json:
        report = {"ok": ok, "checks": [asdict(check) for check in checks], "settings": in_force}
        typer.echo(json.dumps(report, indent=2))
    else:
        _print(checks, in_force, ok)
    if not ok:
        raise typer.Exit(1)


def _examine(settings: Settings) -> list[Check]:
    from verifier_server.checkers.registry import get_registry
    from verifier_server.cli.host import describe_checkers, probe_sandbox

    probe = probe_sandbox(settings.sandbox_address)
    try:
        infos = describe_checkers(get_registry(), probe)
    except ConfigError as error:
        checkers = [Check("checkers", "registered", False, error.args[0], error.remedy)]
    else:
        checkers = [_checker(info) for info in infos]
        if any(info.name == "lean" for info in infos):
            checkers += _lean()
    return [Check("settings", "valid", True), _port(settings), *_sandbox(probe), *checkers]


def _python() -> Check:
    detail = f"{platform.python_version()} at {sys.executable}, {platform.platform()}"
    supported = sys.version_info >= (3, 11) and sys.platform == "linux"
    return Check("host", "python", supported, detail, "use Python 3.11 or newer on Linux")


def _port(settings: Settings) -> Check:
    where = f"{settings.host}:{settings.port}"
    try:
        family, *_, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
        with socket.create_server(address[:2], family=family):
            return Check("host", "port", True, f"{where} is free")
    except OSError as error:
        remedy = "stop what listens there, or set VERIFIER_HOST and VERIFIER_PORT"
        return Check("host", "port", False, f"{where}: {error.strerror}", remedy)


def _sandbox(probe: Probe) -> list[Check]:
    """The provider as a whole is required; what it can't enforce is told."""
    whole = Check(
        "sandbox",
        probe.provider,
        probe.available,
        probe.isolation,
        "mend what is listed below, or accept the risk with --unsafe-no-sandbox",
    )
    parts = [
        Check("sandbox", f.what, f.ok, f.detail, f.remedy, required=False) for f in probe.findings
    ]
    return [whole, *parts]


def _lean() -> list[Check]:
    """What the checker `lean` finds here; no service needs it."""
    from verifier_server.checkers.lean.inventory import take_inventory

    return [
        Check("lean", part.what, part.ok, part.detail, part.remedy, required=False)
        for part in take_inventory()
    ]


def _checker(info: CheckerInfo) -> Check:
    detail = info.version or ""
    if info.status != "ok":
        detail = f"{info.status}: {(info.needs.strip().splitlines() or [''])[-1]}"
    remedy = f"run `verifier-server checkers show {info.name}`"
    required = info.status != "unavailable"
    return Check("checkers", info.name, info.status == "ok", detail, remedy, required)


def _print(checks: list[Check], settings: dict[str, Any], ok: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from verifier_server.cli.configuration import variable

    table = Table("", "section", "what", box=None)
    table.add_column("found", overflow="fold")
    for check in checks:
        mark, style = ("ok", "green") if check.ok else ("!!", "red")
        if not check.ok and not check.required:
            mark, style = "--", "yellow"
        found = check.detail if check.ok else f"{check.detail}\n-> {check.remedy}"
        table.add_row(Text(mark, style), check.section, Text(check.what), Text(found))
    console = stdout()
    console.print(table)
    if settings:
        values = Table("setting in force", "value", box=None)
        for name, value in settings.items():
            values.add_row(variable(name), Text(str(value)))
        console.print(values)
    verdict = "The service can run as configured." if ok else "The service can't run as configured."
    console.print(verdict, style="green" if ok else "red")
