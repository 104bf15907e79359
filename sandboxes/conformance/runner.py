"""Runs attacks on a provider and says of each whether the box held."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from sandboxes.base import (
    ExecResult,
    ExitReason,
    Sandbox,
    SandboxError,
    SandboxProvider,
    SandboxSpec,
)
from sandboxes.conformance.attack import Attack, whole_source
from sandboxes.conformance.bait import lay_bait
from sandboxes.conformance.suite import ATTACKS

_SHOWN_BYTES = 300
_READ_BYTES = 1 << 20
# What a box may need beyond a program's time limit, on a busy host. It is not held up for ever.
_PATIENCE_S = 30.0


class Outcome(StrEnum):
    """What came of an attack."""

    HELD = "held"
    BROKEN = "broken"
    KNOWN_GAP = "known gap"


@dataclass(frozen=True, slots=True)
class Result:
    """One attack and what came of it. `detail` says what was seen, or why a gap is known."""

    name: str
    group: str
    outcome: Outcome
    detail: str

    @property
    def ok(self) -> bool:
        """Held, or a gap that the provider owns up to."""
        return self.outcome is not Outcome.BROKEN


@runtime_checkable
class DeclaresGaps(Protocol):
    """A provider that says what it does not hold.

    Attributes:
        known_gaps: why, by the attack's name.
    """

    @property
    def known_gaps(self) -> Mapping[str, str]:
        """Why each of these attacks is not held on this host."""


def run_conformance(
    provider: SandboxProvider, attacks: Iterable[Attack] = ATTACKS, *, preload: Sequence[str] = ()
) -> Iterator[Result]:
    """Runs attacks one after another, as the results are asked for, each in a box of its own.

    Args:
        provider: may declare `known_gaps`, see `DeclaresGaps`. A gap excuses what an attack
            achieves, never a box that fails.
        attacks: which.
        preload: modules for a warm interpreter, see `SandboxSpec`; empty for a cold one.
    """
    gaps = provider.known_gaps if isinstance(provider, DeclaresGaps) else {}
    with lay_bait() as host:
        for attack in attacks:
            yield _result(provider, attack, host, tuple(preload), gaps.get(attack.name))


def _result(
    provider: SandboxProvider,
    attack: Attack,
    host: Mapping[str, object],
    preload: tuple[str, ...],
    gap: str | None,
) -> Result:
    try:
        achieved = _achieved(provider, attack, host, preload)
    except SandboxError as error:
        failed = f"the box itself failed: {error}"
        return Result(attack.name, attack.group, Outcome.BROKEN, failed)
    if achieved:
        outcome = Outcome.BROKEN if gap is None else Outcome.KNOWN_GAP
        detail = "; ".join(achieved) if gap is None else f"{gap} ({'; '.join(achieved)})"
        return Result(attack.name, attack.group, outcome, detail)
    detail = "" if gap is None else f"declared as a gap ({gap}), but held here"
    return Result(attack.name, attack.group, Outcome.HELD, detail)


def _achieved(
    provider: SandboxProvider, attack: Attack, host: Mapping[str, object], preload: tuple[str, ...]
) -> list[str]:
    """What went wrong; nothing where the box held.

    Raises:
        SandboxError: the box failed.
    """
    spec = SandboxSpec(attack.limits, preload=preload)
    if attack.before is not None:
        with provider.create(spec) as earlier:
            _run_before(earlier, attack.before)
    with ThreadPoolExecutor(2) as pool:
        boxes = [
            pool.submit(_try_box, provider, spec, attack, host)
            for _ in range(2 if attack.at_once else 1)
        ]
        return [fault for box in boxes for fault in box.result()]


def _try_box(
    provider: SandboxProvider, spec: SandboxSpec, attack: Attack, host: Mapping[str, object]
) -> list[str]:
    with provider.create(spec) as box:
        if attack.before is not None:
            _run_before(box, attack.before)
        box.write({**attack.files, "attack.py": attack.source.encode()})
        line = json.dumps(host).encode() + b"\n"
        stdin = line if attack.stdin is None else attack.stdin
        started = time.monotonic()
        result = box.exec(["python3", "attack.py"], stdin=stdin)
        took_s = time.monotonic() - started
        return [*_faults(attack, result, took_s), *_readable(attack, box)]


def _run_before(box: Sandbox, program: str) -> None:
    secret = f"left-over-secret-{secrets.randbelow(10**16):016}"
    box.write({"before.py": whole_source(program).encode()})
    box.exec(["python3", "before.py"], stdin=json.dumps({"secret": secret}).encode() + b"\n")


def _faults(attack: Attack, result: ExecResult, took_s: float) -> Iterator[str]:
    wrote = (result.stdout + result.stderr)[-_SHOWN_BYTES:].decode(errors="replace").strip()
    if result.reason not in attack.reasons:
        yield f"ended by {result.reason} ({result.exit}, {result.signal}): {wrote}"
    elif result.reason is ExitReason.EXITED and attack.exit not in (None, result.exit):
        yield f"exit status {result.exit}: {wrote}"
    elif result.reason is ExitReason.SIGNALLED and attack.signal not in (None, result.signal):
        yield f"signal {result.signal}"
    elif result.reason is ExitReason.EXITED and attack.stdout not in (None, result.stdout):
        yield wrote or "wrote nothing"
    if took_s > (attack.within_s or attack.limits.time_s + _PATIENCE_S):
        yield f"held its judge up for {took_s:.0f} s"


def _readable(attack: Attack, box: Sandbox) -> Iterator[str]:
    for path in attack.unreadable:
        try:
            content = box.read(path, _READ_BYTES)
        except (FileNotFoundError, ValueError):
            continue
        yield f"{path} could be read from outside: {content[:_SHOWN_BYTES]!r}"


__all__ = ["DeclaresGaps", "Outcome", "Result", "run_conformance"]
