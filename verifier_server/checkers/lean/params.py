"""Params of the `lean` checker."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from sandboxes.base import MIB
from verifier_server.checkers.base import Params
from verifier_server.checkers.lean.export.names import parse_name

Tier = Literal["compile", "axioms", "sound"]


class LeanLimits(Params):
    """What each run of Lean may use.

    Attributes:
        time_s: CPU seconds; three times as many wall-clock seconds end it as well.
        memory_bytes: memory, the mapped libraries' part that is its own included.
        output_bytes: of its messages.
    """

    time_s: float = Field(60.0, gt=0, le=3600)
    memory_bytes: int = Field(4096 * MIB, ge=64 * MIB)
    output_bytes: int = Field(4 * MIB, ge=1024, le=64 * MIB)


class TracedRepository(Params):
    """A Lean repository that LeanDojo can trace."""

    url: str
    commit: str = Field(pattern="^[0-9a-f]{40}$")


class LeanParams(Params):
    """A theorem, and how its proof is judged."""

    statement: str | None = Field(
        None, description="`theorem NAME … : …`; without it a file is only compiled"
    )
    header: str = Field(
        "import Mathlib", description="imports, and what else stands above the theorem"
    )
    axioms: tuple[str, ...] = Field(
        ("propext", "Classical.choice", "Quot.sound"),
        description="full names of the axioms that a proof may rest on",
    )
    tier: Tier | Literal["best"] = Field(
        "best", description="best: `sound` where this host has its tools, else `axioms`"
    )
    extraction: Literal["standard", "whole"] = Field(
        "standard",
        description="standard: the last fenced block of Lean after the thinking, else the "
        "whole text; whole: the text as it is",
    )
    limits: LeanLimits = LeanLimits()
    repo: TracedRepository | None = Field(
        None, description="with file_path and full_name: a theorem of this repository"
    )
    file_path: str | None = None
    full_name: str | None = None

    @field_validator("axioms")
    @classmethod
    def _are_names(cls, axioms: tuple[str, ...]) -> tuple[str, ...]:
        for name in axioms:
            parse_name(name)
        return axioms

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.repo is not None:
            if self.statement is not None or not (self.file_path and self.full_name):
                raise ValueError("a `repo` needs `file_path` and `full_name`, and no `statement`")
        elif self.file_path is not None or self.full_name is not None:
            raise ValueError("`file_path` and `full_name` name a theorem of a `repo`")
        elif self.statement is None and self.tier != "compile":
            raise ValueError('without a `statement` there is only the tier "compile"')
        return self


__all__ = ["LeanLimits", "LeanParams", "Tier", "TracedRepository"]
