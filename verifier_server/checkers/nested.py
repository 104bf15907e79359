"""Checks inside a check: what `composite` and `control` share.

A nested check is `{"checker": …, "params": …}`, in the list `parts` or in `of`. It is judged
through `CheckContext.judge`, so no checker imports another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from pydantic import Field, ValidationError

from verifier_server.checkers.base import Checker, Params, Resource
from verifier_server.checkers.registry import get_registry
from verifier_server.checkers.runtime import explain
from verifier_server.errors import BadReference, BrokenChecker, UnknownChecker

MAX_DEPTH = 4
MAX_CHECKS = 64

_WEAKEST_FIRST: tuple[Resource, ...] = ("cpu", "sandbox", "lean")


class Nested(Params):
    """A check by another checker.

    Attributes:
        checker: its name.
        params: its params.
    """

    checker: str
    params: dict[str, Any] = Field(default_factory=dict)

    def prepare(self, name: str) -> None:
        """Looks at the reference as that checker does. Raises BadReference, naming `name`."""
        try:
            checker, params = self._resolved
            checker.prepare(params)
        except ValidationError as error:
            raise BadReference(f"{name}: params: {explain(error)}") from error
        except (BadReference, UnknownChecker) as error:
            raise BadReference(f"{name}: {error}") from error

    def time_budget_s(self) -> float:
        """Seconds that the check may take; only after `prepare`."""
        checker, params = self._resolved
        return checker.time_budget_s(params)

    @cached_property
    def _resolved(self) -> tuple[Checker[Any], Params]:
        checker = get_registry().get(self.checker)
        return checker, checker.Params.model_validate(self.params)


def check_size(params: Mapping[str, Any]) -> None:
    """Bounds the work that params can ask for.

    Raises:
        BadReference: nested deeper than `MAX_DEPTH`, or more than `MAX_CHECKS` in all.
    """
    for count, (depth, _) in enumerate(_walk(params), start=1):
        if depth > MAX_DEPTH:
            raise BadReference(f"checks are nested deeper than {MAX_DEPTH}")
        if count > MAX_CHECKS:
            raise BadReference(f"more than {MAX_CHECKS} nested checks")


def strongest_resource(params: Mapping[str, Any]) -> Resource:
    """The queue that can run every nested check of these raw params.

    Whatever is wrong with them is told when they are judged, in whichever queue.
    """
    found: set[Resource] = {"cpu"}
    for depth, raw in _walk(params):
        if depth > MAX_DEPTH:
            break
        inner = raw.get("params", {})
        if isinstance(inner, Mapping) and not list(_children(inner)):
            try:
                found.add(get_registry().resource_of(raw["checker"], inner))
            except (UnknownChecker, BrokenChecker):
                continue
    return max(found, key=_WEAKEST_FIRST.index)


def _walk(params: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(depth, raw nested check) of all nested checks; without recursion, since not validated."""
    pending = [(1, child) for child in _children(params)]
    while pending:
        depth, raw = pending.pop()
        yield depth, raw
        inner = raw.get("params", {})
        if isinstance(inner, Mapping):
            pending += [(depth + 1, child) for child in _children(inner)]


def _children(params: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    parts = params.get("parts")
    candidates: Iterable[Any] = [params.get("of"), *(parts if isinstance(parts, list) else ())]
    for raw in candidates:
        if isinstance(raw, Mapping) and isinstance(raw.get("checker"), str):
            yield raw
