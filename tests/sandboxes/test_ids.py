"""Ids of boxes on the host: each its own. That they are in force, the attacks show."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandboxes import ids
from sandboxes.layout import BOX_ID


def test_no_two_boxes_of_a_process_have_one_id() -> None:
    numbers = [ids.new_host_id() for _ in range(32)]
    assert len(set(numbers)) == 32
    assert all(ids.FIRST_ID < number < 1 << 31 for number in numbers)


def test_no_two_processes_have_boxes_of_one_id(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: set[int] = set()
    for pid in (1, 2, 1000, (1 << 22) - 1):
        monkeypatch.setattr(ids.os, "getpid", lambda pid=pid: pid)
        numbers |= {ids.new_host_id() for _ in range(32)}
    assert len(numbers) == 4 * 32
    assert max(numbers) < 1 << 31


def test_where_ids_are_few_boxes_share_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "map").write_text("         0       1000      65536\n")
    monkeypatch.setattr(ids, "Path", lambda _: tmp_path / "map")
    assert ids.new_host_id() == BOX_ID
