"""What extraction finds: an answer with its place, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

How = Literal["box", "tag", "phrase", "hashes", "whole", "number"]


@dataclass(frozen=True, slots=True)
class Extracted:
    """An answer's text and where it stood.

    Attributes:
        text: the answer, without the markup around it.
        how: the rule that found it.
        span: its place in the completion, in characters.
        alternatives: the texts that the completion offers with it, joined by "or".
        boxes: all boxes, if there are several and the last is the answer.
    """

    text: str
    how: How
    span: tuple[int, int]
    alternatives: tuple[str, ...] = ()
    boxes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """No answer was found, because."""

    why: str
