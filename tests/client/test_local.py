"""A real server process of one's own: its start, its work, its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.client.test_scoring import closed_port
from verifier_server.client import (
    LocalServer,
    LocalServerFailed,
    Outcome,
    VerifierClient,
    VerifierUnreachable,
)


def ended(pids: list[int]) -> bool:
    """Waits until all these processes are gone or were only waiting to be reaped."""
    processes = []
    for pid in pids:
        try:
            processes.append(psutil.Process(pid))
        except psutil.NoSuchProcess:
            continue
    _, alive = psutil.wait_procs(processes, timeout=20)
    return not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]


def family(pid: int) -> list[int]:
    return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]


def test_it_serves_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIFIER_API_KEYS", "meant-for-another-service")
    monkeypatch.setenv("VERIFIER_HOST", "0.0.0.0")
    right = {"checker": "exact", "completion": "4", "params": {"answer": "4"}}
    items = [right, right | {"completion": "5"}, right | {"checker": "nonesuch"}] * 100
    with LocalServer() as server, VerifierClient(server.url, batch_size=32) as client:
        assert server.pid is not None
        pids = family(server.pid)
        assert client.ready()
        assert {info.name for info in client.checkers()} >= {"exact", "math", "code"}
        assert client.checker("exact").status == "ok"
        verdicts = client.score(items)
    assert [v.score for v in verdicts] == [1, 0, None] * 100
    assert verdicts[2].outcome is Outcome.BAD_REFERENCE
    assert [v.index for v in verdicts] == list(range(300))
    assert len(pids) > 1
    assert ended(pids)


def test_a_server_that_ends_at_once_shows_its_last_words() -> None:
    broken = LocalServer(env={"VERIFIER_LOG_LEVEL": "shout"})
    with pytest.raises(LocalServerFailed, match="ended with status 2") as caught:
        broken.start()
    assert "VERIFIER_LOG_LEVEL" in str(caught.value)
    assert "verifier-server doctor" in str(caught.value)


def test_a_server_that_is_not_ready_in_time_is_ended() -> None:
    slow = LocalServer(start_timeout_s=0.001)
    with pytest.raises(LocalServerFailed, match="not ready within"):
        slow.start()
    assert slow.pid is None


def test_its_output_goes_to_a_log_file(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with LocalServer(log=log):
        pass
    assert log.exists()


def test_a_killed_server_costs_verdicts_never_zeros() -> None:
    right = {"checker": "exact", "completion": "4", "params": {"answer": "4"}}
    with LocalServer() as server, VerifierClient(server.url, retries=0, batch_size=1) as client:
        stream = client.score_stream([right] * 2000)
        first = next(stream)
        assert server.pid is not None
        os.killpg(server.pid, signal.SIGKILL)
        rest = list(stream)
        with pytest.raises(VerifierUnreachable, match="verifier-server serve"):
            client.score([right])
    assert first.score == 1
    assert len(rest) == 1999
    assert {v.score for v in rest} <= {1, None}
    assert rest[-1].outcome is Outcome.CHECKER_ERROR


def serve(port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "verifier_server.cli.main", "serve", "--port", str(port)]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)


def test_a_server_killed_and_restarted_under_a_call_costs_nothing() -> None:
    items = [
        {"checker": "exact", "completion": str(i % 5), "params": {"answer": "4"}}
        for i in range(3000)
    ]
    port = closed_port()
    server = serve(port)
    try:
        with VerifierClient(f"http://127.0.0.1:{port}", retries=8) as client:
            client.wait_ready(60)
            stream = client.score_stream(items)
            verdicts = [next(stream) for _ in range(500)]
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
            server = serve(port)
            verdicts += stream
    finally:
        server.terminate()
        server.wait()
    assert sorted(v.index for v in verdicts) == list(range(3000))
    assert all(v.score == (v.index % 5 == 4) for v in verdicts)


PARENT = """
import sys, time
from verifier_server.client import LocalServer
with LocalServer() as server:
    print(server.pid, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("end", [subprocess.Popen.kill, subprocess.Popen.terminate])
def test_it_dies_with_its_parent_however_that_dies(
    end: Callable[[subprocess.Popen[str]], None],
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = family(int(parent.stdout.readline()))
        end(parent)
        parent.wait()
    assert ended(pids)


def test_the_command_scores_with_a_service_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "items.jsonl"
    item = {"checker": "exact", "completion": "4", "params": {"answer": "4"}}
    file.write_text(json.dumps(item) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "verifier_server.cli.main", "score", str(file), "--json"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, json.loads(done.stdout)["score"]) == (0, 1)


def test_ctrl_c_ends_the_command_and_its_service_quietly() -> None:
    command = [sys.executable, "-m", "verifier_server.cli.main", "score", "-", "--json"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as scoring:
        assert scoring.stdin is not None
        item = {"checker": "exact", "completion": "4", "params": {"answer": "4"}}
        scoring.stdin.write((json.dumps(item) + "\n").encode() * 50_000)
        scoring.stdin.close()
        assert scoring.stdout is not None
        assert scoring.stdout.readline()
        pids = family(scoring.pid)
        scoring.send_signal(signal.SIGINT)
        scoring.stdout.read()
        assert scoring.stderr is not None
        assert scoring.stderr.read() == b""
    assert scoring.returncode == 130
    assert ended(pids)
