"""The Docker engine, as the providers use it: each request bounded, each failure typed.

Through the docker SDK, whose clients are not safe to share: every thread has its own. What
the SDK has no words for (masked paths, a pids limit that changes) goes to the engine's API
as plain JSON, with the same client.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandboxes.base import LimitUnsupported, SandboxBroken, SandboxUnavailable
from sandboxes.docker.channel import AttachChannel
from sandboxes.docker.faults import ContainerGone, typed
from sandboxes.docker.profile import Resources

_REQUEST_S = 60.0
_CONTROLLERS = (
    "enable the kernel's controllers (cgroup_enable=memory swapaccount=1), or delegate them"
)
_REMAPPED = ("name=userns", "name=rootless")
_ATTACH = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}


@dataclass(frozen=True, slots=True)
class About:
    """What an engine is.

    Attributes:
        version: its own.
        runtimes: the OCI runtimes that it knows.
        cgroup_version: "1" or "2".
        remaps_users: ids in a container stand for others, of which there are few.
    """

    version: str
    runtimes: frozenset[str]
    cgroup_version: str
    remaps_users: bool


@dataclass(frozen=True, slots=True)
class Image:
    """An image. `id` is the digest of its configuration, by which it is used."""

    id: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Death:
    """How a container ended.

    Attributes:
        exit: status of its PID 1.
        out_of_memory: the kernel killed something in it for memory.
        asked_for: the engine was asked to kill it.
    """

    exit: int
    out_of_memory: bool
    asked_for: bool


class Engine:
    """One engine.

    Args:
        url: where it listens; None for what `DOCKER_HOST` and its like say, or the default.
        request_s: longest silence of the engine before a request is given up.
    """

    def __init__(self, url: str | None = None, *, request_s: float = _REQUEST_S) -> None:
        self._url = url
        self._request_s = request_s
        self._clients = threading.local()

    def about(self) -> About:
        """What it is. Raises SandboxUnavailable: it can't be reached."""
        with typed("asking the engine what it is"):
            told = self._client().info()
            return About(
                version=told["ServerVersion"],
                runtimes=frozenset(told["Runtimes"]),
                cgroup_version=told.get("CgroupVersion", "1"),
                remaps_users=any(o in _REMAPPED for o in told.get("SecurityOptions") or ()),
            )

    def image(self, name: str) -> Image:
        """Raises SandboxUnavailable: there is none of that name."""
        with typed(f"looking for the image {name}"):
            told = self._client().inspect_image(name)
            return Image(told["Id"], told["Config"].get("Labels") or {})

    def create(self, name: str, body: Mapping[str, Any]) -> None:
        """Makes a container of that name.

        Raises:
            LimitUnsupported: the engine would leave a limit out.
            SandboxError: it can't.
        """
        with typed("making a container"):
            told = self._client().create_container_from_config(body, name)
        for warning in told.get("Warnings") or ():
            if "not support" in warning or "discarded" in warning.lower():
                raise LimitUnsupported(f"making a container: {warning}", remedy=_CONTROLLERS)

    def attach(self, name: str) -> AttachChannel:
        """The container's streams; before it is started, so that nothing is missed."""
        with typed("attaching to a container"):
            return AttachChannel(self._client().attach_socket(name, dict(_ATTACH)))

    def start(self, name: str) -> None:
        """Starts a container. Raises SandboxError."""
        with typed("starting a container"):
            self._client().start(name)

    def update(self, name: str, resources: Resources) -> None:
        """Changes what a container may use. Raises SandboxError."""
        with typed("changing a container's limits"):
            client = self._client()
            url = f"{client.base_url}/v{client.api_version}/containers/{name}/update"
            client.post(url, json=resources.body(), timeout=self._request_s).raise_for_status()

    def death(self, name: str, patience_s: float) -> Death:
        """How a container ended, told from the engine's events: it may be gone already.

        Raises:
            SandboxBroken: it has not ended in time.
            SandboxUnavailable: the engine can't be reached.
        """
        client = self._client()
        events = {"container": [name], "event": ["oom", "kill", "die"]}
        seen = set()
        with typed("looking at a container's end"):
            url = f"{client.base_url}/v{client.api_version}/events"
            asked = {"since": "1", "filters": json.dumps(events)}
            with client.get(url, params=asked, stream=True, timeout=patience_s) as response:
                for line in response.iter_lines(chunk_size=1):
                    event = json.loads(line)
                    seen.add(event["Action"])
                    if event["Action"] == "die":
                        exit_status = int(event["Actor"]["Attributes"]["exitCode"])
                        return Death(exit_status, "oom" in seen, "kill" in seen)
        raise SandboxBroken("the engine does not say how a container ended")

    def is_running(self, name: str) -> bool:
        """Whether a container is. Raises SandboxError."""
        with typed("looking at a container"):
            return bool(self._client().inspect_container(name)["State"]["Running"])

    def remove(self, name: str) -> None:
        """Kills and removes a container, if it is there. Raises SandboxError."""
        try:
            with typed("removing a container"):
                self._client().remove_container(name, force=True, v=True)
        except ContainerGone:
            return

    def containers(self, label: str) -> dict[str, Mapping[str, str]]:
        """The labels of all containers that have `label`, dead ones too, by name.

        But for entries without a name: an engine that was killed in the middle lists containers
        that it has lost, and denies that there are any when it is asked to remove them.
        """
        with typed("listing containers"):
            told = self._client().containers(all=True, filters={"label": label})
            named = [entry for entry in told if entry["Names"]]
            return {entry["Names"][0].lstrip("/"): entry["Labels"] for entry in named}

    def _client(self) -> Any:
        client = getattr(self._clients, "client", None)
        if client is None:
            with typed("connecting to the engine"):
                client = self._clients.client = _connect(self._url, self._request_s)
        return client


def _connect(url: str | None, request_s: float) -> Any:
    import docker.utils
    from docker import APIClient

    options = {"base_url": url} if url else docker.utils.kwargs_from_env()
    client = APIClient(version="auto", timeout=request_s, **options)
    # The SDK keeps a connection for each URL, and hardly any of ours comes twice.
    client.headers["Connection"] = "close"
    client.close()  # the one over which it asked for the version
    return client


def require_sdk() -> None:
    """Raises SandboxUnavailable: the SDK is not installed."""
    try:
        import docker  # noqa: F401
    except ImportError as error:
        raise SandboxUnavailable(
            "the docker SDK is not installed", remedy="pip install 'answerkey[docker]'"
        ) from error


__all__ = ["About", "Death", "Engine", "Image", "require_sdk"]
