"""What every sandbox provider must withstand, as data, and the runner.

    for finding in run_conformance(open_provider("bubblewrap")):
        print("held" if finding.ok else "BROKEN", finding.what, finding.detail)

Each attack is a program that the provider runs in a box under small limits; what must come
of it (why it ended, its status, what it wrote, what may be read of what it left) is part of
the attack. Some are honest programs, which must work.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sandboxes.base import (
    ExecResult,
    ExitReason,
    Finding,
    Sandbox,
    SandboxError,
    SandboxProvider,
    SandboxSpec,
)
from sandboxes.conformance.attack import Attack
from sandboxes.conformance.honest import HONEST_PROGRAMS
from sandboxes.conformance.kernel import KERNEL_ATTACKS
from sandboxes.conformance.lifecycle import LIFECYCLE_ATTACKS
from sandboxes.conformance.network import NETWORK_ATTACKS
from sandboxes.conformance.resources import RESOURCE_ATTACKS
from sandboxes.conformance.view import VIEW_ATTACKS

ATTACKS: tuple[Attack, ...] = (
    *RESOURCE_ATTACKS,
    *LIFECYCLE_ATTACKS,
    *NETWORK_ATTACKS,
    *KERNEL_ATTACKS,
    *VIEW_ATTACKS,
    *HONEST_PROGRAMS,
)

# Variables that a box may well have of its own.
_USUAL_VARIABLES = {
    "PATH",
    "HOME",
    "LANG",
    "USER",
    "LOGNAME",
    "PWD",
    "TMPDIR",
    "TERM",
    "HOSTNAME",
    "PYTHONDONTWRITEBYTECODE",
}
_SHOWN_BYTES = 300
_READ_BYTES = 1 << 20


def run_conformance(
    provider: SandboxProvider, attacks: Iterable[Attack] = ATTACKS
) -> list[Finding]:
    """Runs attacks one after another, each in a box of its own; ok means that the box held."""
    with _bait() as host:
        return [_finding(provider, attack, host) for attack in attacks]


@contextmanager
def _bait() -> Iterator[Mapping[str, object]]:
    """What attacks look for on the host: an open port, a secret file, variables, a pid."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        tempfile.NamedTemporaryFile(prefix="secret-") as secret,
    ):
        secret.write(b"secret")
        secret.flush()
        here = Path(__file__).resolve()
        yield {
            "port": server.getsockname()[1],
            "secrets": [secret.name, str(here), str(Path.home() / ".ssh")],
            "environment": sorted({*os.environ} - _USUAL_VARIABLES),
            "pid": os.getpid(),
            "name": platform.node(),
        }


def _finding(provider: SandboxProvider, attack: Attack, host: Mapping[str, object]) -> Finding:
    try:
        with provider.create(SandboxSpec(attack.limits)) as box:
            box.write({**attack.files, "attack.py": attack.source.encode()})
            if attack.before is not None:
                box.write({"before.py": Attack("", attack.before).source.encode()})
                box.exec(["python3", "before.py"])
            line = json.dumps(host).encode() + b"\n"
            stdin = line if attack.stdin is None else attack.stdin
            result = box.exec(["python3", "attack.py"], stdin=stdin)
            faults = [*_faults(attack, result), *_readable(attack, box)]
    except SandboxError as error:
        return Finding(attack.name, False, f"the box itself failed: {error}", error.remedy)
    detail = "; ".join(faults) if faults else result.reason.value
    return Finding(attack.name, not faults, detail)


def _faults(attack: Attack, result: ExecResult) -> Iterator[str]:
    wrote = (result.stdout + result.stderr)[-_SHOWN_BYTES:].decode(errors="replace").strip()
    if result.reason not in attack.reasons:
        yield f"ended by {result.reason} ({result.exit}, {result.signal}): {wrote}"
    elif attack.exit is not None and result.exit != attack.exit:
        yield f"exit status {result.exit}: {wrote}"
    elif attack.signal is not None and result.signal != attack.signal:
        yield f"signal {result.signal}"
    elif result.reason is ExitReason.EXITED and result.stdout != attack.stdout:
        yield wrote or "wrote nothing"


def _readable(attack: Attack, box: Sandbox) -> Iterator[str]:
    for path in attack.unreadable:
        try:
            content = box.read(path, _READ_BYTES)
        except (FileNotFoundError, ValueError):
            continue
        yield f"{path} could be read from outside: {content[:_SHOWN_BYTES]!r}"


__all__ = ["ATTACKS", "Attack", "run_conformance"]
