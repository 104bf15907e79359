"""What every box has on top of a distribution and a language: the launcher, Python packages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from sandboxes.launcher.bundle import launcher_digest, launcher_files
from sandboxes.layout import LAUNCHER, PACKAGES
from sandboxes.packages import package_entries

STAMP = "/opt/box/image.json"
FINISH = "/opt/box/finish.py"
LABEL = "answerkey.launcher"  # marks an image as ours
_PREFIX = "answerkey"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an image says of itself, in its labels and in a file of its own.

    Attributes:
        runtimes: that it offers.
        packages: Python distributions that its `python3` can import.
        base: the way it was made.
        base_image: what it was made of: an image with its digest, a suite, a Python.
        launcher: digest of the launcher in it.
    """

    runtimes: tuple[str, ...]
    packages: tuple[str, ...]
    base: str
    base_image: str
    launcher: str

    @classmethod
    def new(
        cls, runtimes: Sequence[str], packages: Sequence[str], base: str, base_image: str
    ) -> Stamp:
        """Of an image that is made now."""
        return cls(tuple(runtimes), tuple(packages), base, base_image, launcher_digest())

    @property
    def is_current(self) -> bool:
        """Whether the launcher in it is the one of this installation."""
        return self.launcher == launcher_digest()

    def labels(self) -> dict[str, str]:
        """For an image."""
        return {
            f"{_PREFIX}.runtimes": ",".join(self.runtimes),
            f"{_PREFIX}.packages": ",".join(self.packages),
            f"{_PREFIX}.base": self.base,
            f"{_PREFIX}.base-image": self.base_image,
            LABEL: self.launcher,
        }

    @classmethod
    def of_labels(cls, labels: Mapping[str, str]) -> Stamp | None:
        """What an image's labels say; None if it is none of ours."""
        launcher = labels.get(LABEL)
        if launcher is None:
            return None
        lists = (labels.get(f"{_PREFIX}.{name}", "") for name in ("runtimes", "packages"))
        runtimes, packages = (tuple(filter(None, text.split(","))) for text in lists)
        base, base_image = (labels.get(f"{_PREFIX}.{name}", "") for name in ("base", "base-image"))
        return cls(runtimes, packages, base, base_image, launcher)

    @classmethod
    def of_file(cls, text: str) -> Stamp:
        """What the file says. Raises ValueError, TypeError: it is no stamp."""
        entry = json.loads(text)
        return cls(**{**entry, **{key: tuple(entry[key]) for key in ("runtimes", "packages")}})


def contents(stamp: Stamp) -> Iterator[tuple[str, bytes]]:
    """All files that are laid on top of a base, by absolute path in the box."""
    yield STAMP, json.dumps(asdict(stamp), indent=1).encode()
    yield FINISH, files(__package__).joinpath("finish.py").read_bytes()
    for path, content in launcher_files().items():
        yield f"{LAUNCHER}/{path}", content
    for name, source in sorted(package_entries(stamp.packages).items()):
        yield from _tree(Path(source), f"{PACKAGES}/{name}")


def _tree(source: Path, target: str) -> Iterator[tuple[str, bytes]]:
    if source.is_file():
        yield target, source.read_bytes()
        return
    for path in sorted(source.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{target}/{path.relative_to(source)}", path.read_bytes()


__all__ = ["FINISH", "LABEL", "STAMP", "Stamp", "contents"]
