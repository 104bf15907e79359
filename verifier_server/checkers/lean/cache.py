"""Compiled statements kept on disk, for all workers of this user: siblings share theirs.

Only the service writes here, and only what it compiled from tasks. The directory must be
closed to others, since what lies in it is believed.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from verifier_server.checkers.lean.challenge import Challenge
from verifier_server.checkers.lean.export.compare import Expected
from verifier_server.checkers.lean.toolchain import Toolchain

log = logging.getLogger(__name__)

# Changes when the modules that `challenge` makes do.
_FORMAT = "3"
_MOST_FILES = 20_000


class ChallengeCache:
    """A directory of compiled statements.

    Args:
        folder: where; made, for this user alone, if it is not there.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def get(
        self, toolchain: Toolchain, task: Sequence[str], make: Callable[[], Challenge]
    ) -> Challenge:
        """The compiled statement of a task, made now if need be; one process makes it.

        Args:
            toolchain: compiles it.
            task: header, statement, and all else that the compiled statement depends on.
            make: compiles it; raises what it will, and then nothing is kept.
        """
        key = hashlib.sha256(json.dumps([_FORMAT, toolchain.identity, *task]).encode()).hexdigest()
        if not self._usable():
            return make()
        path = self._folder / f"{key}.json"
        if (found := _read(path)) is not None:
            return found
        with _locked(path.with_suffix(".lock")):
            if (found := _read(path)) is not None:
                return found
            challenge = make()
            _write(path, challenge)
        self._prune()
        return challenge

    def _usable(self) -> bool:
        """Whether the directory is ours alone."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            state = self._folder.stat()
        except OSError as error:
            log.warning("compiled statements are not kept: %s", error)
            return False
        if state.st_uid != os.geteuid() or state.st_mode & 0o022:
            log.warning("compiled statements are not kept: %s is open to others", self._folder)
            return False
        return True

    def _prune(self) -> None:
        """Removes the older half where there are too many."""
        files = list(self._folder.glob("*.json"))
        if len(files) <= _MOST_FILES:
            return
        with contextlib.suppress(FileNotFoundError):
            files.sort(key=lambda file: file.stat().st_mtime)
        for file in files[: len(files) // 2]:
            file.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Who opened it before waits no longer; two that make the same do no harm.
            path.unlink(missing_ok=True)


def _read(path: Path) -> Challenge | None:
    try:
        raw: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    modules = {name: base64.b64decode(content) for name, content in raw["modules"].items()}
    return Challenge(
        modules,
        base64.b64decode(raw["reserved"]),
        base64.b64decode(raw["statement_module"]),
        raw["asked"],
        tuple(raw["axioms"]),
        base64.b64decode(raw["stated"]),
        Expected(**raw["expected"]) if raw["expected"] else None,
    )


def _write(path: Path, challenge: Challenge) -> None:
    raw = {
        "modules": {n: base64.b64encode(c).decode() for n, c in challenge.modules.items()},
        "reserved": base64.b64encode(challenge.reserved).decode(),
        "statement_module": base64.b64encode(challenge.statement_module).decode(),
        "asked": challenge.asked,
        "axioms": challenge.axioms,
        "stated": base64.b64encode(challenge.stated).decode(),
        "expected": asdict(challenge.expected) if challenge.expected else None,
    }
    # Whole or not at all, whoever is killed meanwhile.
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(raw))
    part.replace(path)


__all__ = ["ChallengeCache"]
