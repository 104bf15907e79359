"""What to send, what to make of the answers, what to ask again. Pure: no I/O, no sleeping.

A `Call` cuts the caller's items into batches; an `Exchange` is one batch's talk with the
service until each of its items has a final verdict. Clients drive it:

    while exchange.pending:
        send exchange.body(); feed() it the answer, or refuse() / break_off() it
        for the verdicts that settle() returns: final
        sleep exchange.pause_s()

The rules, in one place:
  - a connection that fails, a 429, a 5xx, an answer that breaks the contract and a verdict
    with fault `service` are tried again, each time only the items still without a verdict;
  - what is left after the last try becomes a verdict with score None, never a 0;
  - a batch that is too large is halved; an item too large by itself is judged by `too_large`;
  - other 4xx are the caller's mistake and raise ClientError.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from verifier_server.client.errors import ClientError, ProtocolError, VerifierUnreachable
from verifier_server.client.retry import Backoff, retry_after_s
from verifier_server.client.wire import (
    NDJSON,
    BodyDecoder,
    Entry,
    LineDecoder,
    decode_json,
    decode_verdict,
    encode,
    too_large,
)
from verifier_server.schemas import Item
from verifier_server.verdict import Fault, Outcome, Verdict

BATCH_BYTES = 8 << 20
Clock = Callable[[], float]


class Call:
    """One call of the SDK over any number of items; its exchanges may run side by side."""

    def __init__(
        self,
        items: Sequence[Item | Mapping[str, Any]],
        *,
        url: str,
        backoff: Backoff,
        batch_size: int,
        clock: Clock = time.monotonic,
    ) -> None:
        self.url = url
        self.backoff = backoff
        self.clock = clock
        self.started_s = clock()
        self.reached = False
        self._items = items
        self._batch_size = batch_size

    def exchanges(self) -> Iterator[Exchange]:
        """The batches, in order; each at most `batch_size` items and `BATCH_BYTES`."""
        batch: list[Entry] = []
        rejected: list[Verdict] = []
        size = 0
        for index, item in enumerate(self._items):
            entry = encode(index, item)
            if isinstance(entry, Verdict):
                rejected.append(entry)
                continue
            if batch and (len(batch) == self._batch_size or size + len(entry.json) > BATCH_BYTES):
                yield Exchange(self, batch, rejected)
                batch, rejected, size = [], [], 0
            batch.append(entry)
            size += len(entry.json)
        if batch or rejected:
            yield Exchange(self, batch, rejected)


class Exchange:
    """One batch's talk with the service.

    Attributes:
        rejected: verdicts of items that could not be put on the wire; final.
        pending: entries without a final verdict, by the caller's index.
    """

    def __init__(self, call: Call, batch: Sequence[Entry], rejected: Sequence[Verdict]) -> None:
        self.rejected = rejected
        self.pending = {entry.index: entry for entry in batch}
        self._call = call
        self._at_once = len(batch)
        self._retries_done = 0
        self._begin(())

    def _begin(self, sent: Sequence[Entry]) -> None:
        self._sent = sent
        self._answered: set[int] = set()
        self._faults: dict[int, Verdict] = {}
        self._decoder: LineDecoder | BodyDecoder = LineDecoder()
        self._failure: tuple[Outcome, str] | None = None
        self._unreachable = False
        self._asked_s: float | None = None
        self._halved = False

    def body(self) -> bytes:
        """The next request's body; begins an attempt."""
        self._begin(list(islice(self.pending.values(), self._at_once)))
        return b'{"items":[' + b",".join(entry.json for entry in self._sent) + b"]}"

    def answer(self, status: int, headers: Mapping[str, str]) -> bool:
        """Takes the answer's head; True if verdicts follow, to be given to `feed` and `end`.

        Raises:
            ProtocolError: a 200 in a format that is none of ours.
        """
        self._call.reached = True
        self._asked_s = retry_after_s(headers.get("retry-after"))
        if status != 200:
            return False
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/json":
            self._decoder = BodyDecoder(len(self._sent))
        elif kind != NDJSON:
            raise ProtocolError(f"the answer is {kind or 'of no content type'}, not verdicts")
        return True

    def feed(self, chunk: bytes) -> Iterator[Verdict]:
        """The final verdicts in a piece of the answer.

        Raises:
            ProtocolError: the answer breaks the contract; give it to `break_off`.
        """
        return self._take(self._decoder.feed(chunk))

    def end(self) -> Iterator[Verdict]:
        """The final verdicts that were complete only with the answer's end."""
        yield from self._take(self._decoder.end())
        if len(self._answered) < len(self._sent):
            have = f"{len(self._answered)} of {len(self._sent)}"
            raise ProtocolError(f"the answer ended after {have} verdicts")

    def refuse(self, status: int, body: bytes) -> None:
        """Takes an answer that is not 200.

        Raises:
            ClientError: 4xx that no repetition will make right.
        """
        if status == 413:
            self._halved = True
        elif status == 429 or status >= 500:
            overload = status in (429, 503)
            outcome = Outcome.OVERLOADED if overload else Outcome.CHECKER_ERROR
            self._failure = (outcome, f"the service answered {status}: {problem(body)}")
        else:
            raise refusal(status, body)

    def break_off(self, reason: str, *, unreachable: bool = False) -> None:
        """Takes a failure of the connection or of the answer's form."""
        self._failure = (Outcome.CHECKER_ERROR, reason)
        self._unreachable = unreachable

    def settle(self) -> list[Verdict]:
        """Ends the attempt: the verdicts of items that won't be asked again.

        Raises:
            VerifierUnreachable: the last try failed to connect, and so did all of the call.
        """
        unsettled = [entry for entry in self._sent if entry.index in self.pending]
        if self._halved:
            return self._halve(unsettled)
        if not unsettled:
            return []
        if self._retries_done < self._call.backoff.retries:
            self._retries_done += 1
            return [self._give_up(entry) for entry in unsettled if self._is_late(entry)]
        if self._unreachable and not self._call.reached:
            assert self._failure is not None
            raise VerifierUnreachable(self._call.url, self._failure[1])
        return [self._give_up(entry) for entry in unsettled]

    def pause_s(self) -> float:
        """Seconds to wait before the next attempt; 0 if the last one went well."""
        if self._halved or not any(entry.index in self.pending for entry in self._sent):
            return 0.0
        return self._call.backoff.pause_s(self._retries_done - 1, self._asked_s)

    def _take(self, raws: Iterable[Mapping[str, Any]]) -> Iterator[Verdict]:
        for raw in raws:
            place = raw.get("index")
            if type(place) is not int or not 0 <= place < len(self._sent):
                raise ProtocolError(f"a verdict for item {place!r} of {len(self._sent)}")
            if place in self._answered:
                raise ProtocolError(f"a second verdict for item {place}")
            self._answered.add(place)
            entry = self._sent[place]
            verdict = self._judge(entry, raw)
            if verdict.fault is Fault.SERVICE:
                self._faults[entry.index] = verdict
            else:
                del self.pending[entry.index]
                yield verdict

    def _judge(self, entry: Entry, raw: Mapping[str, Any]) -> Verdict:
        try:
            return decode_verdict({**raw, "index": entry.index})
        except ProtocolError as error:
            return entry.verdict(Outcome.CHECKER_ERROR, str(error))

    def _halve(self, unsettled: list[Entry]) -> list[Verdict]:
        if len(unsettled) > 1:
            self._at_once = len(unsettled) // 2
            return []
        del self.pending[unsettled[0].index]
        return [too_large(unsettled[0])]

    def _is_late(self, entry: Entry) -> bool:
        call = self._call
        return entry.deadline_s is not None and call.clock() - call.started_s >= entry.deadline_s

    def _give_up(self, entry: Entry) -> Verdict:
        del self.pending[entry.index]
        fault = self._faults.get(entry.index)
        if fault is not None:
            return fault
        assert self._failure is not None
        return entry.verdict(*self._failure)


def refusal(status: int, body: bytes) -> ClientError:
    """The error that an answer outside 2xx stands for."""
    remedy = {
        401: "give an api_key that the service knows; for the command, VERIFIER_API_KEY",
        404: "is this the verifier's address?",
    }.get(status, "")
    return ClientError(
        f"the verifier refused with {status}: {problem(body)}", remedy=remedy, status=status
    )


def problem(body: bytes) -> str:
    """What an error answer says, on one line: its problem details, else its first bytes."""
    try:
        details = decode_json(body)
    except ProtocolError:
        return repr(body[:200])
    if not isinstance(details, dict) or "detail" not in details:
        return repr(body[:200])
    errors = details.get("errors") or []
    return " ".join([str(details["detail"]), *(str(error) for error in errors[:3])])
