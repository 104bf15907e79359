"""What images need of a container engine, through the Docker SDK."""

from __future__ import annotations

import io
import os
import re
import socket
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sandboxes.docker.engine import require_sdk
from sandboxes.docker.faults import typed
from sandboxes.images.contents import LABEL, Stamp
from sandboxes.images.errors import ImageError

if TYPE_CHECKING:
    from docker import DockerClient

Say = Callable[[str], None]
# Of one answer; a layer is unpacked without a word.
_PATIENCE_S = 600
_SHOWN_LINES = 12
_USUAL = "unix:///var/run/docker.sock"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Engine:
    """A container engine that answers."""

    def __init__(self, client: DockerClient) -> None:
        self._client = client
        self._api = client.api

    def stamp(self, image: str) -> Stamp | None:
        """What an image's labels say; None if it isn't here or none of ours."""
        found = self._inspect(image)
        return None if found is None else Stamp.of_labels(found["Config"]["Labels"] or {})

    def identity(self, image: str) -> str | None:
        """The image by the digest of its registry, else by its own; None if it isn't here."""
        found = self._inspect(image)
        if found is None:
            return None
        return str((found.get("RepoDigests") or [found["Id"]])[0])

    def pull(self, image: str) -> None:
        """Fetches an image by name and digest.

        Raises:
            SandboxError: it can't be had.
        """
        with typed(f"pulling {image}"):
            for line in self._api.pull(image, stream=True, decode=True):
                if "error" in line:
                    raise ImageError(f"{image} can't be pulled: {line['error']}")

    def import_tar(self, tar: str, tag: str, changes: Sequence[str]) -> None:
        """Makes an image of a root file system.

        Args:
            tar: the file in which it is packed.
            tag: the image's name.
            changes: to its configuration, as lines of a Dockerfile.

        Raises:
            SandboxError: the engine refuses it.
        """
        repository, _, version = tag.partition(":")
        with typed(f"importing {tag}"):
            answer = self._api.import_image_from_file(
                tar, repository=repository, tag=version, changes=list(changes)
            )
        if '"error"' in answer:
            raise ImageError(f"{tag} can't be imported: {answer.strip()}")

    def build(
        self,
        context: Iterable[tuple[str, bytes]],
        tag: str,
        arguments: Mapping[str, str],
        labels: Mapping[str, str],
        say: Say,
    ) -> None:
        """Builds an image.

        Args:
            context: the Dockerfile and the files that it copies, by path.
            tag: its name.
            arguments: of the Dockerfile.
            labels: of the image.
            say: told each line of output.

        Raises:
            SandboxError: it can't be built; says what the build said last.
        """
        said: list[str] = []
        with typed(f"building {tag}"):
            lines = self._api.build(
                fileobj=_packed(context),
                custom_context=True,
                tag=tag,
                buildargs=dict(arguments),
                labels=dict(labels),
                # The builder's packages come over the network; the engine may have no bridge.
                network_mode="host",
                rm=True,
                forcerm=True,
                decode=True,
            )
            for line in lines:
                text = str(line.get("stream") or line.get("error") or "").strip()
                if text:
                    said.append(text)
                    say(text)
                if "error" in line:
                    last = _COLOURS.sub("", "\n".join(said[-_SHOWN_LINES:]))
                    raise ImageError(f"{tag} can't be built: {last}")

    def export(self, image: str) -> Iterator[bytes]:
        """An image's files as a tar, in pieces.

        Raises:
            SandboxError: there is no such image, or the engine went away.
        """
        with typed(f"exporting {image}"):
            container = self._client.containers.create(image, ["-"], network_mode="none")
            try:
                yield from container.export()
            finally:
                container.remove()

    def remove(self, image: str) -> bool:
        """Removes an image; False if it wasn't here.

        Raises:
            SandboxError: a container uses it.
        """
        if self._inspect(image) is None:
            return False
        with typed(f"removing {image}"):
            self._client.images.remove(image)
        return True

    def remove_replaced(self) -> int:
        """Removes our images that have lost their name to newer ones; says how many.

        Raises:
            SandboxError: the engine went away.
        """
        from docker.errors import APIError

        removed = 0
        with typed("removing replaced images"):
            for image in self._client.images.list(filters={"dangling": True, "label": LABEL}):
                with suppress(APIError):  # a box runs from it
                    self._client.images.remove(image.id)
                    removed += 1
        return removed

    def _inspect(self, image: str) -> dict[str, Any] | None:
        from docker.errors import ImageNotFound

        with typed(f"looking at {image}"):
            try:
                found: dict[str, Any] = self._api.inspect_image(image)
            except ImageNotFound:
                return None
            return found


@contextmanager
def open_engine() -> Iterator[Engine]:
    """The engine that DOCKER_HOST names, or the one at its usual socket.

    Raises:
        SandboxUnavailable: there is none, or the SDK isn't installed.
    """
    require_sdk()
    import docker

    with typed("looking for a container engine"):
        _knock()
        client = docker.from_env(timeout=_PATIENCE_S)
    try:
        yield Engine(client)
    finally:
        client.close()


def _knock() -> None:
    """The SDK leaves a socket open that it can't connect. Raises OSError: nobody listens."""
    scheme, _, path = os.environ.get("DOCKER_HOST", _USUAL).partition("://")
    if scheme == "unix":
        with socket.socket(socket.AF_UNIX) as door:
            door.connect(path)


def _packed(files: Iterable[tuple[str, bytes]]) -> io.BytesIO:
    """The files as a tar, readable by all."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, content in files:
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    packed.seek(0)
    return packed


__all__ = ["Engine", "Say", "open_engine"]
