"""What a candidate was seen to try is named, counted, and changes no score."""

from __future__ import annotations

from typing import Any

import pytest

from sandboxes.base import SandboxProvider
from tests.checkers.code.judging import judge
from verifier_server.telemetry.metrics import Metrics
from verifier_server.verdict import Judgement, Outcome, Tampering, Verdict

FUNCTION = {"mode": "function", "function": "f", "tests": [{"args": [2], "returns": 4}]}
ASSERTS = {"mode": "asserts", "asserts": "assert Money(3) == 3\nassert Money(4) == 4"}
PYTEST = {
    "mode": "pytest",
    "files": {"test_a.py": "from solution import f\ndef test_it():\n    assert f(2) == 4\n"},
}


@pytest.mark.parametrize(
    ("source", "params", "kind", "score"),
    [
        (
            "import os\ndef f(x):\n    os.write(100, b'PASSED\\n')\n    return 4",
            FUNCTION,
            Tampering.FORGED_FRAME,
            0,
        ),
        (
            "import os\ndef f(x):\n    os.write(100, b'accepted 0\\nend 0\\n')\n    os._exit(0)",
            FUNCTION,
            Tampering.FORGED_FRAME,
            0,
        ),
        (
            "class Money:\n    def __init__(self, n): pass\n    def __eq__(self, o): return True",
            ASSERTS,
            Tampering.ALWAYS_EQUAL,
            0,
        ),
        (
            "class Any:\n    def __eq__(self, other): return True\ndef f(x): return Any()",
            PYTEST,
            Tampering.MUTANT_PASSED,
            0,
        ),
        (
            'import os\nos.write(120, b\'\\n{"id": "test_a.py::test_it", "outcome": "passed"}\\n\')'
            "\ndef f(x): return 2 * x",
            PYTEST,
            Tampering.FORGED_REPORT,
            1,
        ),
    ],
)
def test_an_attempt_is_named(
    source: str, params: dict[str, Any], kind: Tampering, score: float, provider: SandboxProvider
) -> None:
    judgement = judge(f"```python\n{source}\n```", params, provider)
    assert (judgement.score, tuple(judgement.tampering)) == (score, (kind,)), judgement
    assert kind.value.replace("_", " ") in judgement.explanation


@pytest.mark.parametrize(
    ("source", "params"),
    [
        ("def f(x): return 2 * x", FUNCTION),
        ("import os\ndef f(x): os._exit(0)", FUNCTION),
        ("def f(x): print('passed', flush=True); return 3", FUNCTION),
        ("def f(x):\n    while True: pass", {**FUNCTION, "limits": {"time_s": 0.5}}),
        ("def f(x): return 'x' * 10**6", {**FUNCTION, "limits": {"output_bytes": 1000}}),
        ("def f(x): return 2 * x", PYTEST),
        ("def f(x): raise SystemExit(0)", PYTEST),
        ("import os\nos._exit(0)", PYTEST),
        ("def Money(n): return n", ASSERTS),
        ("print('passed')", {"mode": "stdio", "tests": [{"stdout": "1"}]}),
    ],
)
def test_what_is_merely_wrong_is_no_attempt(
    source: str, params: dict[str, Any], provider: SandboxProvider
) -> None:
    assert not judge(f"```python\n{source}\n```", params, provider).tampering


def test_attempts_are_counted() -> None:
    found = Judgement.reject(
        Outcome.POLICY_VIOLATION, "no", tampering=(Tampering.MUTANT_PASSED, Tampering.FORGED_FRAME)
    )
    found = Judgement.from_wire(found.to_wire())
    verdict = Verdict(
        checker="code",
        version="2",
        outcome=found.outcome,
        fault=found.outcome.fault,
        score=found.score,
    )
    metrics = Metrics(lambda: {})
    for _ in range(2):
        metrics.count(verdict, found.tampering)
    told = metrics.render().decode()
    assert 'verifier_tampering_total{checker="code",kind="mutant_passed"} 2.0' in told
    assert 'verifier_tampering_total{checker="code",kind="forged_frame"} 2.0' in told
