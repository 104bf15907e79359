"""The judge's side of the function runner's channel.

All that comes over it is hostile. Values are never rebuilt: they are compared where they lie
with the expected value, in one pass that ends at the first difference, so that depth, size
and type of a forged one cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from pydantic import JsonValue

from verifier_server.checkers.code.grading import cut
from verifier_server.checkers.code.params import Tolerance

_HEAD = re.compile(rb"([a-z_]{1,16}) ([0-9]{1,12})\n")
_LINE = re.compile(rb"[^\n]*\n")
_HEX = re.compile(rb"-?[0-9a-f]{1,100}")
_WORDS = {b"n": "null", b"t": "true", b"f": "false"}
_HEAD_START = re.compile(rb"[a-z_]{0,16}(?: [0-9]{0,12})?")
_WATCHDOG = b"Timeout ("
_KINDS = frozenset(
    ("ready", "value", "raised", "not_json", "too_large", "slow", "syntax", "unusable", "end")
)
_SHOWN_TOKENS = 100


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of the runner; `payload` by its kind."""

    kind: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Stream:
    """What came over the channel.

    Attributes:
        frames: the well-formed ones at its start.
        timed_out: whether the runner's watchdog reported where the next would begin.
        forged: whether there is something that the runner never writes.
    """

    frames: list[Frame]
    timed_out: bool
    forged: bool


def read_frames(stream: bytes, most: int) -> Stream:
    """Takes a stream apart; at most `most` frames of it count."""
    frames: list[Frame] = []
    at = 0
    while len(frames) < most:
        head = _HEAD.match(stream, at)
        if head is None:
            break
        end = head.end() + int(head[2])
        if end > len(stream):
            break
        frames.append(Frame(head[1].decode(), stream[head.end() : end]))
        at = end
    timed_out = stream.startswith(_WATCHDOG, at)
    known = all(frame.kind in _KINDS for frame in frames)
    proper = known and (timed_out or _is_cut(stream, at, most, frames))
    return Stream(frames, timed_out, forged=not proper)


def _is_cut(stream: bytes, at: int, most: int, frames: list[Frame]) -> bool:
    """Whether what is left of a stream is nothing, or the start of another frame."""
    if at == len(stream):
        return True
    if len(frames) == most:
        return False
    return bool(_HEAD.match(stream, at) or _HEAD_START.fullmatch(stream[at : at + 40]))


def says(payload: bytes, expected: JsonValue, tolerance: Tolerance | None) -> bool:
    """Whether an encoded value is the expected one.

    Numbers are equal by value, whole or not (2 is 2.0), or within the tolerance; a truth
    value is no number.
    """
    tokens = _tokens(payload)
    stack: list[JsonValue] = [expected]
    while stack:
        want = stack.pop()
        token = next(tokens, b"")
        if isinstance(want, list):
            same = token == b"[%d" % len(want)
            stack.extend(reversed(want))
        elif isinstance(want, dict):
            same = token == b"{%d" % len(want)
            for key in sorted(want, reverse=True):
                stack += (want[key], key)
        elif isinstance(want, str):
            same = token == b"s" + want.encode("unicode_escape")
        elif want is None or isinstance(want, bool):
            same = token == {None: b"n", True: b"t", False: b"f"}[want]
        else:
            same = _number_says(token, want, tolerance)
        if not same:
            return False
    return next(tokens, None) is None


def _number_says(token: bytes, want: int | float, tolerance: Tolerance | None) -> bool:
    try:
        if token[:1] == b"i":
            got: int | float = int(token[1:], 16)
        elif token[:1] == b"d":
            got = float(token[1:])
        else:
            return False
        if got == want:
            return True
        if tolerance is None:
            return False
        allowed = max(tolerance.abs, tolerance.rel * abs(want))
        return abs(float(got) - float(want)) <= allowed
    except (ValueError, OverflowError):
        return False


def show(payload: bytes) -> str:
    """An encoded value as JSON-like text, cut to what a verdict can hold."""
    return cut(_render(islice(_tokens(payload), _SHOWN_TOKENS)))


def _render(tokens: Iterator[bytes]) -> str:
    """The next value; ends in `…` where the tokens do, so no forged count is believed."""
    token = next(tokens, None)
    if token is None:
        return "…"
    kind, body = token[:1], token[1:]
    if kind == b"[" and body.isdigit():
        return f"[{_render_items(tokens, body, _render)}]"
    if kind == b"{" and body.isdigit():
        return f"{{{_render_items(tokens, body, _render_entry)}}}"
    if kind == b"s":
        return f'"{cut(body)}"'
    if kind == b"i" and _HEX.fullmatch(body):
        return str(int(body, 16))
    return _WORDS.get(token) or cut(body)


def _render_items(
    tokens: Iterator[bytes], count: bytes, render: Callable[[Iterator[bytes]], str]
) -> str:
    items: list[str] = []
    for _ in range(min(int(count[:9]), _SHOWN_TOKENS)):
        items.append(render(tokens))
        if items[-1].endswith("…"):
            break
    return ", ".join(items)


def _render_entry(tokens: Iterator[bytes]) -> str:
    key = _render(tokens)
    return f"{key}: {_render(tokens)}"


def _tokens(payload: bytes) -> Iterator[bytes]:
    return (match[0][:-1] for match in _LINE.finditer(payload))
