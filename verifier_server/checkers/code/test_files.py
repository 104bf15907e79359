"""Which of a task's files hold tests, by pytest's default patterns, and which tests they are."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fnmatch import fnmatch
from posixpath import basename

from verifier_server.errors import BadReference

_PATTERNS = ("test_*.py", "*_test.py")


def test_files(files: Mapping[str, str]) -> list[str]:
    """The paths to give to pytest; where no name fits its patterns, all that hold tests.

    Raises:
        BadReference: a Python file is no Python, or there is no test.
    """
    sources = [path for path in sorted(files) if path.endswith(".py")]
    named = [path for path in sources if any(fnmatch(basename(path), p) for p in _PATTERNS)]
    found = named or [path for path in sources if _tests(path, files)]
    if not found:
        raise BadReference("params: files: there is no test in them")
    return found


def tests_by_name(path: str, files: Mapping[str, str]) -> list[str]:
    """The ids of the tests in a file that can't be loaded, as far as its text tells."""
    return [f"{path}::{name}" for name in _tests(path, files)]


def _tests(path: str, files: Mapping[str, str]) -> list[str]:
    try:
        tree = ast.parse(files[path])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadReference(f"params: files: {path!r} is no Python: {error}") from error
    found = _named(tree.body)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and _holds_tests(node):
            found += [f"{node.name}::{name}" for name in _named(node.body)]
    return found


def _named(body: list[ast.stmt]) -> list[str]:
    return [
        node.name
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
    ]


def _holds_tests(node: ast.ClassDef) -> bool:
    return node.name.startswith("Test") or any("Test" in ast.unparse(base) for base in node.bases)
