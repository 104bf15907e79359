"""`verifier-server sandbox doctor`: what each level can do here, and whether it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, get_args

import typer

from verifier_server.cli.sandbox.conformance import attacked, results_table, tell
from verifier_server.cli.sandbox.options import AsJson, Level, open_level
from verifier_server.cli.terminal import stdout

if TYPE_CHECKING:
    from sandboxes.base import Finding, Probe
    from sandboxes.images.contents import Stamp


@dataclass(frozen=True, slots=True)
class Image:
    """An image, or one that is unpacked. `current`: boxes of this installation can run in it."""

    name: str
    base: str
    base_image: str
    offers: str
    current: bool


def doctor(level: Level = None, as_json: AsJson = False) -> None:
    """Look at every level on this machine, and attack the one in force.

    Exits with 1 if that one can't run or does not hold.
    """
    from sandboxes.registry import what_auto_takes
    from verifier_server.cli.host import probe_sandbox

    auto = what_auto_takes()
    probes = {address: probe_sandbox(address) for address in _levels()}
    images = list(_images())
    if not as_json:
        _print(auto, probes, images)
    with open_level(level) as provider:
        results = list(attacked(provider))
    ok = all(result.ok for result in results)
    if as_json:
        report = {
            "ok": ok,
            "auto": [asdict(finding) for finding in auto],
            "levels": {address: asdict(probe) for address, probe in probes.items()},
            "images": [asdict(image) for image in images],
            "in_force": provider.name,
            "attacks": [asdict(result) for result in results],
        }
        typer.echo(json.dumps(report, indent=2))
    else:
        amiss = [result for result in results if result.outcome != "held"]
        if amiss:
            stdout().print(results_table(amiss))
        tell(f"in force: {provider.name}", results)
    if not ok:
        raise typer.Exit(1)


def _levels() -> Iterator[str]:
    """All levels, containers once more with each other runtime than the usual one."""
    from sandboxes.registry import provider_names
    from verifier_server.settings import Settings

    _, *others = get_args(Settings.model_fields["sandbox_runtime"].annotation)
    for name in provider_names():
        yield name
        if name == "container":
            yield from (f"{name}?runtime={runtime}" for runtime in others)


def _print(auto: Sequence[Finding], probes: Mapping[str, Probe], images: Sequence[Image]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("", "level", "what", box=None)
    table.add_column("found", overflow="fold")
    taken = next((f.what for f in auto if f.ok), None)
    told = {
        "auto": (taken is not None, f"takes {taken}" if taken else "finds nothing", auto),
        **{
            address: (p.available, p.isolation if p.available else "not here", p.findings)
            for address, p in probes.items()
        },
    }
    for level, (ok, summary, findings) in told.items():
        table.add_row(Text("ok", "green") if ok else Text("--", "yellow"), level, "", summary)
        for f in findings:
            mark = Text("ok", "green") if f.ok else Text("--", "yellow")
            found = f"{f.detail}\n-> {f.remedy}" if f.remedy and not f.ok else f.detail
            table.add_row(mark, "", Text(f.what), Text(found))
    stdout().print(table)
    made = Table("", box=None)
    for heading in ("image", "offers", "from", "made of"):
        made.add_column(heading, overflow="fold")
    for image in images:
        mark = Text("ok", "green") if image.current else Text("older launcher", "yellow")
        made.add_row(mark, Text(image.name), image.offers, image.base, Text(image.base_image))
    if images:
        stdout().print(made)


def _images() -> Iterator[Image]:
    """Those of the engine, if one answers, and the unpacked ones."""
    from sandboxes.base import SandboxError
    from sandboxes.images.engine import open_engine
    from sandboxes.images.recipes import recipe, runtimes
    from sandboxes.images.rootfs import cache_folder, read_stamp

    try:
        with open_engine() as engine:
            for runtime in runtimes():
                tag = recipe(runtime).tag
                yield from _image(tag, engine.stamp(tag))
    except SandboxError:
        pass  # the levels that need an engine say what is wrong with it
    for runtime in runtimes():
        folder = cache_folder() / runtime
        yield from _image(str(folder), read_stamp(folder))


def _image(name: str, stamp: Stamp | None) -> Iterator[Image]:
    if stamp is not None:
        offers = " ".join(stamp.runtimes)
        yield Image(name, stamp.base, stamp.base_image, offers, stamp.is_current)
