from __future__ import annotations

import time
from dataclasses import replace
from signal import SIGKILL
from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from sandboxes.base import ExecResult, ExitReason, Sandbox, SandboxProvider, SandboxSpec
from tests.checkers.code.judging import judge
from verifier_server.verdict import Outcome

ECHO = [{"stdin": "1\n", "stdout": "1\n"}, {"stdin": "2 x\n", "stdout": "2 x\n", "name": "two"}]
SHORT = {"time_s": 1, "memory_bytes": 128 << 20, "output_bytes": 1 << 20}


def stdio(tests: list[dict[str, str]], **options: Any) -> dict[str, Any]:
    return {"mode": "stdio", "tests": tests, **options}


def fenced(source: str) -> str:
    return f"```python\n{source}\n```"


@pytest.mark.parametrize(
    "source",
    [
        "print(input())",
        "import sys\nfor line in sys.stdin: print(line, end='')",
        "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())",
        "import os\nos.write(1, os.read(0, 100))",
        "print(open(0).read())",
        "print(open('/dev/stdin').read())",
        "import sys\nprint(input())\nsys.exit(0)",
        "import os\nprint(input(), flush=True)\nos._exit(0)",
        "import sys\nassert sys.argv == [sys.argv[0]] and __name__ == '__main__'\nprint(input())",
        "import os.path\nassert os.path.exists(__file__)\nprint(input())",
        "from __future__ import annotations\nprint(input())",
        "import sys\nprint('noise', file=sys.stderr)\nprint(input())",
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(99,), daemon=True).start()\nprint(input())",
        "import subprocess, sys\n"
        "print(subprocess.run([sys.executable, '-c', 'print(input())'],"
        " capture_output=True, text=True).stdout)",
        "import tempfile\nwith tempfile.TemporaryFile('w+') as f:\n"
        "    f.write(input())\n    f.seek(0)\n    print(f.read())",
        "import asyncio\nasync def main(): print(input())\nasyncio.run(main())",
        "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(64 << 20)\n"
        "def f(n): return n and f(n - 1)\n"
        "t = threading.Thread(target=f, args=(20_000,)); t.start(); t.join()\nprint(input())",
    ],
)
def test_every_way_to_read_and_write_works(source: str, provider: SandboxProvider) -> None:
    judgement = judge(fenced(source), stdio(ECHO), provider)
    assert judgement.outcome is Outcome.ACCEPTED, judgement


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("print(1)", Outcome.WRONG_ANSWER),
        ("", Outcome.NO_ANSWER),
        ("pass", Outcome.WRONG_ANSWER),
        ("raise SystemExit(0)", Outcome.WRONG_ANSWER),
        ("print(input())\nraise SystemExit(1)", Outcome.RUNTIME_ERROR),
        ("print(input())\nprint(memo)", Outcome.RUNTIME_ERROR),
        ("print(input(), flush=True)\nimport os\nos.kill(os.getpid(), 9)", Outcome.RUNTIME_ERROR),
        ("print(input(\n", Outcome.COMPILE_ERROR),
        ("print('1')\nprint('2 x')", Outcome.WRONG_ANSWER),
        ("import sys\nsys.stdout.buffer.write(b'\\xe9')", Outcome.WRONG_ANSWER),
        ("print('nan')", Outcome.WRONG_ANSWER),
        ("import os\nos.closerange(0, 256)", Outcome.WRONG_ANSWER),
        ("print('[' * 900_000)", Outcome.WRONG_ANSWER),
    ],
)
def test_wrong_programs_get_their_own_outcome(
    source: str, outcome: Outcome, provider: SandboxProvider
) -> None:
    judgement = judge(fenced(source), stdio(ECHO, limits=SHORT), provider)
    assert (judgement.score, judgement.outcome) == (0, outcome), judgement
    assert judgement.explanation


@pytest.mark.parametrize(
    ("source", "outcomes"),
    [
        ("print(input(), flush=True)\nwhile True: pass", {Outcome.TIME_LIMIT}),
        ("print(input(), flush=True)\nimport time\ntime.sleep(99)", {Outcome.TIME_LIMIT}),
        ("import signal, os\nos.kill(os.getpid(), signal.SIGSTOP)", {Outcome.TIME_LIMIT}),
        (
            "x = []\nwhile True: x.append(bytearray(b'x' * (8 << 20)))",
            {Outcome.MEMORY_LIMIT, Outcome.RUNTIME_ERROR},
        ),
        ("while True: print('1' * 9999)", {Outcome.OUTPUT_LIMIT}),
        (
            "import sys\nprint(1, flush=True)\nwhile True: sys.stderr.write('x' * 9999)",
            {Outcome.OUTPUT_LIMIT},
        ),
        (
            "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
            {Outcome.TIME_LIMIT, Outcome.MEMORY_LIMIT, Outcome.RUNTIME_ERROR},
        ),
        (
            "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nprint('?')",
            {Outcome.WRONG_ANSWER, Outcome.RUNTIME_ERROR},
        ),
        (
            "import os, signal\nos.kill(-1, signal.SIGKILL)\nprint('?')",
            {Outcome.WRONG_ANSWER, Outcome.RUNTIME_ERROR},
        ),
    ],
    ids=["loop", "sleep", "stop", "memory", "stdout", "stderr", "fork", "parent", "everyone"],
)
def test_a_hostile_program_ends_in_an_outcome_of_its_own(
    source: str, outcomes: set[Outcome], provider: SandboxProvider
) -> None:
    start = time.monotonic()
    judgement = judge(fenced(source), stdio(ECHO, limits=SHORT), provider)
    assert judgement.outcome in outcomes, judgement
    assert time.monotonic() - start < 12


def test_all_stops_at_the_first_failure(provider: SandboxProvider) -> None:
    judgement = judge(fenced("print(1)"), stdio([*ECHO, ECHO[0]]), provider)
    assert [case.outcome for case in judgement.cases] == [Outcome.ACCEPTED, Outcome.WRONG_ANSWER]
    failed = judgement.cases[1]
    assert (failed.name, failed.input, failed.expected, failed.got) == (
        "two",
        "2 x\n",
        "2 x\n",
        "1\n",
    )
    assert "two" in judgement.explanation


def test_fraction_runs_every_test(provider: SandboxProvider) -> None:
    source = "s = input()\nif s == '2 x': raise SystemExit(1)\nprint(s)"
    params = stdio([*ECHO, ECHO[0], ECHO[0]], score="fraction")
    judgement = judge(fenced(source), params, provider)
    assert (judgement.outcome, judgement.score) == (Outcome.PARTIAL, 0.75)
    assert len(judgement.cases) == 4
    assert judge(fenced("print(input())"), params, provider).score == 1
    assert judge(fenced("1/0"), params, provider).outcome is Outcome.RUNTIME_ERROR


def test_runs_do_not_see_each_other(provider: SandboxProvider) -> None:
    source = (
        "import os\nprint('seen' if os.path.exists('note') else 'fresh')\nopen('note', 'w').close()"
    )
    params = stdio([{"stdout": "fresh"}, {"stdout": "fresh"}])
    assert judge(fenced(source), params, provider).score == 1


def test_unread_input_is_no_fault(provider: SandboxProvider) -> None:
    params = stdio([{"stdin": "7\n" + "pad " * 100_000, "stdout": "7"}])
    assert judge(fenced("print(input())"), params, provider).score == 1


def test_texts_in_cases_are_cut(provider: SandboxProvider) -> None:
    params = stdio([{"stdin": "a" * 10_000, "stdout": "b" * 10_000}])
    (case,) = judge(fenced("print('c' * 10_000)"), params, provider).cases
    assert all(len(text or "") < 300 for text in (case.input, case.expected, case.got))


def test_a_set_is_iterated_in_the_same_order_in_every_run(provider: SandboxProvider) -> None:
    source = fenced("print(*{'ab', 'cd', 'ef', 'gh', 'ij', 'kl'})")
    params = stdio([{"stdout": "?"}])
    outputs = {judge(source, params, provider).cases[0].got for _ in range(3)}
    assert len(outputs) == 1


class KilledOnce:
    """A provider whose first program is killed by somebody on the host."""

    name = "killed-once"

    def __init__(self, provider: SandboxProvider) -> None:
        self._provider = provider
        self.runs = 0

    def create(self, spec: SandboxSpec) -> Sandbox:
        box = self._provider.create(spec)
        run = box.exec

        def exec_(*args: Any, **options: Any) -> ExecResult:
            result = run(*args, **options)
            self.runs += 1
            if self.runs > 1:
                return result
            return replace(result, reason=ExitReason.SIGNALLED, exit=None, signal=SIGKILL)

        patched: Any = MagicMock(wraps=box, exec=exec_, isolation=box.isolation)
        patched.__enter__.return_value = patched
        patched.__exit__.side_effect = lambda *_: box.close()
        return cast(Sandbox, patched)


def test_a_program_killed_from_outside_runs_again(provider: SandboxProvider) -> None:
    params = {"mode": "stdio", "tests": [{"stdin": "", "stdout": "1"}]}
    killer = KilledOnce(provider)
    assert judge("print(1)", params, cast(SandboxProvider, killer)).score == 1
    assert killer.runs == 2


def test_a_program_that_kills_itself_scores_zero(provider: SandboxProvider) -> None:
    params = {"mode": "stdio", "tests": [{"stdin": "", "stdout": "1"}]}
    suicide = "import os\nprint(1, flush=True)\nos.kill(os.getpid(), 9)"
    judgement = judge(suicide, params, provider)
    assert (judgement.score, judgement.outcome) == (0, Outcome.RUNTIME_ERROR)
