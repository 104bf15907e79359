"""Makes images, by the best way that is open here.

`registry`, `image` and `debootstrap` get a base and put `Dockerfile` on top; `host` copies what
runs on this machine. Each image says in its labels which way it came.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from pathlib import Path

from sandboxes.base import SandboxError
from sandboxes.images import host
from sandboxes.images.contents import FINISH, Stamp, contents
from sandboxes.images.debian import debootstrap
from sandboxes.images.engine import Engine, Say
from sandboxes.images.errors import ImageError, WayClosed
from sandboxes.images.recipes import REPOSITORY, Recipe, base, recipe
from sandboxes.images.rootfs import cache_folder, new_rootfs, read_stamp, unpack
from sandboxes.images.tree import lay
from sandboxes.layout import ENVIRONMENT

# For who runs an image by hand: providers name a user and an environment themselves.
_AS_THE_DOCKERFILE = ("USER 64000:64000", f"ENV PATH={ENVIRONMENT['PATH']}")


class Way(StrEnum):
    """How an image is made."""

    REGISTRY = "registry"
    IMAGE = "image"
    DEBOOTSTRAP = "debootstrap"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be made.

    Attributes:
        runtime: one of `recipes.runtimes()`.
        packages: Python distributions of this installation that boxes shall import.
        base_image: an image that is here and has the runtime and python3, instead of a way
            to get one.
        way: the only one to take; None for the first that is open.
        mirror: URL of a Debian archive for debootstrap, instead of the usual one.
    """

    runtime: str
    packages: tuple[str, ...] = ()
    base_image: str | None = None
    way: Way | None = None
    mirror: str | None = None


def build_image(engine: Engine, order: Order, say: Say) -> Stamp:
    """Makes an image, named by its runtime's tag.

    Args:
        engine: that has it then.
        order: what to make.
        say: told what goes on.

    Raises:
        SandboxError: it can't be made; says why for each way, and the remedy.
    """
    chosen = recipe(order.runtime)
    closed: list[WayClosed] = []
    for way in _ways(order):
        try:
            return _TAKE[way](engine, order, chosen, say)
        except WayClosed as error:
            say(f"not by {way}: {error}")
            closed.append(error)
    if len(closed) == 1:
        raise closed[0]
    remedies = "; or ".join(dict.fromkeys(error.remedy for error in closed if error.remedy))
    reasons = " | ".join(error.args[0] for error in closed)
    raise ImageError(f"{chosen.tag} can't be made: {reasons}", remedy=remedies)


def export_image(engine: Engine, runtime: str) -> Path:
    """Unpacks an image that is there, for boxes that no engine makes.

    Raises:
        SandboxError: there is no such image, or no space for it.
    """
    with new_rootfs(runtime) as folder:
        unpack(engine.export(recipe(runtime).tag), folder)
    return folder


def build_rootfs(order: Order) -> tuple[Stamp, Path]:
    """Makes a root file system without an engine, of this host's files.

    Raises:
        ImageError: this host can't.
    """
    chosen = recipe(order.runtime)
    if order.way not in (None, Way.HOST) or order.base_image:
        raise WayClosed("without an engine only the way `host` is open", remedy="start Docker")
    with new_rootfs(order.runtime) as folder:
        stamp = _fill_from_host(folder, order, chosen)
    return stamp, folder


def is_needed(engine: Engine | None, order: Order, *, export: bool) -> bool:
    """Whether boxes of this installation can't run in what is there.

    Args:
        engine: whose image is looked at, if there is one.
        order: what boxes need.
        export: whether the unpacked image is looked at, too.

    Raises:
        SandboxError: there is no such runtime, or the engine went away.
    """
    tag = recipe(order.runtime).tag
    stamps = [engine.stamp(tag)] if engine else []
    if export:
        stamps.append(read_stamp(cache_folder() / order.runtime))
    needed = {*order.packages}
    return any(s is None or not s.is_current or needed - {*s.packages} for s in stamps)


def _ways(order: Order) -> Sequence[Way]:
    if order.base_image:
        return (Way.IMAGE,)
    return (order.way,) if order.way else (Way.REGISTRY, Way.DEBOOTSTRAP, Way.HOST)


def _by_registry(engine: Engine, order: Order, chosen: Recipe, say: Say) -> Stamp:
    image = base().image
    if engine.identity(image) is None:
        say(f"pulling {image}")
        try:
            engine.pull(image)
        except SandboxError as error:
            remedy = "let the engine reach Docker Hub, or name an image with --base"
            raise WayClosed(error.args[0], remedy=remedy) from error
    stamp = Stamp.new(chosen.offers, order.packages, Way.REGISTRY, image)
    return _on_top(engine, image, chosen.packages, chosen, stamp, say)


def _by_image(engine: Engine, order: Order, chosen: Recipe, say: Say) -> Stamp:
    image = order.base_image
    if image is None:
        raise WayClosed("no image is named", remedy="name one with --base")
    identity = engine.identity(image)
    if identity is None:
        raise WayClosed(f"there is no image {image} here", remedy=f"docker pull {image}")
    stamp = Stamp.new(chosen.offers, order.packages, Way.IMAGE, identity)
    return _on_top(engine, image, (), chosen, stamp, say)


def _by_debootstrap(engine: Engine, order: Order, chosen: Recipe, say: Say) -> Stamp:
    suite = base().suite
    image = f"{REPOSITORY}-base:{suite}"
    identity = engine.identity(image)
    if identity is None:
        with _folder() as folder:
            root = folder / "root"
            debootstrap(suite, order.mirror or base().mirror, root, say)
            _import(engine, root, image)
        identity = engine.identity(image)
    made_of = f"Debian {suite}, {identity}"
    stamp = Stamp.new(chosen.offers, order.packages, Way.DEBOOTSTRAP, made_of)
    return _on_top(engine, image, chosen.packages, chosen, stamp, say)


def _by_host(engine: Engine, order: Order, chosen: Recipe, say: Say) -> Stamp:
    with _folder() as folder:
        say("copying this host's Python and tools")
        stamp = _fill_from_host(folder, order, chosen)
        labels = [f'LABEL "{name}"="{value}"' for name, value in stamp.labels().items()]
        _import(engine, folder, chosen.tag, [*_AS_THE_DOCKERFILE, *labels])
    return stamp


_TAKE: dict[Way, Callable[[Engine, Order, Recipe, Say], Stamp]] = {
    Way.REGISTRY: _by_registry,
    Way.IMAGE: _by_image,
    Way.DEBOOTSTRAP: _by_debootstrap,
    Way.HOST: _by_host,
}


def _on_top(
    engine: Engine, image: str, packages: Sequence[str], chosen: Recipe, stamp: Stamp, say: Say
) -> Stamp:
    """Builds the Dockerfile on a base that the engine has."""
    arguments = {"BASE": image, "PACKAGES": " ".join(packages)}
    engine.build(_context(stamp), chosen.tag, arguments, stamp.labels(), say)
    return stamp


def _context(stamp: Stamp) -> Iterator[tuple[str, bytes]]:
    yield "Dockerfile", files(__package__).joinpath("Dockerfile").read_bytes()
    for path, content in contents(stamp):
        yield f"box{path}", content


def _fill_from_host(root: Path, order: Order, chosen: Recipe) -> Stamp:
    if chosen.runtime not in host.OFFERS:
        offered = " and ".join(host.OFFERS)
        raise WayClosed(f"by host there are images for {offered} alone, not {chosen.runtime}")
    host.copy_host(root)
    stamp = Stamp.new(host.OFFERS, order.packages, Way.HOST, host.describe())
    lay(root, contents(stamp))
    finish = str(root / FINISH.lstrip("/"))
    python = os.path.realpath(sys.executable)
    done = subprocess.run(
        [python, "-I", finish, str(root)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ImageError(f"the file system can't be finished: {done.stderr.strip()}")
    return stamp


def _import(engine: Engine, root: Path, tag: str, changes: Sequence[str] = ()) -> None:
    with tempfile.NamedTemporaryFile(suffix=".tar") as tar:
        command = ["tar", "-c", "-C", str(root), "-f", tar.name, "--numeric-owner"]
        owner = ["--owner=0", "--group=0"] if os.geteuid() else []
        parts = ["--exclude=./dev/*", "--exclude=./proc/*", "--exclude=./sys/*", "."]
        done = subprocess.run(
            [*command, *owner, *parts], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ImageError(f"{root} can't be packed: {done.stderr.strip()}")
        engine.import_tar(tar.name, tag, changes)


@contextmanager
def _folder() -> Iterator[Path]:
    """A temporary directory that is the root of an image: open to all."""
    with tempfile.TemporaryDirectory(prefix="answerkey-image-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


__all__ = ["Order", "Way", "build_image", "build_rootfs", "export_image", "is_needed"]
