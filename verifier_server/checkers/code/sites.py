"""Where a test could be made to expect something else, so that an honest pass must fail.

Only statements count that every passing run of the test executes, and only changes that
surely turn a condition that holds into one that doesn't, so chance, loose bounds and
conditions of the test's own are never taken for tampering.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from verifier_server.checkers.code.literals import Spot, change
from verifier_server.checkers.code.origins import Function, Module, Origins, called, rows_of

_OTHER = '__import__("_judge_decoys").other({})'
_NEGATED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_OPPOSITES = (
    ("assertTrue", "assertFalse"),
    ("assertIn", "assertNotIn"),
    ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"),
    ("assertRegex", "assertNotRegex"),
)
_OPPOSITE = {a: b for pair in _OPPOSITES for a, b in (pair, pair[::-1])}
_OPPOSITE["assertAlmostEqual"] = "assertNotAlmostEqual"
_EQUALITIES = frozenset(
    f"assert{kind}Equal" for kind in ("", "List", "Tuple", "Set", "Dict", "Sequence", "MultiLine")
)
_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
# Context managers that let every failure out.
_OPEN_CONTEXTS = frozenset(
    {"subTest", "test", "open", "patch", "object", "dict", "warns", "assertWarns", "context",
     "redirect_stdout", "redirect_stderr", "TemporaryDirectory", "catch_warnings", "assertLogs",
     "deprecated_call", "nullcontext"}
)  # fmt: skip
# Calls whose result has an item if all their arguments have.
_KEEP_ITEMS = frozenset({"enumerate", "sorted", "reversed", "list", "tuple", "zip"})
_VIEWS = frozenset({"items", "keys", "values"})


@dataclass(frozen=True, slots=True)
class Site:
    """Changes that belong together.

    Attributes:
        spots: nodes, each with the text that takes its place, in which `{}` stands for it.
        gap: a pair of nodes, and what takes the place of the operator between them.
        keeps_kind: whether the program's value is still compared, with another one.
    """

    spots: tuple[Spot, ...] = ()
    gap: tuple[ast.expr, ast.expr, str] | None = None
    keeps_kind: bool = False


class SiteFinder:
    """Finds the sites of one function.

    Args:
        function: a test, or a helper of one.
        module: its file.
        rng: chooses other values.
        arguments: of a helper, what it is called with.
    """

    def __init__(
        self,
        function: Function,
        module: Module,
        rng: Random,
        arguments: Mapping[str, ast.expr] | None = None,
    ) -> None:
        self._function = function
        self._module = module
        self._rng = rng
        self._is_helper = arguments is not None
        self._parameters = {parameter.arg for parameter in function.args.args}
        self._origins = Origins(function, module, arguments or {})

    def find(self) -> list[Site]:
        """All sites, in order."""
        return list(self._statements(self._function.body))

    def _statements(self, body: Sequence[ast.stmt]) -> Iterator[Site]:
        for statement in body:
            if isinstance(statement, ast.Assert):
                yield from self._condition(statement.test)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                yield from self._call(statement.value)
            elif isinstance(statement, ast.With):
                yield from self._with(statement)
            elif isinstance(statement, ast.For) and self._is_filled(statement.iter):
                self._origins.add_loop(statement.target, statement.iter)
                yield from self._statements(statement.body)
            if _may_leave(statement):
                return

    def _with(self, statement: ast.With) -> Iterator[Site]:
        calls = [item.context_expr for item in statement.items]
        for call in calls:
            if isinstance(call, ast.Call) and called(call) in _RAISES and call.args:
                yield _other_exception(call)
        if {called(call) for call in calls} <= _OPEN_CONTEXTS:
            yield from self._statements(statement.body)

    def _condition(self, test: ast.expr) -> Iterator[Site]:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for operand in test.values:
                yield from self._condition(operand)
        elif isinstance(test, ast.Compare):
            yield from self._compare(test)
        elif isinstance(test, ast.Call):
            yield from self._all(test)
            yield Site(((test, "not {}"),))
        else:
            yield Site(((test, "not ({})"),))

    def _all(self, test: ast.Call) -> Iterator[Site]:
        """What is asked of every item, where there is one."""
        generator = test.args[0] if len(test.args) == 1 and called(test) == "all" else None
        if isinstance(generator, ast.GeneratorExp | ast.ListComp):
            clause, *more = generator.generators
            if not more and not clause.ifs and self._is_filled(clause.iter):
                self._origins.add_loop(clause.target, clause.iter)
                yield from self._condition(generator.elt)

    def _compare(self, test: ast.Compare) -> Iterator[Site]:
        sides = [test.left, *test.comparators]
        for left, operator, right in zip(sides, test.ops, sides[1:], strict=False):
            if isinstance(operator, ast.Eq) and len(test.ops) == 1:
                yield from self._expects(right, left)
                continue
            if isinstance(operator, ast.In) and len(test.ops) == 1:
                yield _other_member(left, right)
            if not isinstance(operator, ast.NotEq):  # which chance may undo
                yield Site(gap=(left, right, _NEGATED[type(operator)]))

    def _expects(self, right: ast.expr, left: ast.expr) -> Iterator[Site]:
        """What is expected becomes another value: as a literal if it is one, else as it runs."""
        if isinstance(left, ast.Name) and ast.dump(left) == ast.dump(right):
            return
        for side in (right, left):
            spots = [self._literal(side, node) for node in self._origins.find(side)]
            if spots and None not in spots:
                yield Site(tuple(spot for spot in spots if spot), keeps_kind=True)
                return
        nodes = self._origins.find(right) if isinstance(right, ast.Name) else [right]
        yield Site(tuple((node, _OTHER) for node in nodes or [right]), keeps_kind=True)

    def _literal(self, side: ast.expr, node: ast.expr) -> Spot | None:
        return change(node, self._rng, far=called(side) == "approx")

    def _call(self, call: ast.Call) -> Iterator[Site]:
        name = called(call)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name in self._module.helpers and self._is_own(name, owner):
            yield from self._helper(call, self._module.helpers[name])
        elif name in _RAISES and len(call.args) > 1:
            yield _other_exception(call)
        elif owner is not None and self._is_equality(call):
            yield from self._expects(call.args[1], call.args[0])
        elif owner is not None and name in _OPPOSITE:
            if name == "assertTrue" and call.args:
                yield from self._condition(call.args[0])
            if name == "assertIn" and len(call.args) > 1:
                yield _other_member(*call.args[:2])
            yield Site(((call.func, f"{ast.unparse(owner)}.{_OPPOSITE[name]}"),))

    def _is_own(self, name: str, owner: ast.expr | None) -> bool:
        """Whether a function of the file is called, and not a fixture or somebody's method."""
        if owner is not None:
            return ast.unparse(owner) == "self"
        return name not in self._parameters

    def _helper(self, call: ast.Call, helper: Function) -> Iterator[Site]:
        """What a helper asserts; not what a helper of its own does."""
        if self._is_helper:
            return
        names = [parameter.arg for parameter in helper.args.args]
        if names[:1] == ["self"]:
            names = names[1:]
        arguments = dict(zip(names, call.args, strict=False))
        yield from SiteFinder(helper, self._module, self._rng, arguments).find()

    @staticmethod
    def _is_equality(call: ast.Call) -> bool:
        name, exact = called(call), len(call.args) == 2 and not call.keywords
        return (name in _EQUALITIES and len(call.args) > 1) or (
            name == "assertAlmostEqual" and exact
        )

    def _is_filled(self, iterable: ast.expr) -> bool:
        """Whether it surely has an item."""
        if isinstance(iterable, ast.Name) and iterable.id not in self._parameters:
            known = {**self._module.constants, **self._origins.locals}
            iterable = known.get(iterable.id, iterable)
        if isinstance(iterable, ast.Constant):
            return isinstance(iterable.value, str) and bool(iterable.value)
        if isinstance(iterable, ast.Dict):
            return bool(iterable.keys)
        if isinstance(iterable, ast.Call):
            if isinstance(iterable.func, ast.Attribute):
                return iterable.func.attr in _VIEWS and self._is_filled(iterable.func.value)
            parts = iterable.args if called(iterable) in _KEEP_ITEMS else []
            return (bool(parts) and all(map(self._is_filled, parts))) or _is_range(iterable)
        return any(not isinstance(item, ast.Starred) for item in rows_of(iterable))


def _may_leave(statement: ast.stmt) -> bool:
    """Whether what follows may not be reached by a run that passes."""
    kinds = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Try, ast.While, ast.Match)
    if isinstance(statement, Function | ast.ClassDef):
        return False
    nodes = list(ast.walk(statement))
    leaving = any(isinstance(node, kinds) for node in nodes)
    calls = (called(node) for node in nodes if isinstance(node, ast.Call))
    return leaving or any(name in ("skip", "skipTest", "exit") for name in calls)


def _other_exception(call: ast.Call) -> Site:
    """An exception that is none of those expected."""
    raised = call.args[0]
    other = "BlockingIOError" if "Buffer" in ast.unparse(raised) else "BufferError"
    return Site(((raised, other),), keeps_kind=True)


def _other_member(member: ast.expr, container: ast.expr) -> Site:
    """An object that nothing else is equal to, in the place of what isn't the program's."""
    if isinstance(member, ast.Constant):
        return Site(((member, "object()"),), keeps_kind=True)
    return Site(((container, "[object()]"),), keeps_kind=True)


def _is_range(iterable: ast.Call) -> bool:
    values = [arg.value for arg in iterable.args if isinstance(arg, ast.Constant)]
    numbers = [value for value in values if isinstance(value, int)]
    known = called(iterable) == "range" and 0 < len(numbers) == len(iterable.args) <= 3
    return known and bool(range(*numbers) if numbers[2:] != [0] else ())
