"""Whoever is at fault for a check that hangs or dies gets the blame, and nobody else."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from verifier_server.bootstrap import Service
from verifier_server.schemas import Item
from verifier_server.verdict import Outcome, Verdict


def item(completion: str, **params: Any) -> Item:
    return Item(checker="misbehaving", completion=completion, params=params)


async def judge(service: Service, completion: str, **params: Any) -> Verdict:
    [verdict] = await service.scoring.score([item(completion, **params)])
    return verdict


@pytest.mark.parametrize(
    ("completion", "outcome"),
    [
        ("hang", Outcome.TIME_LIMIT),
        ("segfault", Outcome.POLICY_VIOLATION),
        ("hog", Outcome.MEMORY_LIMIT),
        ("recurse", Outcome.MEMORY_LIMIT),
    ],
)
async def test_a_completion_that_breaks_its_worker_scores_zero(
    service: Service, completion: str, outcome: Outcome
) -> None:
    verdict = await judge(service, completion)
    assert (verdict.score, verdict.outcome) == (0, outcome)
    assert (await judge(service, "behave")).score == 1


@pytest.mark.parametrize("how", ["hang", "segfault"])
async def test_a_reference_that_breaks_its_worker_is_a_bad_reference(
    service: Service, how: str
) -> None:
    verdict = await judge(service, "behave", prepare=how)
    assert (verdict.score, verdict.outcome) == (None, Outcome.BAD_REFERENCE)


async def test_a_checker_that_raises_is_at_fault_itself(service: Service) -> None:
    verdict = await judge(service, "raise something odd")
    assert (verdict.score, verdict.outcome) == (None, Outcome.CHECKER_ERROR)
    assert "something odd" in verdict.explanation


@pytest.mark.parametrize("odd", ["none", "number as answer", "NaN as component", "infinite case"])
async def test_a_checker_that_returns_what_is_no_judgement_is_at_fault_itself(
    service: Service, odd: str
) -> None:
    odd_one, neighbour = await service.scoring.score([item(odd), item("behave")])
    assert (odd_one.score, odd_one.outcome) == (None, Outcome.CHECKER_ERROR)
    assert neighbour.score == 1


async def test_a_worker_killed_from_outside_once_costs_nothing(
    service: Service, tmp_path: Path
) -> None:
    verdict = await judge(service, f"killed-once {tmp_path / 'mark'}")
    assert verdict.score == 1


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
async def test_workers_killed_from_outside_again_and_again_are_no_zero(
    service: Service, name: str
) -> None:
    verdict = await judge(service, f"signal {name}")
    assert (verdict.score, verdict.outcome) == (None, Outcome.CHECKER_ERROR)


async def test_neighbours_of_a_hanging_item_are_judged_while_it_hangs(service: Service) -> None:
    items = [item("hang"), *(item("sleep 0", broken=f"/nowhere/{n}") for n in range(200))]
    order = [v.index async for verdicts in await service.scoring.stream(items) for v in verdicts]
    assert sorted(order) == list(range(201))
    assert order[-1] == 0


async def test_many_hanging_items_leave_room_for_their_neighbours(service: Service) -> None:
    hanging = [item("hang", broken=f"/nowhere/hang/{n}") for n in range(24)]
    honest = [item("sleep 0", broken=f"/nowhere/{n}") for n in range(200)]
    stream = await service.scoring.stream([*hanging, *honest])
    order = [v.index async for verdicts in stream for v in verdicts]
    judged_before = order[: max(order.index(n) for n in range(24, 224))]
    assert sum(n < 24 for n in judged_before) < 12
    assert sorted(order) == list(range(224))


async def test_a_check_that_takes_long_has_its_time(service: Service) -> None:
    """It begins again among the slow, with all of its budget."""
    busy = judge(service, "busy 0.3")
    assert (await busy).score == 1
    queues = service.dispatcher.stats()
    assert queues["cpu"].killed == 1
    assert queues["cpu, slow"].killed == 0


async def test_the_death_of_the_zygote_costs_no_verdict(service: Service) -> None:
    zygote = service.dispatcher._nursery._process  # type: ignore[attr-defined]
    running = asyncio.gather(
        *(judge(service, "sleep 0.2", broken=f"/nowhere/{n}") for n in range(6))
    )
    await asyncio.sleep(0)
    os.kill(zygote.pid, signal.SIGKILL)
    assert [verdict.score for verdict in await running] == [1] * 6
    assert service.dispatcher.is_ready()


async def test_a_broken_plugin_is_listed_and_its_items_have_no_score(service: Service) -> None:
    [verdict] = await service.scoring.score([Item(checker="never-imports", completion="x")])
    assert (verdict.score, verdict.outcome) == (None, Outcome.CHECKER_ERROR)
    info = service.registry.describe("never-imports")
    assert info.status == "broken"
    assert "broken on purpose" in info.needs


async def test_a_deadline_that_passes_in_the_queue_is_no_zero(service: Service) -> None:
    blockers = [item("sleep 0.4", broken=f"/nowhere/{n}") for n in range(4)]
    late = Item(checker="misbehaving", completion="behave", deadline_s=0.1)
    *_, verdict = await service.scoring.score([*blockers, late])
    assert (verdict.score, verdict.outcome) == (None, Outcome.OVERLOADED)


async def test_a_completion_that_uses_up_the_deadline_scores_zero(service: Service) -> None:
    params = {"budget_s": 60}
    slow = Item(checker="misbehaving", completion="hang", params=params, deadline_s=3)
    [verdict] = await service.scoring.score([slow])
    assert (verdict.score, verdict.outcome) == (0, Outcome.TIME_LIMIT)
    assert "deadline" in verdict.explanation


async def test_the_same_item_twice_is_judged_once(service: Service) -> None:
    first, second = await service.scoring.score([item("pid"), item("pid")])
    assert first.answer == second.answer
    assert (first.index, second.index) == (0, 1)


async def test_a_check_that_was_stopped_is_no_zero(service: Service) -> None:
    """As by SIGSTOP, a paused container, a starved machine: it sleeps beyond its budget."""
    verdict = await judge(service, "sleep 30")
    assert (verdict.score, verdict.outcome) == (None, Outcome.CHECKER_ERROR)


async def test_a_checker_without_workers_is_told_so(service: Service) -> None:
    [good, lost] = await service.scoring.score([item("behave"), item("behave", queue="gpu")])
    assert good.score == 1
    assert (lost.score, lost.outcome) == (None, Outcome.CHECKER_ERROR)
    assert "gpu" in lost.explanation
