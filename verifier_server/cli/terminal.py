"""What is written to a terminal. Model output is hostile there too: escapes stay text."""

from __future__ import annotations

from rich.console import Console


def stdout() -> Console:
    """The console of results."""
    return Console(highlight=False, soft_wrap=False)


def stderr() -> Console:
    """The console of progress, reports and errors."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def printable(text: str | None, length: int = 200) -> str:
    """Text from outside on one line of at most `length` characters.

    Control characters, escapes and lone surrogates are spelt out, so that no completion
    moves the cursor, hides a line or breaks the terminal's encoding.
    """
    text = text or ""
    cut = text[:length] + "…" if len(text) > length else text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in cut)
