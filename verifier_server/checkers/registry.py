"""Checkers by name, imported at first use.

Ours and everyone's come by one door: the entry-point group `verifier_server.checkers`,
`name = "module:Class"`. A checker that fails to import is listed as broken with its
traceback; two of one name are an error at start.
"""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, get_args

from verifier_server.checkers.base import Checker, Resource
from verifier_server.errors import BrokenChecker, ConfigError, UnknownChecker
from verifier_server.schemas import CheckerInfo

GROUP = "verifier_server.checkers"


class Registry:
    """Looks checkers up in a table of `name -> "module:Class"`."""

    def __init__(self, targets: Mapping[str, str]) -> None:
        self._targets = dict(targets)
        self._loaded: dict[str, Checker[Any]] = {}
        self._broken: dict[str, BrokenChecker] = {}

    def names(self) -> list[str]:
        """All registered names, broken ones included, sorted."""
        return sorted(self._targets)

    def get(self, name: str) -> Checker[Any]:
        """The checker of that name; the same instance every time.

        Raises:
            UnknownChecker: with the nearest name.
            BrokenChecker: its import failed, now or before.
        """
        if name in self._loaded:
            return self._loaded[name]
        if name in self._broken:
            raise self._broken[name]
        if name not in self._targets:
            raise UnknownChecker(f"no checker {name!r}", remedy=self._suggest(name))
        self._loaded[name] = self._load(name)
        return self._loaded[name]

    def resource_of(self, name: str, params: Mapping[str, Any]) -> Resource:
        """The queue of an item; raises as `get`."""
        return self.get(name).resource_for(params)

    def describe(self, name: str) -> CheckerInfo:
        """What to tell about a checker; a broken one says why. Raises UnknownChecker."""
        try:
            checker = self.get(name)
        except BrokenChecker as error:
            return CheckerInfo(name=name, status="broken", needs=error.trace)
        needs = checker.unavailable()
        return CheckerInfo(
            name=name,
            status="unavailable" if needs else "ok",
            needs=needs,
            version=checker.version,
            summary=(type(checker).__doc__ or "").strip().partition("\n")[0],
            resource=checker.resource,
            params_schema=checker.Params.model_json_schema(),
            examples=[
                {
                    "completion": example.completion,
                    "params": dict(example.params),
                    "score": example.score,
                    "outcome": example.outcome,
                    "note": example.note,
                }
                for example in checker.examples
            ],
        )

    def _load(self, name: str) -> Checker[Any]:
        module, _, attribute = self._targets[name].partition(":")
        try:
            checker: Checker[Any] = getattr(import_module(module), attribute)()
            _check_contract(name, checker)
        # A plugin's import runs code that we did not write: whatever it raises is the
        # plugin's, and must not take the other checkers down.
        except Exception as error:
            broken = BrokenChecker(
                f"checker {name!r} ({self._targets[name]}) can't be loaded: {error!r}",
                trace=traceback.format_exc(),
                remedy="see `verifier-server checkers show " + name + "`",
            )
            self._broken[name] = broken
            raise broken from error
        return checker

    def _suggest(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._targets, n=1)
        return f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(self.names())}"


def _check_contract(name: str, checker: Any) -> None:
    """Raises TypeError if this is no checker of that name: better now than at each item."""
    if not isinstance(checker, Checker):
        raise TypeError("it is no subclass of verifier_server.checkers.base.Checker")
    missing = [
        field for field in ("name", "version", "Params", "examples") if not hasattr(checker, field)
    ]
    if missing:
        raise TypeError(f"it lacks {', '.join(missing)}")
    if checker.name != name:
        raise TypeError(f"it calls itself {checker.name!r}")
    if checker.resource not in get_args(Resource):
        raise TypeError(f"resource {checker.resource!r} is none of {get_args(Resource)}")
    if {True, False} - {example.score == 1 for example in checker.examples}:
        raise TypeError("its examples must have at least one that scores 1 and one that doesn't")


@cache
def get_registry() -> Registry:
    """The registry of all installed checkers.

    Raises:
        ConfigError: two installed packages register the same name.
    """
    targets: dict[str, str] = {}
    for entry in entry_points(group=GROUP):
        if targets.setdefault(entry.name, entry.value) != entry.value:
            raise ConfigError(
                f"checker {entry.name!r} is registered twice: "
                f"{targets[entry.name]} and {entry.value}",
                remedy="uninstall one of the two packages",
            )
    return Registry(targets)
