"""Training on a verifier that fails: by the real client, over a transport that misbehaves."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import wait

import httpx
import pytest

from grpo_client.config import RewardConfig
from grpo_client.reward import VerifierReward
from grpo_client.rollout.base import Sampling
from grpo_client.train.loop import Trainer
from tests.grpo_client.fakes import verdict
from tests.grpo_client.tiny import make_trainer, run, same, says_seven, weights
from verifier_server.client import Item, VerifierClient

Body = list[str]
Fault = Callable[[Body], httpx.Response]
STEPS = 3


def answered(lines: Body) -> httpx.Response:
    headers = {"Content-Type": "application/x-ndjson"}
    return httpx.Response(200, headers=headers, content="".join(f"{line}\n" for line in lines))


class Service:
    """Judges like the fakes do. `fault` spoils an answer: a batch's first, or all `of` a prompt."""

    def __init__(self, fault: Fault, *, of: str | None = None) -> None:
        self._fault, self._of = fault, of
        self.tries: Counter[str] = Counter()

    def handle(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        items = [Item.model_validate(item) for item in body.get("items", [body])]
        lines = [
            verdict(item.checker, says_seven(item), index=place, id=item.id).model_dump_json()
            for place, item in enumerate(items)
        ]
        prompt = str(items[0].prompt)
        self.tries[prompt] += 1
        spoilt = self.tries[prompt] == 1 if self._of is None else prompt == self._of
        return self._fault(lines) if spoilt else answered(lines)


def refused(lines: Body) -> httpx.Response:
    raise httpx.ConnectError("restarting")


FAULTS: dict[str, Fault] = {
    "500": lambda lines: httpx.Response(500, content=b"oops"),
    "overloaded": lambda lines: httpx.Response(429, headers={"Retry-After": "0"}),
    "restarted": refused,
    "partial": lambda lines: answered(lines[: len(lines) // 2]),
    "cut in a line": lambda lines: answered([*lines[:2], lines[2][:20]]),
    "duplicates": lambda lines: answered([*lines, lines[0], *lines]),
    "no JSON": lambda lines: answered(["<html>"]),
}


def trained_by(service: Service, retries: int) -> tuple[Trainer, list[dict[str, float]]]:
    trainer = make_trainer()
    transport = httpx.MockTransport(service.handle)
    with VerifierClient("http://127.0.0.1:9", retries=retries, transport=transport) as client:
        trainer.collector.reward = VerifierReward(client, trainer.config.reward)
        return trainer, run(trainer, STEPS)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_passes_leaves_no_trace_in_the_policy(name: str) -> None:
    service = Service(FAULTS[name])
    trainer, rows = trained_by(service, retries=3)
    assert [row["unscored"] for row in rows] == [0] * STEPS
    untroubled = make_trainer()
    run(untroubled, STEPS)
    assert same(weights(trainer), weights(untroubled))
    if name != "duplicates":
        assert all(tries >= 2 for tries in service.tries.values())


@pytest.mark.parametrize("name", ["500", "no JSON"])
def test_what_stays_unscored_is_left_out_and_counted(name: str) -> None:
    """No gradient comes from it: the policy is the one that never had these scores."""
    first = prompt_with_a_right_answer()
    trainer, rows = trained_by(Service(FAULTS[name], of=first), retries=0)
    assert sum(row["unscored"] for row in rows) == 8
    without = make_trainer(judge=lambda item: None if item.prompt == first else says_seven(item))
    run(without, STEPS)
    assert same(weights(trainer), weights(without))
    as_zero = make_trainer(judge=lambda item: 0.0 if item.prompt == first else says_seven(item))
    run(as_zero, STEPS)
    assert not same(weights(trainer), weights(as_zero))


def test_a_verifier_that_hangs_keeps_nothing_from_ending() -> None:
    """As at a second Ctrl-C: what waits is dropped, what is under way ends with the client."""
    asked = threading.Semaphore(0)

    async def hang(request: httpx.Request) -> httpx.Response:
        asked.release()
        await asyncio.Event().wait()
        raise AssertionError("nothing sets it")

    trainer = make_trainer()
    group = trainer.collector._engine.generate(trainer.prompts[:1], 2, Sampling(2), (0,))[0]
    with VerifierClient("http://127.0.0.1:9", transport=httpx.MockTransport(hang)) as client:
        reward = VerifierReward(client, RewardConfig(groups_in_flight=2))
        futures = [reward.submit(group) for _ in range(5)]
        for _ in range(2):
            assert asked.acquire(timeout=60)
        reward.close()
    assert not wait(futures[:2], timeout=60).not_done
    assert all(future.exception() for future in futures[:2])
    assert all(future.cancelled() for future in futures[2:])


def prompt_with_a_right_answer() -> str:
    """One of the first step's, whose group would have taught something."""
    batch = make_trainer().collector.collect(0, 0)
    groups = (g for g in batch.groups if any(r.accuracy for r in g.rewards))
    return str(next(groups).prompt.text)
