"""A base by its digest, from a registry on this machine that speaks the distribution protocol."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sandboxes.images import build
from sandboxes.images.build import Order, Way, build_image
from sandboxes.images.contents import Stamp
from sandboxes.images.engine import Engine
from sandboxes.images.errors import WayClosed
from sandboxes.images.recipes import Base, Recipe, recipe
from tests.sandboxes.images.conftest import RunIn, silent

DOCKER = "application/vnd.docker"
MANIFEST = f"{DOCKER}.distribution.manifest.v2+json"


class Registry(ThreadingHTTPServer):
    """Serves what it is given, by digest."""

    def __init__(self, blobs: Mapping[str, tuple[str, bytes]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.blobs = blobs

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.server_port}/debian"


class _Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        asked = self.path.rpartition("/")[2]
        kind, content = self.server.blobs.get(asked, ("application/json", b"{}"))
        known = asked in self.server.blobs or self.path == "/v2/"
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if asked in self.server.blobs:
            self.send_header("Docker-Content-Digest", asked)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@pytest.fixture(scope="module")
def blobs(engine: Engine, repository: str, host_image: Stamp) -> dict[str, tuple[str, bytes]]:
    """An image of one layer, this host's Python; its manifest comes last."""
    layer = b"".join(engine.export(f"{repository}:python"))
    config = json.dumps(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Env": ["PATH=/opt/box/bin:/usr/bin:/bin"]},
            "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
            "history": [{"created_by": "test"}],
        }
    ).encode()
    parts = {
        "config": (f"{DOCKER}.container.image.v1+json", config),
        "layer": (f"{DOCKER}.image.rootfs.diff.tar", layer),
    }
    told = {
        name: {"mediaType": kind, "size": len(content), "digest": digest(content)}
        for name, (kind, content) in parts.items()
    }
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": told["config"],
            "layers": [told["layer"]],
        }
    ).encode()
    parts["manifest"] = (MANIFEST, manifest)
    return {digest(content): (kind, content) for kind, content in parts.values()}


@pytest.fixture
def registry(blobs: dict[str, tuple[str, bytes]]) -> Iterator[Registry]:
    with Registry(dict(blobs)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def use(monkeypatch: pytest.MonkeyPatch, image: str) -> None:
    """That base, and nothing of Debian's on top: there is no archive in a test."""
    monkeypatch.setattr(build, "base", lambda: Base("trixie", "", image))

    def without_packages(runtime: str) -> Recipe:
        return replace(recipe(runtime), packages=())

    monkeypatch.setattr(build, "recipe", without_packages)


def test_a_base_is_fetched_by_its_digest(
    engine: Engine,
    repository: str,
    registry: Registry,
    run_in: RunIn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image = f"{registry.name}@{[*registry.blobs][-1]}"
    use(monkeypatch, image)
    stamp = build_image(engine, Order("bash", ("iniconfig",), way=Way.REGISTRY), silent)
    try:
        assert (stamp.base, stamp.base_image) == ("registry", image)
        assert engine.stamp(f"{repository}:bash") == stamp
        assert run_in(f"{repository}:bash", ["python3", "-c", "print(1)"]) == b"1\n"
    finally:
        engine.remove(f"{repository}:bash")
        engine.remove(image)


def test_another_image_under_that_digest_is_refused(
    engine: Engine, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, name = registry.blobs
    kind, content = registry.blobs[name]
    registry.blobs = {**registry.blobs, name: (kind, content + b"\n")}
    use(monkeypatch, f"{registry.name}@{name}")
    with pytest.raises(WayClosed, match=r"can't be pulled: .*verif") as raised:
        build_image(engine, Order("bash", way=Way.REGISTRY), silent)
    assert "--base" in raised.value.remedy
