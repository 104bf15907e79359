"""One hostile item among 256 honest ones harms nobody; processes killed mid-check neither."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from verifier_server.client import LocalServer, Outcome, Verdict, VerifierClient

HONEST = 256

NAME = "hostile"


def named(body: str) -> str:
    """A program that is found by its name, whatever level of sandbox it runs in."""
    return f"import os, sys\nos.execv(sys.executable, [{NAME!r}, '-c', {body!r}])"


FORK_BOMB = named(
    "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n"
)
ONE_TEST = {
    "language": "python",
    "mode": "stdio",
    "tests": [{"stdin": "", "stdout": "1"}],
    "limits": {"time_s": 2},
}
HOSTILE: dict[str, tuple[dict[str, Any], set[Outcome]]] = {
    "infinite loop": (
        {"checker": "code", "completion": named("while True: pass"), "params": ONE_TEST},
        {Outcome.TIME_LIMIT},
    ),
    "fork bomb": (
        {"checker": "code", "completion": FORK_BOMB, "params": ONE_TEST},
        {Outcome.TIME_LIMIT, Outcome.RUNTIME_ERROR, Outcome.MEMORY_LIMIT},
    ),
    "tower": (
        {"checker": "math", "completion": r"\boxed{9^{9^{9^9}}}", "params": {"answer": "7"}},
        {Outcome.WRONG_ANSWER, Outcome.POLICY_VIOLATION},
    ),
    "10 MB": (
        {"checker": "math", "completion": "(" * 10_000_000, "params": {"answer": "7"}},
        {Outcome.NO_ANSWER, Outcome.WRONG_ANSWER, Outcome.POLICY_VIOLATION},
    ),
    "broken params": (
        {"checker": "math", "completion": r"\boxed{7}", "params": {"answer": []}},
        {Outcome.BAD_REFERENCE},
    ),
}


def honest() -> list[tuple[dict[str, Any], int]]:
    """Items of several checkers, right and wrong in turn, with their scores."""
    return [_honest_code(n) if n % 16 == 0 else _honest_answer(n) for n in range(HONEST)]


def _honest_code(n: int) -> tuple[dict[str, Any], int]:
    right = n % 32 > 0
    body = "print(input())" if right else "print(int(input()) + 1)"
    tests = [{"stdin": f"{n}\n", "stdout": f"{n}\n"}]
    params = {"language": "python", "mode": "stdio", "tests": tests}
    return {"checker": "code", "completion": body, "params": params}, int(right)


def _honest_answer(n: int) -> tuple[dict[str, Any], int]:
    right = n % 2
    answer = str(n if right else n + 1)
    checker, text = ("math", f"so it is \\boxed{{{answer}}}.") if n % 3 else ("exact", answer)
    return {"checker": checker, "completion": text, "params": {"answer": str(n)}}, right


def assert_right(verdicts: list[Verdict], scores: list[int]) -> None:
    wrong = [
        (v.index, v.outcome, v.explanation)
        for v, score in zip(verdicts, scores, strict=True)
        if v.score != score
    ]
    assert wrong == []


def descendants(server: LocalServer, name: str = "") -> list[psutil.Process]:
    """The processes below the server whose command line begins so."""
    found = psutil.Process(server.pid).children(recursive=True)
    return [process for process in found if _name(process).startswith(name)]


def _name(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return "(gone)"


def wait_for(condition: Callable[[], Any], what: str, timeout_s: float = 20) -> Any:
    """Polls until the condition holds; returns what it found."""
    end_s = time.monotonic() + timeout_s
    while time.monotonic() < end_s:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited {timeout_s} s in vain for: {what}")


@pytest.mark.parametrize("kind", HOSTILE)
def test_one_hostile_item_among_many_harms_nobody(
    kind: str, client: VerifierClient, server: LocalServer
) -> None:
    hostile, outcomes = HOSTILE[kind]
    items = honest()
    batch = [item for item, _ in items]
    verdicts = client.score([*batch[:100], hostile, *batch[100:]])
    bad = verdicts.pop(100)
    assert bad.outcome in outcomes
    assert_right(verdicts, [score for _, score in items])
    wait_for(lambda: not descendants(server, NAME), "every program to be gone")


@pytest.fixture
def own_server() -> Iterator[LocalServer]:
    """A server whose processes a test may kill."""
    with LocalServer() as server:
        yield server


def workers(server: LocalServer) -> list[psutil.Process]:
    """The processes that judge: the children of the server's only child."""
    [zygote] = psutil.Process(server.pid).children()
    return zygote.children()


def score_in_background(
    client: VerifierClient, items: list[dict[str, Any]]
) -> Callable[[], list[Verdict]]:
    found: list[Verdict] = []
    thread = threading.Thread(target=lambda: found.extend(client.score(items)))
    thread.start()

    def result() -> list[Verdict]:
        thread.join(60)
        return found

    return result


def test_workers_killed_mid_check_cost_no_wrong_verdict(own_server: LocalServer) -> None:
    items = honest()
    with VerifierClient(own_server.url) as client:
        result = score_in_background(client, [item for item, _ in items])
        for worker in wait_for(lambda: workers(own_server), "workers"):
            os.kill(worker.pid, signal.SIGKILL)
        verdicts = result()
        assert len(verdicts) == len(items)
        for verdict, (_, score) in zip(verdicts, items, strict=True):
            assert verdict.score == score or (verdict.score is None and verdict.fault == "service")
        assert_right(client.score([item for item, _ in items]), [score for _, score in items])


def test_a_sandboxed_program_killed_mid_check_costs_no_wrong_verdict(
    own_server: LocalServer,
) -> None:
    slow = named("import time\ntime.sleep(1.5)\nprint(1)")
    params = ONE_TEST | {"limits": {"time_s": 10}}
    with VerifierClient(own_server.url) as client:
        result = score_in_background(
            client, [{"checker": "code", "completion": slow, "params": params}]
        )

        [target, *_] = wait_for(lambda: descendants(own_server, NAME), "the program to run")
        os.kill(target.pid, signal.SIGKILL)
        [verdict] = result()
        assert verdict.score == 1 or (verdict.score is None and verdict.fault == "service")
        [after] = client.score([{"checker": "code", "completion": "print(1)", "params": ONE_TEST}])
        assert after.score == 1


def test_nothing_survives_a_server_that_is_killed() -> None:
    server = LocalServer().start()
    try:
        with VerifierClient(server.url, retries=0) as client:
            forever = {
                "checker": "code",
                "completion": named("while True: pass"),
                "params": ONE_TEST,
            }
            result = score_in_background(client, [forever])
            wait_for(lambda: descendants(server, NAME), "the program to run")
            family = descendants(server)
            os.kill(server.pid or 0, signal.SIGKILL)
            wait_for(lambda: not any(p.is_running() for p in family), "the family to die")
            result()
    finally:
        server.stop()
