"""What a text of asserts will do: its statements, and the names it wants of the program.

Used on both sides: the judge looks whether there is anything to run, the runner runs it.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
import warnings

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CHECK = "check"


class Unusable(Exception):
    """The text can't judge anything; says why."""


class Plan:
    """A text of asserts, taken apart.

    Attributes:
        text: the text, with the call of its `check` where there is one to be called.
        statements: top-level statements, in order.
        cases: the statements that assert something when they run; the others set up.
        wanted: names that the program must define.
        modules: names that stand for modules of the standard library.
        imports: modules that the text imports, whatever happens.
    """

    def __init__(self, text: str, function: str | None) -> None:
        """Raises Unusable."""
        self.text = text
        if function is not None and _defines_check(_parse(text)):
            self.text += f"\n\n{_CHECK}({function})\n"
        tree = _parse(self.text)
        self.statements = tree.body
        if not _has_assertion(tree):
            raise Unusable("there is no assertion in it")
        bound = set(_bound(tree.body))
        checks = {n.name for n in tree.body if isinstance(n, _DEFINITIONS) and _has_assertion(n)}
        self.cases = [node for node in tree.body if _asserts(node, checks)]
        if not self.cases:
            raise Unusable('none of its assertions is run: call them, or give "function"')
        _refuse_subclasses(tree, bound)
        self.wanted, self.modules = _free_names(self.text, tree, bound, function)
        self.imports = sorted(set(_imports(tree)))


def _parse(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of `f() is 1` and the like
            compile(text, "<asserts>", "exec", dont_inherit=True)
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unusable(f"it is no Python: {error}") from error


def _defines_check(tree: ast.Module) -> bool:
    """Whether there is a `check(candidate)` that nothing in the text calls."""
    defined = any(isinstance(n, ast.FunctionDef) and n.name == _CHECK for n in tree.body)
    return defined and not any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == _CHECK
        for n in ast.walk(tree)
    )


def _has_assertion(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(tree))


def _asserts(statement: ast.stmt, checks: set[str]) -> bool:
    """Whether a top-level statement asserts when it runs, itself or by calling a check."""
    if isinstance(statement, _DEFINITIONS):
        return False
    return _has_assertion(statement) or any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in checks
        for n in ast.walk(statement)
    )


def _bound(body: list[ast.stmt]) -> list[str]:
    """The names that the text itself binds at its top level."""
    names: list[str] = []
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, _DEFINITIONS):
            names.append(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.alias):
            names.append((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.append(node.name)
        stack.extend(ast.iter_child_nodes(node))
    return names


def _imports(tree: ast.AST) -> list[str]:
    """The imports that no `try` stands around."""
    found: list[str] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
        elif not isinstance(node, ast.Try):
            found += _imports(node)
    return found


def _free_names(
    text: str, tree: ast.Module, bound: set[str], function: str | None
) -> tuple[list[str], list[str]]:
    loaded = _globals(symtable.symtable(text, "<asserts>", "exec")) - bound
    owners = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    alone = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in owners}
    modules = {n for n in loaded - alone if n in sys.stdlib_module_names}
    wanted = {n for n in loaded - modules if not hasattr(builtins, n)}
    if function is not None:
        wanted.add(function)
    # A program may be asked for a function that has a built-in's name; else the asserts mean
    # the built-in, whatever the program calls so.
    if not wanted:
        wanted = {
            n.func.id
            for n in ast.walk(tree)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in loaded
        }
    return sorted(wanted), sorted(modules)


def _globals(table: symtable.SymbolTable) -> set[str]:
    """The names that are read at the top level or, in a function, as global ones."""
    is_top = table.get_type() == "module"
    symbols = (s for s in table.get_symbols() if s.is_referenced() and (is_top or s.is_global()))
    return {s.get_name() for s in symbols}.union(*map(_globals, table.get_children()))


def _refuse_subclasses(tree: ast.Module, bound: set[str]) -> None:
    bases = [(n, b) for n in ast.walk(tree) if isinstance(n, ast.ClassDef) for b in n.bases]
    for node, base in bases:
        known = not isinstance(base, ast.Name) or base.id in bound or hasattr(builtins, base.id)
        if not known:
            raise Unusable(f"its class {node.name!r} is a subclass of one of the program's")
