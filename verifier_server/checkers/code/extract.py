"""The program in a completion: the last fenced block of its language.

Fences are CommonMark's (spec 0.31, §4.5): three or more backticks or tildes, closed by at
least as many of the same, or by the end of the text. Containers are read leniently: any
indentation, list markers and quote marks may stand before a fence, and what stands before it
is taken off the lines of its block.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import takewhile

from verifier_server.checkers.completion import after_think

# Every repeat of the container's part ends at another character than it starts with, so a
# line is matched in time linear in its length.
_FENCE = re.compile(
    r"^(?P<container>[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*)"
    r"(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$",
    re.MULTILINE,
)
_LANGUAGE = re.compile(r"[\s{.]*([\w+#-]*)")


@dataclass(frozen=True, slots=True)
class Source:
    """A candidate's program.

    Attributes:
        text: the program, with line feeds as line ends.
        fenced: False where it is the whole completion, which then has to parse.
    """

    text: str
    fenced: bool


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block: where its lines are, and what stands before each."""

    language: str
    start: int
    end: int
    container: str


def extract(completion: str, tags: Collection[str]) -> Source | None:
    """The program in the text after the thinking; None where there can be none.

    Args:
        completion: what the model wrote.
        tags: the lower-case names of the language in a fence's info string.
    """
    text = after_think(completion)
    if text is None or not text.strip():
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    tagged: _Block | None = None
    untagged: _Block | None = None
    untagged_count = 0
    for block in _blocks(text):
        if block.language in tags:
            tagged = block
        elif not block.language:
            untagged, untagged_count = block, untagged_count + 1
    chosen = untagged if tagged is None and untagged_count == 1 else tagged
    if chosen is None:
        return Source(text, fenced=False)
    content = _content(text, chosen)
    return Source(content, fenced=True) if content.strip() else None


def _blocks(text: str) -> Iterator[_Block]:
    """All fenced blocks, in order."""
    opening: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opening is None:
            # A backtick in the info string makes it inline code.
            if match["fence"][0] == "~" or "`" not in match["info"]:
                opening = match
        elif _closes(match, opening):
            yield _block(opening, match.start())
            opening = None
    if opening is not None:
        yield _block(opening, len(text))


def _closes(match: re.Match[str], opening: re.Match[str]) -> bool:
    container, indent = match["container"], match["container"].expandtabs(4)
    return (
        match["fence"].startswith(opening["fence"])
        and not match["info"].strip(" \t")
        and not container.strip(" \t>")
        and container.count(">") == opening["container"].count(">")
        # Deeper than this it is a line of the program, say of a docstring.
        and len(indent) <= max(3, len(opening["container"].expandtabs(4)))
    )


def _block(opening: re.Match[str], end: int) -> _Block:
    language = _LANGUAGE.match(opening["info"])
    assert language is not None
    # A list marker stands on the first line alone; below it are as many blanks.
    container = re.sub(r"[^ \t>]", " ", opening["container"])
    start = min(opening.end() + 1, end)
    return _Block(language[1].lower(), start, end, container)


def _content(text: str, block: _Block) -> str:
    content = text[block.start : block.end]
    if not block.container:
        return content
    lines = (line[_shared(line, block.container) :] for line in content.split("\n"))
    return "\n".join(lines)


def _shared(line: str, container: str) -> int:
    """How many characters `line` and `container` have in common at their start."""
    pairs = zip(line, container, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
