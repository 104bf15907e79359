"""Items to bytes, bytes to verdicts, and distrust of both. Pure, no I/O.

The standard library's `json` writes and reads here: completions may hold lone surrogates,
which faster parsers refuse, and a refusal that a candidate can cause would be a null score.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from verifier_server.client.errors import ProtocolError
from verifier_server.schemas import Item
from verifier_server.verdict import Judgement, Outcome, Verdict

NDJSON = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Entry:
    """An item ready to be sent.

    Attributes:
        index: its place in the caller's list.
        id, checker: repeated in a verdict that the client must write itself.
        json: the item on the wire.
        deadline_s: the item's own, in seconds.
    """

    index: int
    id: str | None
    checker: str
    json: bytes
    deadline_s: float | None

    def verdict(self, outcome: Outcome, explanation: str, score: float | None = None) -> Verdict:
        """A verdict by the client, for want of one from the service."""
        return Verdict(
            id=self.id,
            index=self.index,
            checker=self.checker,
            outcome=outcome,
            fault=outcome.fault,
            score=score,
            explanation=explanation,
        )


def encode(index: int, item: Item | Mapping[str, Any]) -> Entry | Verdict:
    """The item as an `Entry`, or a `bad_reference` verdict if it can't be put on the wire."""
    try:
        checked = item if isinstance(item, Item) else Item.model_validate(dict(item))
        fields = checked.model_dump(exclude_unset=True)
        return Entry(
            index=index,
            id=checked.id,
            checker=checked.checker,
            json=json.dumps(fields, allow_nan=False).encode(),
            deadline_s=checked.deadline_s,
        )
    except (ValidationError, ValueError, TypeError, RecursionError) as error:
        given = dict(item)
        item_id = given["id"] if isinstance(given.get("id"), str) else None
        entry = Entry(index, item_id, str(given.get("checker", "")), b"", None)
        return entry.verdict(Outcome.BAD_REFERENCE, f"the item can't be sent: {_first_line(error)}")


def too_large(entry: Entry) -> Verdict:
    """The verdict of an item that the service finds too large even alone.

    Null only if the task made it so: a policy that writes megabytes must not thereby get
    out of the baseline.
    """
    size = f"the item is {len(entry.json)} bytes, more than the service accepts"
    completion = json.dumps(json.loads(entry.json)["completion"])
    if len(completion) * 2 >= len(entry.json):
        return entry.verdict(Outcome.POLICY_VIOLATION, f"{size}, most of it completion", 0.0)
    return entry.verdict(Outcome.BAD_REFERENCE, f"{size}, most of it params and prompt")


def decode_verdict(raw: Mapping[str, Any]) -> Verdict:
    """A verdict off the wire whose outcome, fault and score agree.

    Raises:
        ProtocolError: it is no verdict, its score is not finite, or they disagree.
    """
    try:
        verdict = Verdict.model_validate(raw)
        Judgement(verdict.outcome, verdict.score)
    except ValueError as error:
        raise ProtocolError(f"malformed verdict: {_first_line(error)}") from error
    if verdict.fault is not verdict.outcome.fault:
        raise ProtocolError(
            f"malformed verdict: {verdict.outcome.value} with fault {verdict.fault.value}"
        )
    return verdict


def decode_json(data: bytes) -> Any:
    """The JSON value in an answer.

    Raises:
        ProtocolError: there is none.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the answer is not JSON: {data[:80]!r}") from error


class LineDecoder:
    """Raw verdicts out of an NDJSON answer, as its lines are complete."""

    def __init__(self) -> None:
        self._tail = b""

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """The verdicts that end in this chunk.

        Raises:
            ProtocolError: a line is no JSON object.
        """
        *lines, self._tail = (self._tail + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                yield _object(decode_json(line))

    def end(self) -> Iterator[dict[str, Any]]:
        """The verdict in a last line without its newline."""
        return self.feed(b"\n")


class BodyDecoder:
    """Raw verdicts out of a `{"verdicts": […]}` answer, all at its end."""

    def __init__(self, items: int) -> None:
        self._items = items
        self._body = bytearray()

    def feed(self, chunk: bytes) -> Iterable[dict[str, Any]]:
        """Keeps the chunk; no verdict is certain before the end."""
        self._body += chunk
        return ()

    def end(self) -> Iterable[dict[str, Any]]:
        """All verdicts.

        Raises:
            ProtocolError: not one verdict an item, in order. Then none of them is used,
                for it can't be told which belongs to which.
        """
        raws = _object(decode_json(bytes(self._body))).get("verdicts")
        if not isinstance(raws, list):
            raise ProtocolError("the answer has no list of verdicts")
        verdicts = [_object(raw) for raw in raws]
        if [raw.get("index") for raw in verdicts] != list(range(self._items)):
            raise ProtocolError(f"the verdicts do not match the {self._items} items one to one")
        return verdicts


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ProtocolError(f"expected a JSON object, got {type(value).__name__}")
    return value


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error).partition("\n")[0]
