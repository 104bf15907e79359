"""Values among which the expected one can't be told, even by who sees them one by one.

They differ from it in one place, picked at random. There each has a neighbour of its own
value, and that value may stand anywhere among them.
"""

from __future__ import annotations

import random
from decimal import Decimal
from string import ascii_lowercase, ascii_uppercase, digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_COUNT = 16
# An honest class may take floats for equal that differ further behind.
_DIGITS = 6
_random = random.SystemRandom()


def siblings(value: Any) -> list[Any]:
    """At most 25, without the value itself; none for a value that has no neighbours."""
    return [sibling for sibling in _family(value) if sibling != value]


def _family(value: Any) -> list[Any]:
    kind = type(value)
    if kind is bool:
        return [False, True]
    if kind is int:
        return _window(value, 10 ** _trailing_zeros(value))
    if kind is float:
        return _floats(value)
    if kind is complex:
        return [complex(real, value.imag) for real in _floats(value.real)]
    if kind is str:
        return _texts(value)
    if kind is bytes:
        texts = _texts(value.decode("latin-1"))
        return [text.encode("latin-1") for text in texts if all(c < "\u0100" for c in text)]
    if kind in (list, tuple):
        return [kind(items) for items in _sequences(list(value))]
    if kind in (set, frozenset):
        sets = [kind(items) for items in _sequences(list(value))]
        return [items for items in sets if len(items) >= len(value)]
    if kind is dict:
        return _mappings(value)
    return []


def _window(value: Any, step: Any) -> list[Any]:
    """Numbers of which each may be the one asked for; all end as it does."""
    start = _random.randrange(_COUNT)
    return [value + (place - start) * step for place in range(_COUNT)]


def _trailing_zeros(value: int) -> int:
    return next((n for n in range(_COUNT) if value % 10 ** (n + 1)), 0)


def _floats(value: float) -> list[float]:
    number = Decimal(repr(value))
    if not number.is_finite():
        return []
    shape = number.normalize() if number else Decimal(1)
    last = max(shape.adjusted() - len(shape.as_tuple().digits), shape.adjusted() - _DIGITS) + 1
    return [float(neighbour) for neighbour in _window(number, Decimal(1).scaleb(last))]


def _texts(text: str) -> list[str]:
    """One character is another of its kind."""
    if not text:
        return ["", *digits]
    places = [place for place, c in enumerate(text) if c.isascii() and c.isalnum()]
    place = _random.choice(places or range(len(text)))
    own = text[place]
    kinds = (digits, ascii_lowercase, ascii_uppercase)
    near = (chr(code) for code in _window(ord(own), 1) if 0 <= code <= 0x10FFFF)
    others = next((kind for kind in kinds if own in kind), near)
    return [text[:place] + other + text[place + 1 :] for other in others]


def _sequences(items: list[Any]) -> list[list[Any]]:
    """One item is another of its kind; where none has others, there are more or fewer."""
    first = _random.randrange(len(items)) if items else 0
    for place in (*range(first, len(items)), *range(first)):
        family = _family(items[place])
        if family:
            return [[*items[:place], other, *items[place + 1 :]] for other in family]
    shortest = max(0, len(items) - _random.randrange(_COUNT))
    longest = items + (items[-1:] or [0]) * _COUNT
    return [longest[:length] for length in range(shortest, shortest + _COUNT)]


def _mappings(items: dict[Any, Any]) -> list[dict[Any, Any]]:
    values = _sequences([*items.values()])
    same_length = [row for row in values if len(row) == len(items)]
    if len(same_length) > 1:
        return [dict(zip(items, row, strict=True)) for row in same_length]
    keys = [row for row in _sequences([*items]) if len({*row}) >= len(items)]
    return [dict(zip(row, [*items.values()] or row, strict=False)) for row in keys]
