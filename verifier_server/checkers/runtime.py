"""Runs one check to a judgement, in whatever process it is called.

The one boundary of the product is here: `CheckRuntime.judge` never raises. What a checker
foresees it returns; what the task did wrong is `BadReference`; everything else is a fault of
ours and comes out without a score.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from sandboxes.base import SandboxError, SandboxProvider
from sandboxes.registry import open_provider
from verifier_server.checkers.base import CheckContext
from verifier_server.checkers.registry import Registry, get_registry
from verifier_server.errors import (
    BadReference,
    BrokenChecker,
    SandboxFault,
    UnknownChecker,
    VerifierError,
)
from verifier_server.verdict import Judgement, Outcome

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """All that a judgement depends on, as plain data."""

    checker: str
    completion: str
    params: Mapping[str, Any]
    prompt: str | None = None
    request_hash: str = ""


class CheckRuntime:
    """Judges tasks with the checkers of a registry.

    Args:
        registry: where checkers are looked up.
        open_sandboxes: opens the sandbox provider; called at most once.
    """

    def __init__(self, registry: Registry, open_sandboxes: Callable[[], SandboxProvider]) -> None:
        self._registry = registry
        self._open_sandboxes = open_sandboxes
        self._provider: SandboxProvider | None = None
        # The siblings of a group share their params, and so do the parts of a composite.
        self._prepared_text = lru_cache(maxsize=16)(self._prepare)

    def judge(self, task: Task, on_budget: Callable[[float], None] | None = None) -> Judgement:
        """The judgement of one task. Raises nothing but what ends the process.

        Args:
            task: what to judge.
            on_budget: told the seconds that this check may take, before it starts.
        """
        return boundary(lambda: self._judge(task, on_budget), task.checker)

    def lint(self, task: Task) -> Judgement:
        """The judgement of the task's reference alone: accepted, or why it is no reference."""

        def prepare() -> Judgement:
            self._prepared(task.checker, task.params)
            return Judgement.accept("the reference can be judged against")

        return boundary(prepare, task.checker)

    def warm(self) -> None:
        """Imports what every working checker needs, so that forks of this process have it."""
        for name in self._registry.names():
            try:
                self._registry.get(name).warm()
            except BrokenChecker as error:
                log.error("%s", error)
            # A plugin's code, as its import is: it fails at its own items, not at everyone's.
            except Exception:
                log.exception("checker %s can't be warmed up", name)

    def _judge(self, task: Task, on_budget: Callable[[float], None] | None) -> Judgement:
        checker = self._registry.get(task.checker)
        params = self._prepared(task.checker, task.params)
        if on_budget:
            on_budget(checker.time_budget_s(params))
        context = CheckContext(
            request_hash=task.request_hash,
            prompt=task.prompt,
            judge=lambda name, completion, raw: self.judge(
                replace(task, checker=name, completion=completion, params=raw)
            ),
            sandboxes=self._sandboxes,
        )
        try:
            judgement = checker.check(task.completion, params, context)
        except (MemoryError, RecursionError) as error:
            # The completion was too much for a checker that forgot to bound it. Whether the
            # checker is at fault instead is what the canary tells: see dispatch.
            raise ResourceExhausted(type(error).__name__) from error
        if not isinstance(judgement, Judgement):
            raise TypeError(f"check returned a {type(judgement).__name__}, not a Judgement")
        return judgement

    def _prepared(self, name: str, raw: Mapping[str, Any]) -> Any:
        """Validated params whose reference is good.

        Looked up as text: as values, `True` and `1` would pass for each other.
        """
        return self._prepared_text(name, json.dumps(raw))

    def _prepare(self, name: str, text: str) -> Any:
        checker = self._registry.get(name)
        try:
            params = checker.Params.model_validate(json.loads(text))
        except ValidationError as error:
            raise BadReference(f"params: {explain(error)}") from error
        checker.prepare(params)
        return params

    def _sandboxes(self) -> SandboxProvider:
        if self._provider is None:
            self._provider = self._open_sandboxes()
        return self._provider


def open_runtime(sandbox: str) -> CheckRuntime:
    """A runtime over all installed checkers and the sandbox provider of that name."""
    return CheckRuntime(get_registry(), lambda: open_provider(sandbox))


class ResourceExhausted(VerifierError):
    """A check ran out of memory or stack inside its process."""


def boundary(run: Callable[[], Judgement], checker: str) -> Judgement:
    """Types whatever `run` raises: where a check's every exception ends, ours and a plugin's."""
    try:
        return run()
    except (BadReference, UnknownChecker) as error:
        return Judgement.unscored(Outcome.BAD_REFERENCE, str(error))
    except (SandboxFault, SandboxError) as error:
        log.warning("checker %s: the sandbox failed: %s", checker, error)
        return Judgement.unscored(Outcome.SANDBOX_ERROR, str(error))
    except BrokenChecker as error:
        return Judgement.unscored(Outcome.CHECKER_ERROR, str(error))
    except ResourceExhausted as error:
        return Judgement.reject(
            Outcome.MEMORY_LIMIT, f"judging this completion needs too much memory ({error})"
        )
    except Exception as error:  # noqa: BLE001 - logged without its text, which may be a completion's
        where = "".join(traceback.format_tb(error.__traceback__))
        log.error("checker %s failed: %s\n%s", checker, type(error).__name__, where)
        return Judgement.unscored(
            Outcome.CHECKER_ERROR, f"the checker failed: {type(error).__name__}: {error}"
        )


def explain(error: ValidationError) -> str:
    """A pydantic error as one sentence: each wrong field and what is wrong with it."""
    parts = []
    for detail in error.errors(include_url=False, include_context=False, include_input=False):
        where = ".".join(str(step) for step in detail["loc"])
        parts.append(f"{where}: {detail['msg']}" if where else detail["msg"])
    shown = "; ".join(parts[:5])
    return shown if len(parts) <= 5 else f"{shown}; and {len(parts) - 5} more"
