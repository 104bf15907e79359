"""A verifier service that follows a script of faults, on a real loopback socket."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Raw = dict[str, Any]


def verdict(index: int, item: Raw) -> Raw:
    """An honest verdict: accepted iff the completion is the answer."""
    right = item["completion"] == item["params"]["answer"]
    return {
        "id": item.get("id"),
        "index": index,
        "checker": item["checker"],
        "version": "1",
        "outcome": "accepted" if right else "wrong_answer",
        "fault": "none" if right else "candidate",
        "score": 1.0 if right else 0.0,
    }


def fault(index: int, item: Raw, outcome: str = "sandbox_error") -> Raw:
    return verdict(index, item) | {"outcome": outcome, "fault": "service", "score": None}


@dataclass
class Exchange:
    """One request and the means to answer it."""

    handler: BaseHTTPRequestHandler
    items: list[Raw]

    def head(self, status: int, headers: dict[str, str]) -> None:
        self.handler.send_response(status)
        for name, value in headers.items():
            self.handler.send_header(name, value)
        self.handler.end_headers()

    def whole(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        extra = {name.replace("_", "-"): value for name, value in headers.items()}
        self.head(status, {"Content-Type": kind, "Content-Length": str(len(body)), **extra})
        self.handler.wfile.write(body)

    def lines(self, raws: list[Raw]) -> None:
        body = b"".join(json.dumps(raw).encode() + b"\n" for raw in raws)
        self.whole(200, body, "application/x-ndjson")

    def problem(self, status: int, detail: str, **headers: str) -> None:
        body = json.dumps({"title": "t", "status": status, "detail": detail}).encode()
        self.whole(status, body, "application/problem+json", **headers)


Step = Callable[[Exchange], None]


def honest(exchange: Exchange) -> None:
    exchange.lines([verdict(i, item) for i, item in enumerate(exchange.items)])


def broken_off(after: int) -> Step:
    """Promises all verdicts, sends `after` of them, drops the connection."""

    def step(exchange: Exchange) -> None:
        lines = [json.dumps(verdict(i, item)) + "\n" for i, item in enumerate(exchange.items)]
        length = sum(map(len, lines))
        exchange.head(200, {"Content-Type": "application/x-ndjson", "Content-Length": str(length)})
        exchange.handler.wfile.write("".join(lines[:after]).encode())
        exchange.handler.close_connection = True

    return step


@dataclass
class FakeService:
    """Answers request after request by `script`, then honestly.

    Attributes:
        script: what to do with the next requests to /score.
        requests: the items of each request so far.
        headers: the headers of each.
        pages: answers of the GET routes, by path.
    """

    url: str = ""
    script: deque[Step] = field(default_factory=deque)
    always: Step = honest
    requests: list[list[Raw]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    pages: dict[str, tuple[int, Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_step(self, items: list[Raw], headers: dict[str, str]) -> Step:
        with self.lock:
            self.requests.append(items)
            self.headers.append(headers)
            return self.script.popleft() if self.script else self.always


@contextmanager
def fake_service() -> Iterator[FakeService]:
    service = FakeService()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            service.next_step(body["items"], headers)(Exchange(self, body["items"]))

        def do_GET(self) -> None:
            status, page = service.pages.get(self.path, (404, {"detail": "no such page"}))
            Exchange(self, []).whole(status, json.dumps(page).encode(), "application/json")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
