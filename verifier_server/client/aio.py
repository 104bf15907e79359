"""The asynchronous client: the only module that talks HTTP with the service."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from verifier_server.client.connection import DEFAULT_URL, Connection
from verifier_server.client.errors import ProtocolError, VerifierUnreachable
from verifier_server.client.exchange import Exchange, refusal
from verifier_server.client.retry import Backoff
from verifier_server.client.wire import NDJSON, decode_json
from verifier_server.schemas import CheckerInfo, Item, Text
from verifier_server.verdict import Verdict

_HEADERS = {"Content-Type": "application/json", "Accept": NDJSON}
_QUESTION_TIMEOUT_S = 30.0  # of the routes that only tell
_POLL_S = 0.1

T = TypeVar("T")
# What workers hand over: verdicts, and each worker's task itself when it has ended.
_Results = asyncio.Queue[Verdict | asyncio.Task[None]]
AnyItem = Item | Mapping[str, Any]


class AsyncVerifierClient:
    """Scores completions on a verifier service, from asyncio code.

    Use it as `async with AsyncVerifierClient(url) as client:` or call `close`. One client
    serves any number of tasks of one event loop.

    Args:
        url: the service's root.
        api_key: sent as a bearer token.
        timeout_s: the longest wait for a next verdict before the connection counts as dead.
        max_connections: requests under way at once, over all calls.
        retries: tries after the first, with exponential backoff and jitter.
        batch_size: most items in one request.
        transport: instead of the network (an ASGI app, a test double).
        sleep: waits between tries.

    Raises:
        ClientError: an argument can't be used.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        api_key: str | None = None,
        timeout_s: float = 300.0,
        max_connections: int = 8,
        retries: int = 4,
        batch_size: int = 256,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        backoff = Backoff(retries)
        self.connection = Connection(
            url, api_key, timeout_s, max_connections, backoff, batch_size, transport
        )
        self._sleep = sleep
        self._slots = asyncio.Semaphore(max_connections)
        self._http = self.connection.open()

    @property
    def url(self) -> str:
        """The service's root."""
        return self.connection.url

    async def score(self, items: Iterable[AnyItem]) -> list[Verdict]:
        """Judges all items; verdicts in their order, `index` their place in it.

        An item without a score after all tries has `score` None and says whose fault it is;
        it never raises and never counts as 0.

        Args:
            items: any number of `Item` or of equivalent dicts.

        Raises:
            VerifierUnreachable: no connection could be made.
            ClientError: the service refuses the request (a wrong key, a wrong address).
        """
        verdicts = [verdict async for verdict in self.score_stream(items)]
        return sorted(verdicts, key=lambda verdict: verdict.index)

    async def score_one(
        self,
        checker: str,
        completion: Text,
        params: Mapping[str, Any] | None = None,
        *,
        prompt: Text | None = None,
        deadline_s: float | None = None,
    ) -> Verdict:
        """Judges one completion; the arguments are `Item`'s fields. Raises as `score`."""
        return (await self.score([one_item(checker, completion, params, prompt, deadline_s)]))[0]

    async def score_stream(self, items: Iterable[AnyItem]) -> AsyncGenerator[Verdict]:
        """Judges all items and yields each verdict as it falls due. Raises as `score`."""
        exchanges = self.connection.call(list(items)).exchanges()
        results: _Results = asyncio.Queue()
        workers = [
            asyncio.create_task(self._work(exchanges, results))
            for _ in range(self.connection.max_connections)
        ]
        for worker in workers:
            worker.add_done_callback(results.put_nowait)
        try:
            working = len(workers)
            while working:
                result = await results.get()
                if isinstance(result, Verdict):
                    yield result
                else:
                    result.result()
                    working -= 1
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def ready(self) -> bool:
        """Whether the service answers and is ready to judge."""
        try:
            response = await self._http.get("/readyz", timeout=_QUESTION_TIMEOUT_S)
        except httpx.TransportError:
            return False
        return response.status_code == 200

    async def wait_ready(self, timeout_s: float) -> None:
        """Returns once the service is ready.

        Raises:
            VerifierUnreachable: it is not within `timeout_s`.
        """
        try:
            async with asyncio.timeout(timeout_s):
                while not await self.ready():  # noqa: ASYNC110 (no event spans processes)
                    await asyncio.sleep(_POLL_S)
        except TimeoutError as error:
            raise VerifierUnreachable(self.url, f"not ready within {timeout_s:g} s") from error

    async def checkers(self) -> list[CheckerInfo]:
        """All checkers of the service, broken and unavailable ones included."""
        answer = await self._get("/checkers")
        listed = answer.get("checkers") if isinstance(answer, dict) else answer
        return _parse(list[CheckerInfo], listed)

    async def checker(self, name: str) -> CheckerInfo:
        """One checker. Raises ClientError with status 404 if there is none of that name."""
        return _parse(CheckerInfo, await self._get(f"/checkers/{name}"))

    async def version(self) -> dict[str, Any]:
        """What the service says of its version."""
        return _parse(dict[str, Any], await self._get("/version"))

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _work(self, exchanges: Iterator[Exchange], results: _Results) -> None:
        for exchange in exchanges:
            for verdict in exchange.rejected:
                results.put_nowait(verdict)
            while exchange.pending:
                async with self._slots:
                    async for verdict in self._attempt(exchange):
                        results.put_nowait(verdict)
                for verdict in exchange.settle():
                    results.put_nowait(verdict)
                if exchange.pending:
                    await self._sleep(exchange.pause_s())

    async def _attempt(self, exchange: Exchange) -> AsyncIterator[Verdict]:
        body = exchange.body()
        try:
            async with self._http.stream(
                "POST", "/score", content=body, headers=_HEADERS
            ) as response:
                if not exchange.answer(response.status_code, response.headers):
                    exchange.refuse(response.status_code, await response.aread())
                    return
                async for chunk in response.aiter_bytes():
                    for verdict in exchange.feed(chunk):
                        yield verdict
                for verdict in exchange.end():
                    yield verdict
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            exchange.break_off(_reason(error), unreachable=True)
        except httpx.RequestError as error:
            exchange.break_off(f"the connection failed: {_reason(error)}")
        except ProtocolError as error:
            exchange.break_off(str(error))

    async def _get(self, path: str) -> Any:
        try:
            response = await self._http.get(path, timeout=_QUESTION_TIMEOUT_S)
        except httpx.RequestError as error:
            raise VerifierUnreachable(self.url, _reason(error)) from error
        if response.status_code != 200:
            raise refusal(response.status_code, response.content)
        return decode_json(response.content)


def one_item(
    checker: str,
    completion: Text,
    params: Mapping[str, Any] | None,
    prompt: Text | None,
    deadline_s: float | None,
) -> dict[str, Any]:
    """An item as a dict, so that what can't be sent becomes a verdict like any other."""
    return {
        "checker": checker,
        "completion": completion,
        "params": params or {},
        "prompt": prompt,
        "deadline_s": deadline_s,
    }


def _parse(kind: type[T], value: Any) -> T:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise ProtocolError(f"an unexpected answer: {error}") from error


def _reason(error: httpx.RequestError) -> str:
    return str(error) or type(error).__name__
