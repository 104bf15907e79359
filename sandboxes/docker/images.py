"""Which image a box is made of, and whether it is fit for it."""

from __future__ import annotations

import threading
import time

from sandboxes.base import SandboxSpec, SandboxUnavailable
from sandboxes.docker.engine import Engine, Image
from sandboxes.docker.faults import ImageMissing
from sandboxes.images.contents import Stamp

# An image that was built anew is noticed after that.
_KNOWN_FOR_S = 30.0


class Images:
    """The images of one engine.

    Args:
        engine: where they are.
        template: an image's name, with `{runtime}` in it where each has its own.
    """

    def __init__(self, engine: Engine, template: str) -> None:
        self._engine = engine
        self._template = template
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, Image]] = {}

    def find(self, spec: SandboxSpec) -> str:
        """The id of the image for a box.

        Raises:
            SandboxUnavailable: there is none, or it lacks something; says how to get one.
        """
        name, build = self._name(spec), _build(spec)
        try:
            image = self._look(name)
        except ImageMissing as error:
            raise self.lost(spec) from error
        stamp = Stamp.of_labels(image.labels)
        if stamp is None or not stamp.is_current:
            raise SandboxUnavailable(f"the image {name} does not hold our launcher", remedy=build)
        lacking = {spec.runtime, *spec.packages} - {*stamp.runtimes, *stamp.packages}
        if lacking:
            message = f"the image {name} has no {', '.join(sorted(lacking))}"
            raise SandboxUnavailable(message, remedy=build)
        return image.id

    def lost(self, spec: SandboxSpec) -> SandboxUnavailable:
        """What to raise where an image that was found is there no more."""
        name = self._name(spec)
        with self._lock:
            self._known.pop(name, None)
        return SandboxUnavailable(f"there is no image {name}", remedy=_build(spec))

    def _name(self, spec: SandboxSpec) -> str:
        return self._template.replace("{runtime}", spec.runtime)

    def _look(self, name: str) -> Image:
        with self._lock:
            known = self._known.get(name)
        if known is not None and time.monotonic() - known[0] < _KNOWN_FOR_S:
            return known[1]
        image = self._engine.image(name)
        with self._lock:
            self._known[name] = (time.monotonic(), image)
        return image


def _build(spec: SandboxSpec) -> str:
    return f"verifier-server sandbox build {spec.runtime}"


__all__ = ["Images"]
