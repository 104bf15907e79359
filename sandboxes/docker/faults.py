"""What the engine's failures mean to a caller, and what to do about each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from sandboxes.base import LimitUnsupported, SandboxBroken, SandboxError, SandboxUnavailable

_START = "start the engine (`systemctl start docker`) or set DOCKER_HOST to where it listens"
_REACH = "add this user to the group `docker`, or run as root"
_AGAIN = "it is found again by itself once it answers"
_HANGS = "see whether it is overloaded or hangs (`docker info`); restart it if so"
_ROOM = "free space where the engine keeps its data (`docker system df`, `docker system prune`)"
_RUNTIME = "install it and name it in `runtimes` of /etc/docker/daemon.json, then reload the engine"
_CRUN_HYBRID = (
    "crun needs every controller in cgroup version 1 or every one in 2: "
    "mkdir -p /sys/fs/cgroup/hugetlb; mount -t cgroup -o hugetlb hugetlb /sys/fs/cgroup/hugetlb"
)
_UNREACHABLE = (
    ("no such file", _START),
    ("connection refused", _START),
    ("permission denied", _REACH),
    ("remote end closed", _AGAIN),
    ("connection reset", _AGAIN),
    ("broken pipe", _AGAIN),
)
# Words of the engine's error message: type of the failure, remedy.
_SAID: tuple[tuple[str, type[SandboxError], str], ...] = (
    ("no space left", SandboxUnavailable, _ROOM),
    ("unknown runtime", SandboxUnavailable, _RUNTIME),
    ("unknown or invalid runtime", SandboxUnavailable, _RUNTIME),
    ("executable file not found", SandboxUnavailable, "rebuild the image"),
    ("cgroups in hybrid mode", SandboxUnavailable, _CRUN_HYBRID),
    ("does not support", LimitUnsupported, "ask for less, or use the runtime runc"),
    ("your kernel does not support", LimitUnsupported, "enable the controller"),
)


class ImageMissing(SandboxUnavailable):
    """The engine has no such image."""


class ContainerGone(SandboxBroken):
    """There is no such container any more, or it is being removed."""


@contextlib.contextmanager
def typed(doing: str) -> Iterator[None]:
    """Turns what the SDK raises into a `SandboxError` that says what was being done.

    Raises:
        ImageMissing: it has no such image.
        SandboxUnavailable: the engine can't be reached, or can't do this at all.
        LimitUnsupported: it can't enforce what was asked.
        ContainerGone: there is no such container.
        SandboxBroken: it failed otherwise.
    """
    import docker.errors
    import requests.exceptions

    try:
        try:
            yield
        except requests.exceptions.HTTPError as error:
            if isinstance(error, docker.errors.APIError):
                raise
            docker.errors.create_api_error_from_http_exception(error)
    except docker.errors.ImageNotFound as error:
        build = "verifier-server sandbox build"
        raise ImageMissing(f"{doing}: there is no such image", remedy=build) from error
    except docker.errors.NotFound as error:
        raise ContainerGone(f"{doing}: {error.explanation}") from error
    except docker.errors.APIError as error:
        if "is already in progress" in str(error.explanation):
            raise ContainerGone(f"{doing}: {error.explanation}") from error
        raise _explained(doing, str(error.explanation or error)) from error
    except (docker.errors.DockerException, requests.exceptions.RequestException, OSError) as error:
        raise _unreachable(doing, str(error)) from error


def _explained(doing: str, said: str) -> SandboxError:
    for words, kind, remedy in _SAID:
        if words in said.lower():
            return kind(f"{doing}: {said}", remedy=remedy)
    return SandboxBroken(f"{doing}: {said}")


def _unreachable(doing: str, said: str) -> SandboxError:
    if "timed out" in said:
        return SandboxBroken(f"{doing}: the engine did not answer in time", remedy=_HANGS)
    remedy = next((how for words, how in _UNREACHABLE if words in said.lower()), _START)
    return SandboxUnavailable(f"{doing}: the engine can't be reached: {said}", remedy=remedy)


__all__ = ["ContainerGone", "ImageMissing", "typed"]
