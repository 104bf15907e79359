"""What images there are, and what each is made of: `images.toml` as types."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sandboxes.images.errors import ImageError

REPOSITORY = "answerkey-sandbox"


@dataclass(frozen=True, slots=True)
class Base:
    """The Debian that images are made of.

    Attributes:
        suite: its name, for debootstrap.
        mirror: URL of its archive.
        image: the registry's, by name and digest.
    """

    suite: str
    mirror: str
    image: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """One image.

    Attributes:
        runtime: it is made for.
        packages: Debian's.
        offers: all runtimes that a box made of it has.
    """

    runtime: str
    packages: tuple[str, ...]
    offers: tuple[str, ...]

    @property
    def tag(self) -> str:
        """The image's name."""
        return f"{REPOSITORY}:{self.runtime}"


@cache
def base() -> Base:
    """What the images are built on."""
    entry = _data()["base"]
    return Base(entry["suite"], entry["mirror"], f"{entry['image']}@{entry['digest']}")


def runtimes() -> tuple[str, ...]:
    """The runtimes that there are images for."""
    return tuple(_data()["runtimes"])


def recipe(runtime: str) -> Recipe:
    """How that runtime's image is made.

    Raises:
        ImageError: there is no such runtime.
    """
    data = _data()
    entry = data["runtimes"].get(runtime)
    if entry is None:
        known = ", ".join(data["runtimes"])
        raise ImageError(f"no image for a runtime {runtime!r}", remedy=f"use one of: {known}")
    common = data["common"]
    return Recipe(
        runtime,
        packages=(*common["packages"], *entry["packages"]),
        offers=(*common["offers"], *entry["offers"]),
    )


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("images.toml").read_text())


__all__ = ["REPOSITORY", "Base", "Recipe", "base", "recipe", "runtimes"]
