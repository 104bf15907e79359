"""Where the value that a test expects is written down, in the source of the tests.

To change it there, and not where it is compared, also misleads a program that looks it up in
its caller's variables. All uses of a name on the way must be comparisons or messages, so that
the change can't reach what the program is called with.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
_TELLING = frozenset({"subTest", "test", "print", "fail"})


@dataclass(frozen=True, slots=True)
class Module:
    """What a test file defines.

    Attributes:
        tests: its test functions and methods.
        helpers: the other functions, by name, that run when they are called.
        constants: values of its top-level names.
        loads: how often each name is read in it.
    """

    tests: list[Function]
    helpers: dict[str, Function]
    constants: dict[str, ast.expr]
    loads: Counter[str]

    @classmethod
    def of(cls, tree: ast.Module) -> Module:
        """Looks through a parsed file."""
        nodes = list(ast.walk(tree))
        functions = [node for node in nodes if isinstance(node, Function)]
        loads = Counter(n.id for n in nodes if isinstance(n, ast.Name))
        return cls(
            tests=[function for function in functions if function.name.startswith("test")],
            helpers=_helpers(functions),
            constants=assigned(tree.body),
            loads=loads,
        )


def _helpers(functions: list[Function]) -> dict[str, Function]:
    defined = Counter(function.name for function in functions)
    return {
        function.name: function
        for function in functions
        if isinstance(function, ast.FunctionDef)
        and defined[function.name] == 1
        and not function.name.startswith("test")
        and {ast.unparse(mark) for mark in function.decorator_list} <= {"staticmethod"}
        and not any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))
    }


class Origins:
    """Finds the origins of values in one function.

    Args:
        function: a test, or a helper of one.
        module: its file.
        arguments: of a helper, what it is called with.
    """

    def __init__(
        self, function: Function, module: Module, arguments: Mapping[str, ast.expr]
    ) -> None:
        self._function = function
        self._module = module
        self._arguments = arguments
        self._loops: dict[str, list[ast.expr]] = {}
        self.locals = assigned(function.body)
        self._harmless = _harmless(function)

    def add_loop(self, target: ast.expr, iterable: ast.expr) -> None:
        """Notes what a loop's names stand for."""
        rows = rows_of(self._constant(iterable))
        if isinstance(target, ast.Name):
            self._loops[target.id] = rows
        elif isinstance(target, ast.Tuple):
            names = [name.id if isinstance(name, ast.Name) else "" for name in target.elts]
            self._loops.update(_by_name(names, rows))

    def find(self, value: ast.expr) -> list[ast.expr]:
        """The expressions to change, all of them; empty where they can't be told."""
        if called(value) == "approx" and isinstance(value, ast.Call) and len(value.args) == 1:
            return [] if value.keywords else self.find(value.args[0])
        if not isinstance(value, ast.Name):
            return [value]
        name = value.id
        uses = [n for n in ast.walk(self._function) if isinstance(n, ast.Name) and n.id == name]
        stored = [use for use in uses if isinstance(use.ctx, ast.Store)]
        if any(id(use) not in self._harmless for use in uses if use not in stored):
            return []
        if len(stored) == 1:
            return self._loops.get(name) or [v for n, v in self.locals.items() if n == name]
        if stored:
            return []
        if name in self._arguments:
            return [self._arguments[name]]
        return self._parameters(name)

    def _constant(self, value: ast.expr) -> ast.expr:
        """What a name of the module stands for, if nothing else in it reads that name."""
        if isinstance(value, ast.Name):
            if value.id in self.locals and value.id not in self._module.constants:
                used = sum(
                    isinstance(n, ast.Name) and n.id == value.id for n in ast.walk(self._function)
                )
                return self.locals[value.id] if used == 2 else value
            if self._module.loads[value.id] == 2:  # where it is bound, and here
                return self._module.constants.get(value.id, value)
        return value

    def _parameters(self, name: str) -> list[ast.expr]:
        """The values that `pytest.mark.parametrize` gives to a parameter."""
        for mark in self._function.decorator_list:
            if not isinstance(mark, ast.Call) or called(mark) != "parametrize":
                continue
            if len(mark.args) == 2 and "indirect" not in {word.arg for word in mark.keywords}:
                names = _parameter_names(mark.args[0])
                rows = [_unwrapped(row) for row in rows_of(self._constant(mark.args[1]))]
                if names == [name]:
                    return rows
                if name in names:
                    return _by_name(names, rows).get(name, [])
        return []


def assigned(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """What the names of a block are bound to, of those that it binds once."""
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                twice |= {target.id} & found.keys()
                found[target.id] = statement.value
    return {name: value for name, value in found.items() if name not in twice}


def called(call: ast.expr) -> str:
    """The last name of what is called; empty for what is no call."""
    function = call.func if isinstance(call, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def rows_of(iterable: ast.expr) -> list[ast.expr]:
    """The items of a literal."""
    return iterable.elts if isinstance(iterable, ast.List | ast.Tuple | ast.Set) else []


def _harmless(function: Function) -> set[int]:
    """Ids of the nodes whose values are compared or shown, and go nowhere else."""
    found: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            found |= {id(node.left), *map(id, node.comparators)}
        elif isinstance(node, ast.Assert) and node.msg is not None:
            found |= set(map(id, ast.walk(node.msg)))
        elif isinstance(node, ast.Call):
            name = called(node)
            if name.startswith("assert") and isinstance(node.func, ast.Attribute):
                found |= set(map(id, node.args))
            if name == "approx":
                found |= set(map(id, node.args[:1]))
            if name in _TELLING:
                found |= {id(n) for part in (*node.args, *node.keywords) for n in ast.walk(part)}
    return found


def _by_name(names: list[str], rows: list[ast.expr]) -> dict[str, list[ast.expr]]:
    cells = [rows_of(row) for row in rows]
    if not rows or any(len(row) != len(names) for row in cells):
        return {}
    return {name: [row[place] for row in cells] for place, name in enumerate(names) if name}


def _parameter_names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [name.strip() for name in node.value.split(",")]
    values = [n.value if isinstance(n, ast.Constant) else "" for n in rows_of(node)]
    return [value for value in values if isinstance(value, str)]


def _unwrapped(row: ast.expr) -> ast.expr:
    """The values in a `pytest.param`."""
    if isinstance(row, ast.Call) and called(row) == "param":
        return row.args[0] if len(row.args) == 1 else ast.Tuple(row.args, ast.Load())
    return row
