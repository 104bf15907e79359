"""Programs whose verdicts are known; the checker tests itself with them."""

from __future__ import annotations

from verifier_server.checkers.base import Example
from verifier_server.verdict import Outcome

_SUM = {"mode": "stdio", "tests": [{"stdin": "3 4\n", "stdout": "7\n"}]}
_BASH = {"mode": "stdio", "language": "bash", "tests": [{"stdin": "3 4\n", "stdout": "7\n"}]}
_ANY_ORDER = {
    "mode": "stdio",
    "tests": [{"stdin": "", "stdout": "1 2"}],
    "compare": {
        "checker_program": {
            "language": "python",
            "source": "import sys\n"
            "_, got, want = (sorted(open(path).read().split()) for path in sys.argv[1:])\n"
            "sys.exit(got != want)",
        }
    },
}
_DOUBLE = {
    "mode": "function",
    "function": "double",
    "tests": [{"args": [4], "returns": 8}, {"args": ["ab"], "returns": "abab"}],
}
_ASSERTS = {"mode": "asserts", "asserts": "assert double(4) == 8\nassert double('ab') == 'abab'"}
_CHECK = {
    "mode": "asserts",
    "asserts": "def check(candidate):\n    assert candidate([1]) == [1, 1]\n",
    "function": "double",
}
_PYTEST = {
    "mode": "pytest",
    "files": {
        "test_double.py": "from solution import double\n\n\n"
        "def test_number():\n    assert double(4) == 8\n\n\n"
        "def test_text():\n    assert double('ab') == 'abab'\n"
    },
}


def _python(source: str) -> str:
    return f"```python\n{source}\n```"


EXAMPLES = (
    Example(_python("print(sum(map(int, input().split())))"), _SUM, 1.0),
    Example(_python("print(input())"), _SUM, 0.0, Outcome.WRONG_ANSWER),
    Example(_python("print(7)\nraise SystemExit(1)"), _SUM, 0.0, Outcome.RUNTIME_ERROR),
    Example(_python("print(7"), _SUM, 0.0, Outcome.COMPILE_ERROR),
    Example("I would add the two numbers.", _SUM, 0.0, Outcome.NO_ANSWER),
    Example(
        _python("while True: pass"),
        {**_SUM, "limits": {"time_s": 1}},
        0.0,
        Outcome.TIME_LIMIT,
        note="hostile: never ends",
    ),
    Example("```bash\nread -r a b\necho $((a + b))\n```", _BASH, 1.0),
    Example("```bash\nexit 0\n```", _BASH, 0.0, Outcome.WRONG_ANSWER),
    Example(_python("print(2, 1)"), _ANY_ORDER, 1.0),
    Example(_python("print(2, 3)"), _ANY_ORDER, 0.0, Outcome.WRONG_ANSWER),
    Example(_python("def double(x):\n    return x * 2"), _DOUBLE, 1.0),
    Example(_python("def double(x):\n    return 8"), _DOUBLE, 0.0, Outcome.WRONG_ANSWER),
    Example(
        _python(
            "class Any:\n    def __eq__(self, other):\n        return True\n\n"
            "def double(x):\n    return Any()"
        ),
        _DOUBLE,
        0.0,
        Outcome.WRONG_ANSWER,
        note="hostile: returns an object that equals everything",
    ),
    Example(
        _python("import os\nos._exit(0)"),
        _DOUBLE,
        0.0,
        Outcome.RUNTIME_ERROR,
        note="hostile: leaves with status 0 before any test",
    ),
    Example(_python("def double(x):\n    return x * 2"), _ASSERTS, 1.0),
    Example(_python("double = lambda x: x + x"), _CHECK, 1.0),
    Example(_python("def double(x):\n    return 8"), _ASSERTS, 0.0, Outcome.WRONG_ANSWER),
    Example(
        _python("import os\n\ndef double(x):\n    os.kill(os.getppid(), 9)"),
        _ASSERTS,
        0.0,
        Outcome.RUNTIME_ERROR,
        note="hostile: kills the asserts' process",
    ),
    Example(_python("def double(x):\n    return x * 2"), _PYTEST, 1.0),
    Example(_python("def double(x):\n    return 8"), _PYTEST, 0.0, Outcome.WRONG_ANSWER),
    Example(
        _python("import _pytest.python\n_pytest.python.Function.runtest = print\ndouble = None"),
        _PYTEST,
        0.0,
        Outcome.POLICY_VIOLATION,
        note="hostile: patches the method of pytest that runs a test",
    ),
    Example("", {"mode": "stdio", "tests": []}, None, Outcome.BAD_REFERENCE),
)
