"""What a checker is: the contract that built-in checkers and plugins share.

A checker is a class with a name, a version, a pydantic model of its params, examples that
it must get right, and `check`. It runs in a worker process that the service can kill, one
item at a time, so it is plain synchronous code without a timeout of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from verifier_server.verdict import Judgement, Outcome

if TYPE_CHECKING:
    from sandboxes.base import SandboxProvider

Resource = Literal["cpu", "sandbox", "lean"]


class Params(BaseModel):
    """Base of every checker's params: unknown fields are an error, numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


P = TypeVar("P", bound=Params)


@dataclass(frozen=True, slots=True)
class Example:
    """A completion whose verdict is known. Checkers carry both accepts and rejects."""

    completion: str
    params: Mapping[str, Any]
    score: float | None
    outcome: Outcome | None = None
    prompt: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What a check may use besides the completion and its params.

    Attributes:
        request_hash: id of this very check; the seed of anything that must look random.
        prompt: what the model was asked, if the caller said.
        judge: judges the same or another completion with another checker, in this process
            (`composite`, `control`); returns that checker's judgement, faults included.
        sandboxes: opens this host's sandbox provider (cached).
            Raises SandboxFault where the host has none.
    """

    request_hash: str
    prompt: str | None
    judge: Callable[[str, str, Mapping[str, Any]], Judgement]
    sandboxes: Callable[[], SandboxProvider]


class Checker(ABC, Generic[P]):
    """Judges one completion. Subclass, fill the class attributes, write `check`.

    Class attributes:
        name: what items call it.
        version: raised whenever a verdict may change; caches and ledgers rely on it.
        Params: pydantic model of `params`.
        resource: the queue it runs in.
        examples: at least one accept and one reject; the first accept is also the probe
            that tells a hostile completion from a broken checker.
        time_limit_s: the longest an item may take before its worker is killed.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    Params: ClassVar[type[Params]]
    resource: ClassVar[Resource] = "cpu"
    examples: ClassVar[Sequence[Example]]
    time_limit_s: ClassVar[float] = 5.0

    def resource_for(self, params: Mapping[str, Any]) -> Resource:
        """The queue for an item with these raw params (`composite` looks at its parts)."""
        return self.resource

    def time_budget_s(self, params: P) -> float:
        """Seconds an item with these params may take (a code item with many tests)."""
        return self.time_limit_s

    def identity(self) -> str:
        """What verdicts depend on beside the version, such as a tool chain; part of the hash."""
        return ""

    def unavailable(self) -> str:
        """Why it can judge nothing on this host, and the remedy; empty where it can."""
        return ""

    def prepare(self, params: P) -> None:
        """Looks at the reference alone, before any completion.

        Raises:
            BadReference: the reference can't be judged against.
        """

    @abstractmethod
    def check(self, completion: str, params: P, ctx: CheckContext) -> Judgement:
        """Judges.

        Raises:
            BadReference: the task is at fault.
            SandboxFault: the sandbox failed by no doing of the candidate.
        """

    def warm(self) -> None:
        """Imports what `check` needs; called once before workers are forked."""


__all__ = ["CheckContext", "Checker", "Example", "Params", "Resource"]
