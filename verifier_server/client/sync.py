"""The synchronous client: the asynchronous one on an event loop in a thread of its own.

So there is one implementation of everything, Ctrl-C interrupts a wait at once, and it also
works where an event loop is already running (notebooks).
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import weakref
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from verifier_server.client.aio import AnyItem, AsyncVerifierClient
from verifier_server.client.connection import DEFAULT_URL
from verifier_server.client.errors import ClientError
from verifier_server.schemas import CheckerInfo, Text
from verifier_server.verdict import Verdict

T = TypeVar("T")


class VerifierClient:
    """Scores completions on a verifier service, from ordinary code.

    Use it as `with VerifierClient(url) as client:` or call `close`. Threads may share one.
    A forked process must make its own.

    Args:
        url: the service's root.
        api_key: sent as a bearer token.
        timeout_s: the longest wait for a next verdict before the connection counts as dead.
        max_connections: requests under way at once, over all calls.
        retries: tries after the first, with exponential backoff and jitter.
        batch_size: most items in one request.
        transport: instead of the network (an ASGI app, a test double).

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
    ) -> None:
        self._client = AsyncVerifierClient(
            url,
            api_key=api_key,
            timeout_s=timeout_s,
            max_connections=max_connections,
            retries=retries,
            batch_size=batch_size,
            transport=transport,
        )
        self._loop = _LoopThread()
        self._closed = weakref.finalize(self, _close, self._client, self._loop)

    @property
    def url(self) -> str:
        """The service's root."""
        return self._client.url

    def score(self, items: Iterable[AnyItem]) -> list[Verdict]:
        """Judges all items; verdicts in their order, `index` their place in it.

        An item without a score after all tries has `score` None and says whose fault it is;
        it never raises and never counts as 0.

        Args:
            items: any number of `Item` or of equivalent dicts.

        Raises:
            VerifierUnreachable: no connection could be made.
            ClientError: the service refuses the request (a wrong key, a wrong address).
        """
        return self._loop.run(self._client.score(items))

    def score_one(
        self,
        checker: str,
        completion: Text,
        params: Mapping[str, Any] | None = None,
        *,
        prompt: Text | None = None,
        deadline_s: float | None = None,
    ) -> Verdict:
        """Judges one completion; the arguments are `Item`'s fields. Raises as `score`."""
        return self._loop.run(
            self._client.score_one(
                checker, completion, params, prompt=prompt, deadline_s=deadline_s
            )
        )

    def score_stream(self, items: Iterable[AnyItem]) -> Iterator[Verdict]:
        """Judges all items and yields each verdict as it falls due. Raises as `score`."""
        verdicts: queue.SimpleQueue[Verdict | None] = queue.SimpleQueue()

        async def pump() -> None:
            async for verdict in self._client.score_stream(items):
                verdicts.put(verdict)

        finished = self._loop.start(pump())
        finished.add_done_callback(lambda _: verdicts.put(None))
        try:
            while (verdict := verdicts.get()) is not None:
                yield verdict
            finished.result()
        finally:
            finished.cancel()

    def ready(self) -> bool:
        """Whether the service answers and is ready to judge."""
        return self._loop.run(self._client.ready())

    def wait_ready(self, timeout_s: float) -> None:
        """Returns once the service is ready.

        Raises:
            VerifierUnreachable: it is not within `timeout_s`.
        """
        self._loop.run(self._client.wait_ready(timeout_s))

    def checkers(self) -> list[CheckerInfo]:
        """All checkers of the service, broken and unavailable ones included."""
        return self._loop.run(self._client.checkers())

    def checker(self, name: str) -> CheckerInfo:
        """One checker. Raises ClientError with status 404 if there is none of that name."""
        return self._loop.run(self._client.checker(name))

    def version(self) -> dict[str, Any]:
        """What the service says of its version."""
        return self._loop.run(self._client.version())

    def close(self) -> None:
        """Closes the connections and ends the thread. Idempotent."""
        self._closed()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _LoopThread:
    """An event loop in a daemon thread: it never keeps an interpreter from ending."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="verifier-client", daemon=True
        )
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether this process has the thread: a fork copies the object alone."""
        return os.getpid() == self._pid

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        if not self.is_here:
            work.close()
            raise ClientError(
                "this client was made in another process", remedy="make one after the fork"
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        future = self.start(work)
        try:
            return future.result()
        finally:
            future.cancel()

    def stop(self) -> None:
        self.run(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _close(client: AsyncVerifierClient, loop: _LoopThread) -> None:
    if loop.is_here:
        loop.run(client.close())
        loop.stop()
