"""What the interpreter has imported from which Python programs are forked, by mode.

A hint to the sandbox (`SandboxSpec.preload`): levels without warm interpreters ignore it. What
our runners import, and what solutions import most; a fork has its own copy of all of it.
"""

from __future__ import annotations

from sandboxes.preloads import pytest_modules
from verifier_server.checkers.code.params import AssertsParams, CodeParams, PytestParams

# One set for two modes, so that one kind of box serves both.
_COMMON = (
    *("ast", "bisect", "collections", "contextlib", "copy", "dataclasses", "datetime", "decimal"),
    *("faulthandler", "fcntl", "fractions", "functools", "heapq", "itertools", "json", "math"),
    *("operator", "random", "re", "string", "symtable", "threading", "typing", "warnings"),
)


def preload_for(params: CodeParams) -> tuple[str, ...]:
    """The modules for an item's programs; none where they must not be forks.

    A fork keeps the memory of the launcher that read its standard input, which in `asserts`
    holds the asserts; an interpreter of its own starts with none of that.
    """
    if params.language != "python" or isinstance(params, AssertsParams):
        return ()
    return pytest_modules() if isinstance(params, PytestParams) else _COMMON


__all__ = ["preload_for"]
