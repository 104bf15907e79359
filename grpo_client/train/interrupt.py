"""Ctrl-C ends a run between two steps, where a checkpoint is whole."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass(slots=True)
class StopRequest:
    """Whether the user has asked to stop."""

    asked: bool = False


@contextmanager
def stop_on_interrupt(tell: Callable[[str], None]) -> Iterator[StopRequest]:
    """While entered, the first SIGINT sets `asked`; a second one interrupts at once.

    Raises:
        KeyboardInterrupt: at the second SIGINT.
    """
    request = StopRequest()

    def ask(number: int, frame: FrameType | None) -> None:
        if request.asked:
            raise KeyboardInterrupt
        request.asked = True
        tell("stopping after this step; press Ctrl-C again to stop at once")

    previous = signal.signal(signal.SIGINT, ask)
    try:
        yield request
    finally:
        signal.signal(signal.SIGINT, previous)
