"""Every caller gets an answer, whatever dies, stops or fails while it waits."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest
import pytest_asyncio

from verifier_server.bootstrap import Service, build_service
from verifier_server.checkers.runtime import Task
from verifier_server.dispatch import slot
from verifier_server.dispatch.in_process import InProcessDispatcher
from verifier_server.dispatch.job import Job
from verifier_server.dispatch.lane import Lane, LaneConfig
from verifier_server.dispatch.nursery import Nursery, Worker
from verifier_server.schemas import Item
from verifier_server.settings import MIB, Settings
from verifier_server.verdict import Outcome, Verdict


def item(completion: str, **params: Any) -> Item:
    return Item(checker="misbehaving", completion=completion, params=params)


async def judge(service: Service, completion: str) -> Verdict:
    async with asyncio.timeout(30):
        [verdict] = await service.scoring.score([item(completion)])
    return verdict


def nursery(service: Service) -> Nursery:
    assert isinstance(service.dispatcher, InProcessDispatcher)
    return service.dispatcher._nursery


async def test_a_stop_answers_a_caller_whose_worker_is_being_killed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_killing = asyncio.Event()

    async def never_done(worker: Worker) -> None:
        is_killing.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(nursery(service), "kill", never_done)
    waiting = asyncio.create_task(judge(service, "hang"))
    await is_killing.wait()
    await service.dispatcher.stop()
    verdict = await waiting
    assert (verdict.score, verdict.outcome) == (None, Outcome.CANCELLED)


async def test_items_that_come_after_the_stop_are_answered_as_cancelled(service: Service) -> None:
    await service.dispatcher.stop()
    assert (await judge(service, "behave")).outcome is Outcome.CANCELLED


async def test_a_zygote_that_died_unnoticed_costs_no_verdict(service: Service) -> None:
    process = nursery(service)._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()  # holds up the event loop, which so hears of the death after `spawn`
    async with asyncio.timeout(30):
        worker = await nursery(service).spawn(None)
        await nursery(service).kill(worker)
    assert (await judge(service, "behave")).score == 1


async def test_a_worker_that_dies_at_once_is_known_to_be_dead(service: Service) -> None:
    async with asyncio.timeout(30):
        worker = await nursery(service).spawn(memory_bytes=1 << 70)  # no such limit can be set
        assert await worker.died not in (None, 0)
        await worker.close()
        await worker.close()


async def test_items_sent_to_dead_workers_are_judged_by_others_without_a_word(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    process = nursery(service)._process
    assert process is not None
    async with asyncio.timeout(30):
        while len(dead := psutil.Process(process.pid).children()) < 4:  # noqa: ASYNC110 - another process forks them
            await asyncio.sleep(0.01)
    for worker in dead:
        worker.kill()
    psutil.wait_procs(dead, timeout=30)
    items = [item("behave", broken=f"/nowhere/{n}") for n in range(200)]
    async with asyncio.timeout(30):
        verdicts = await service.scoring.score(items)
    assert {verdict.score for verdict in verdicts} == {1}
    assert caplog.messages == []


async def test_a_dispatcher_that_fails_answers_its_callers_and_serves_on(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(wire: Any) -> None:
        raise ValueError("no judgement")

    with monkeypatch.context() as patch:
        patch.setattr(slot.Judgement, "from_wire", fail)
        verdict = await judge(service, "behave")
    assert (verdict.score, verdict.outcome) == (None, Outcome.CHECKER_ERROR)
    assert "no judgement" in verdict.explanation
    assert (await judge(service, "behave")).score == 1
    assert service.dispatcher.is_ready()


async def test_a_deadline_that_passes_in_a_workers_hands_is_told_when_it_is_given_back() -> None:
    config = LaneConfig(
        "cpu", workers=1, window=4, queue_items=9, memory_bytes=None, worker_items=9
    )
    lane = Lane(config, Nursery("unsafe", "INFO"))
    task = Task("misbehaving", "behave", {})
    job = Job(task, task, asyncio.get_running_loop().create_future(), patience_s=100)
    lane.submit(job)
    assert lane.take_now(4) == [job]
    job.submitted_s -= 200
    assert not job.future.done()
    lane.give_back([job])
    assert job.future.result().judgement.outcome is Outcome.OVERLOADED


@pytest_asyncio.fixture
async def small_workers() -> AsyncIterator[Service]:
    """Workers that a large completion does not fit in."""
    settings = Settings(cpu_workers=1, sandbox_workers=1, worker_memory_bytes=256 * MIB)
    service = build_service(settings)
    await service.dispatcher.start()
    yield service
    await service.dispatcher.stop()


async def test_a_completion_that_a_worker_cant_even_read_scores_zero(
    small_workers: Service,
) -> None:
    verdict = await judge(small_workers, "x" * (120 * MIB))
    assert (verdict.score, verdict.fault.value) == (0, "candidate")
    assert (await judge(small_workers, "behave")).score == 1


async def test_programs_do_not_inherit_signals_that_the_server_ignores() -> None:
    """As for a server started in the background, or under `nohup`."""
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)
    }
    try:
        service = build_service(Settings(cpu_workers=1, sandbox_workers=1))
        await service.dispatcher.start()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    tests = [{"stdin": "", "stdout": "Handlers.SIG_DFL\nTrue"}]
    program = (
        "import signal\nprint(repr(signal.getsignal(1)).split(':')[0].strip('<'))\n"
        "print(signal.getsignal(2) is signal.default_int_handler)"
    )
    item = Item(checker="code", completion=program, params={"mode": "stdio", "tests": tests})
    [verdict] = await service.scoring.score([item])
    await service.dispatcher.stop()
    assert verdict.score == 1, verdict.cases


async def test_what_began_again_was_not_waiting_while_it_ran() -> None:
    task = Task("misbehaving", "hang", {})
    job = Job(task, task, asyncio.get_running_loop().create_future(), patience_s=10)
    assert job.had_its_time(job.submitted_s + 0.9)
    assert not job.had_its_time(job.submitted_s + 1.9)
    job.spent_s = 1.0
    assert job.had_its_time(job.submitted_s + 1.9)
