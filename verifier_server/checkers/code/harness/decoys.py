"""Values that are not the one expected, though of its kind.

Tests whose expected values are known only as they run take theirs from here, see `mutants`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def other(value: Any) -> Any:
    """A value that an honest one, equal to `value`, is not equal to."""
    kind = type(value)
    if kind is bool:
        return not value
    if kind in (int, float, complex):
        return value + abs(value) + 1
    if kind in (str, bytes):
        zero, one = ("0", "1") if kind is str else (b"0", b"1")
        return value[:-1] + (one if value[-1:] == zero else zero)
    if kind in (list, tuple):
        return kind([*value[:-1], other(value[-1])]) if value else kind([0])
    if kind in (set, frozenset):
        return value | {max(map(hash, value), default=0) + 1}
    if kind is dict:
        *rest, last = value.items() or [(0, 0)]
        return {**dict(rest), last[0]: other(last[1])} if value else {0: 0}
    return _other_number(value, kind)


def _other_number(value: Any, kind: Any) -> Any:
    if kind.__module__ == "_pytest.python_api" and hasattr(value, "expected"):
        return _other_approximation(value)
    for module, name in (("decimal", "Decimal"), ("fractions", "Fraction")):
        if kind is getattr(sys.modules.get(module), name, None):
            return value + 1
    return object()


def _other_approximation(approx: Any) -> Any:
    """Numbers that lie out of reach of every tolerance of a `pytest.approx`."""

    def far(number: Any) -> Any:
        if type(number) not in (int, float):
            return other(number)
        return number + 1 + 4 * ((approx.abs or 0) + (1 + (approx.rel or 0)) * abs(number))

    expected = approx.expected
    if type(expected) is dict:
        return {key: far(number) for key, number in expected.items()}
    if type(expected) in (list, tuple):
        return type(expected)(far(number) for number in expected)
    return far(expected)
