"""The whole product in one run: a server, verdicts from every checker, and training on them.

Starts a verifier service on a free loopback port, scores right, wrong and hostile
completions, trains the bundled recipe against the service, and stops what it started.
Arguments are overrides of the recipe: `scripts/demo.py train.steps=50`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from verifier_server.client import LocalServer, Verdict, VerifierClient

ROOT = Path(__file__).parent.parent

ADD = {
    "language": "python",
    "mode": "function",
    "function": "add",
    "tests": [{"args": [1, 2], "returns": 3}, {"args": [-1, 1], "returns": 0}],
    "limits": {"time_s": 2},
}
ECHO = {
    "language": "python",
    "mode": "stdio",
    "tests": [{"stdin": "hello\n", "stdout": "hello\n"}],
    "limits": {"time_s": 2},
}
ALWAYS_EQUAL = """
class Any(int):
    def __eq__(self, other): return True
def add(a, b): return Any()
"""
FORK_BOMB = "import os\nwhile True: os.fork()"
REASONED = {
    "parts": [
        {"checker": "math", "params": {"answer": "12"}, "weight": 0.9, "name": "accuracy"},
        {"checker": "format", "params": {"template": "think"}, "weight": 0.1},
    ]
}
SHORT = {"rules": [{"rule": "words", "max": 5}, {"rule": "regex", "pattern": "^[A-Z]"}]}

# checker, what the case shows, completion, params
CASES: list[tuple[str, str, str, dict[str, Any]]] = [
    ("math", "right", r"So the answer is $\boxed{\frac{1}{2}}$.", {"answer": "0.5"}),
    ("math", "wrong", r"\boxed{10\text{ m}}", {"answer": r"10\text{ cm}"}),
    ("math", "hostile: hedges", r"\boxed{5} or \boxed{6}", {"answer": "5"}),
    ("math", "hostile: false chain", r"\boxed{6=5}", {"answer": "5"}),
    ("math", "hostile: a tower", r"\boxed{9^{9^{9^9}}}", {"answer": "5"}),
    ("exact", "right", "Paris", {"answer": ["paris", "Paris, France"]}),
    ("exact", "wrong", "It might be Paris or Lyon", {"answer": "Paris"}),
    ("choice", "right", "The answer is (B).", {"answer": "B", "options": 4}),
    ("choice", "hostile: hedges", "A or B", {"answer": "B", "options": 4}),
    ("format", "right", "<think>2+2</think>4", {"template": "think"}),
    ("format", "wrong", "4", {"template": "think"}),
    ("constraint", "right", "Short and to the point", SHORT),
    ("constraint", "wrong", "this one rambles on for rather too long", SHORT),
    ("code", "right", "```python\ndef add(a, b):\n    return a + b\n```", ADD),
    ("code", "wrong", "def add(a, b):\n    return a - b", ADD),
    ("code", "hostile: equals all", ALWAYS_EQUAL, ADD),
    ("code", "hostile: exits early", "import os\nos._exit(0)", ADD),
    ("code", "hostile: fork bomb", FORK_BOMB, ECHO),
    ("code", "hostile: endless", "while True: pass", ECHO),
    ("composite", "right", r"<think>7+5</think>\boxed{12}", REASONED),
    ("composite", "partly", r"\boxed{12}", REASONED),
    ("control", "a coin, as a baseline", "anything", {"kind": "random", "p": 0.5}),
    ("math", "a broken task: null", r"\boxed{5}", {"answer": ""}),
]
COLOURS = {"none": "green", "candidate": "red", "task": "yellow", "service": "magenta"}


def main() -> int:
    """Runs the demo; the exit status is the training's."""
    console = Console()
    with LocalServer() as server, VerifierClient(server.url) as client:
        console.rule(f"a verifier service on {server.url}")
        verdicts = client.score(
            [{"checker": name, "completion": text, "params": p} for name, _, text, p in CASES]
        )
        console.print(_table(verdicts))
        console.rule("training on its verdicts")
        command = [sys.executable, "-m", "grpo_client.cli.main", "train"]
        command += [str(ROOT / "recipes" / "arithmetic.toml"), "--url", server.url]
        command += ["--overwrite", *sys.argv[1:]]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
    console.rule("the service is stopped")
    return status


def _table(verdicts: list[Verdict]) -> Table:
    isolation = next(v.isolation for v in verdicts if v.isolation != "none")
    table = Table(box=SIMPLE_HEAD, caption=f"programs ran in: {isolation}")
    for heading in ("checker", "score", "outcome"):
        table.add_column(heading, no_wrap=True)
    table.add_column("ms", justify="right", no_wrap=True)
    table.add_column("completion, and why")
    for (name, case, _, _), verdict in zip(CASES, verdicts, strict=True):
        score = "null" if verdict.score is None else f"{verdict.score:g}"
        colour = COLOURS[verdict.fault]
        table.add_row(
            name,
            f"[{colour}]{score}[/]",
            f"[{colour}]{verdict.outcome}[/]",
            f"{1000 * verdict.usage.run_s:.1f}",
            f"{case}\n[dim]{escape(verdict.explanation)}[/]",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
