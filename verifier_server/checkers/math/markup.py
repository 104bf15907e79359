"""Markdown, fences, environments and math delimiters around an answer."""

from __future__ import annotations

import re

_BOLD = re.compile(r"(?<!\S)\*\*(?=\S)|(?<=\S)\*\*(?=[\s.,;:]|\Z)")  # `x**2` is a power
_FENCE = re.compile(r"^```[A-Za-z]*\n(?P<inside>.*?)\n?```$", re.DOTALL)
_ENVIRONMENT = re.compile(
    r"^\\begin\{(?P<name>equation|align|gather|displaymath|math)(?P<star>\*?)\}"
    r"(?P<inside>[^\\]*(?:\\(?!end\{|begin\{|\\)[^\\]*)*)\\end\{(?P=name)(?P=star)\}$"
)


def clean(text: str) -> str:
    """The text without Markdown, fences and math delimiters around it."""
    text = text.strip()
    framed = _FENCE.match(text) or _ENVIRONMENT.match(text)
    if framed:
        text = framed.group("inside").strip()
    for _ in range(8):
        before = text
        for opening, closing in (
            ("***", "***"), ("**", "**"), ("__", "__"), ("_", "_"), ("`", "`"),
            ("<b>", "</b>"), ("<strong>", "</strong>"), ("$$", "$$"), ("\\[", "\\]"),
            ("\\(", "\\)"), ("$", "$"), ("*", "*"), ("\\displaystyle", ""),
        ):  # fmt: skip
            if _encloses(text, opening, closing):
                text = text[len(opening) : len(text) - len(closing)].strip()
        if text.endswith((".", ",", ";")) and not text.endswith(("...", "\\,", "\\;", "m.")):
            text = text[:-1].rstrip()
        if text == before:
            break
    return _BOLD.sub(" ", text).strip()


def _encloses(text: str, opening: str, closing: str) -> bool:
    inner = len(text) - len(opening) - len(closing)
    if inner <= 0 or not text.startswith(opening) or not text.endswith(closing):
        return False
    return not closing or text.find(closing, len(opening)) == len(text) - len(closing)
