"""One verdict as it is recorded, and the chain of hashes that holds the record together.

The hash of an entry covers all of its fields and the hash of the entry before it: what is
changed, taken out or put in later breaks the chain from there on.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from verifier_server.schemas import Item
from verifier_server.verdict import Verdict

_NAME_CHARS = 200
# What the first entry of all has for the one before it.
NO_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class Entry:
    """A verdict and the item that it is of; None for what was no item.

    Attributes:
        id: unique, so that a write which is repeated records nothing twice.
        at: when the verdict was given, UTC.
        client: the name of the API key that asked; empty without keys.
    """

    item: Item | None
    verdict: Verdict
    client: str = ""
    id: str = field(default_factory=lambda: uuid4().hex)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def size(self) -> int:
        """About its length, in characters."""
        return len(self.item.completion_text) if self.item else 0

    def to_row(self, *, keeps_completion: bool) -> dict[str, Any]:
        """The columns, but for those of the chain.

        Without `keeps_completion` of completion and prompt only the hash is kept: such an
        entry proves what was judged to who has the text, and can't be judged again.
        """
        completion = self.item.completion_text if self.item else ""
        item = self.item.model_dump(mode="json", exclude_defaults=True) if self.item else {}
        if not keeps_completion:
            item = {name: item[name] for name in item.keys() - {"completion", "prompt"}}
        verdict = self.verdict
        return {
            "id": self.id,
            "at": self.at.isoformat(timespec="microseconds"),
            "client": self.client,
            "request_hash": verdict.request_hash,
            "completion_sha256": _sha256(completion.encode("utf-8", "surrogatepass")),
            "checker": _plain(verdict.checker),
            "version": verdict.version,
            "outcome": verdict.outcome.value,
            "score": verdict.score,
            "item": _json(item),
            "verdict": _json(verdict.model_dump(mode="json", exclude_defaults=True)),
        }


def chained(row: dict[str, Any], number: int, previous: str) -> dict[str, Any]:
    """The row with its place in the chain, after the entry with the hash `previous`."""
    return {"number": number, **row, "hash": chain_hash(row, number, previous)}


def chain_hash(row: dict[str, Any], number: int, previous: str) -> str:
    """The hash of a row without those of the chain: 64 hex digits of SHA-256."""
    return _sha256(_json([previous, number, *(row[name] for name in COLUMNS)]).encode())


COLUMNS = (
    *("id", "at", "client", "request_hash", "completion_sha256", "checker", "version"),
    *("outcome", "score", "item", "verdict"),
)


def _plain(name: str) -> str:
    """A name as a column of text holds it; the verdict beside it has it whole."""
    ascii_only = name.encode("ascii", "backslashreplace").decode().replace("\x00", "\\x00")
    return ascii_only[:_NAME_CHARS]


def _json(value: Any) -> str:
    """In ASCII: texts may hold lone surrogates and zero bytes, which no database keeps."""
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


__all__ = ["COLUMNS", "NO_HASH", "Entry", "chain_hash", "chained"]
