"""Sets of real numbers: intervals, unions, solved inequalities, compared as sets.

The ends of both sets cut the line into points and open stretches; two sets are equal iff they
hold the same of these.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from verifier_server.checkers.math import exact, identity, numeric
from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import Undefined
from verifier_server.checkers.math.scalars import infinite_sign
from verifier_server.checkers.math.values import (
    Form,
    Named,
    Reals,
    Relation,
    Scalar,
    Several,
    Union_,
    Value,
)

_CLOSE = Fraction(1, 1 << 200)
_INTERVALS = (Form.TUPLE, Form.BRACKETS, Form.MIXED)
_FLIPPED = {">": "<", ">=": "<="}

Contains = Callable[[int], bool]  # of a cell: 2i is the stretch before point i, 2i+1 the point


class NoRealSet(Exception):
    """The value describes no set of real numbers that can be read off."""


@dataclass(slots=True)
class _Line:
    """The ends that occur, in order."""

    ends: list[tuple[Fraction, Expr]] = field(default_factory=list)

    def add(self, end: Expr) -> None:
        if not infinite_sign(end) and self._find(end) is None:
            insort(self.ends, (_place(end), end), key=_by_place)

    def index(self, end: Expr) -> int:
        """Which end it is; -1 and len(ends) for the infinities."""
        sign = infinite_sign(end)
        if sign:
            return -1 if sign < 0 else len(self.ends)
        found = self._find(end)
        assert found is not None, "both sets' ends are added first"
        return found

    def is_finite(self, cell: int) -> bool:
        """Whether the cell holds real numbers."""
        return 0 <= cell <= 2 * len(self.ends)

    def _find(self, end: Expr) -> int | None:
        return next((i for i in self._near(_place(end)) if self._is_same(end, i)), None)

    def _near(self, place: Fraction) -> Iterator[int]:
        """The ends so close that only their expressions can tell them apart."""
        start = bisect_left(self.ends, place, key=_by_place)
        for step, i in ((-1, start - 1), (1, start)):
            while 0 <= i < len(self.ends) and _is_close(place, self.ends[i][0]):
                yield i
                i += step

    def _is_same(self, end: Expr, i: int) -> bool:
        return identity.same(end, self.ends[i][1]) is not False


def _by_place(end: tuple[Fraction, Expr]) -> Fraction:
    return end[0]


def _is_close(place: Fraction, other: Fraction) -> bool:
    return abs(place - other) <= _CLOSE * (1 + abs(place))


def _place(end: Expr) -> Fraction:
    try:
        value = exact.rational(end)
        if value is None:
            value = numeric.real_value(end)
    except Undefined as error:
        raise NoRealSet from error
    if value is None:
        raise NoRealSet
    return value


def describes_reals(value: Value) -> bool:
    """Whether the value has the form of a set of reals (that its ends are numbers or not)."""
    match value:
        case Reals() | Union_():
            return True
        case Several(form, items):
            if form in _INTERVALS:
                return len(items) == 2
            return bool(items) and all(_is_stretch(item, form) for item in items)
        case Relation(_, signs):
            return "=" not in signs
        case Named(_, inner):
            return describes_reals(inner)
    return False


def _is_stretch(item: Value, form: Form) -> bool:
    """Whether a list with this item may be a set of reals: inequalities, or intervals with "or"."""
    if isinstance(item, Several):
        return form is Form.ALTERNATIVES and item.form in _INTERVALS and len(item.items) == 2
    return isinstance(item, Relation) and "=" not in item.signs


def same_reals(gold: Value, answer: Value) -> bool | None:
    """Whether both are the same set; None if either can't be read as one.

    Raises:
        TooLarge: an end can't be evaluated within bounds.
    """
    line = _Line()
    try:
        for value in (gold, answer):
            for end in _ends(value):
                line.add(end)
        first, second = _contains(gold, line), _contains(answer, line)
    except NoRealSet:
        return None
    # From one infinity, which only a bracket that is wrongly closed holds, to the other.
    return all(first(cell) == second(cell) for cell in range(-1, 2 * len(line.ends) + 2))


def _number(value: Value) -> Expr:
    if isinstance(value, Scalar) and not ex.symbols(value.expr):
        return value.expr
    raise NoRealSet


def _ends(value: Value) -> Iterator[Expr]:
    match value:
        case Reals():
            return
        case Several(form, items) if form is Form.SET or form in _INTERVALS:
            yield from (_number(item) for item in items)
        case Several(_, items):
            for item in items:
                yield from _ends(item)
        case Union_(parts, minus):
            for part in (*parts, *((minus,) if minus is not None else ())):
                yield from _ends(part)
        case Named(_, inner):
            yield from _ends(inner)
        case Relation():
            yield from (low_high for low_high in _solved(value)[0] if low_high is not None)
        case _:
            raise NoRealSet


def _contains(value: Value, line: _Line) -> Contains:
    match value:
        case Reals():
            return line.is_finite
        case Several(Form.SET, items):
            points = {2 * line.index(_number(item)) + 1 for item in items}
            return lambda cell: cell in points
        case Several(form, (low, high), closed) if form in _INTERVALS:
            return _between(line, _number(low), _number(high), closed)
        case Several(form, items):
            inner = [_contains(item, line) for item in items]
            cells = range(2 * len(line.ends) + 1)
            overlap = any(all(holds(cell) for holds in inner) for cell in cells)
            if form is Form.BOTH or (form is Form.LIST and overlap):
                return lambda cell: all(holds(cell) for holds in inner)
            # Joined by "or", or by a comma between conditions that exclude each other.
            return lambda cell: any(holds(cell) for holds in inner)
        case Union_(parts, minus):
            union = [_contains(part, line) for part in parts]
            but = _contains(minus, line) if minus is not None else (lambda cell: False)
            return lambda cell: any(contains(cell) for contains in union) and not but(cell)
        case Named(_, inner_value):
            return _contains(inner_value, line)
        case Relation():
            (low_end, high_end, hole), closed_ends = _solved(value)
            if hole is not None:
                at = 2 * line.index(hole) + 1
                return lambda cell: cell != at and line.is_finite(cell)
            minus_infinity = ex.Neg(ex.INFINITY)
            return _between(line, low_end or minus_infinity, high_end or ex.INFINITY, closed_ends)
    raise NoRealSet


def _between(line: _Line, low: Expr, high: Expr, closed: tuple[bool, bool]) -> Contains:
    if line.index(low) > line.index(high):
        raise NoRealSet
    # In cells: an end's own point counts if that end is closed.
    first = 2 * line.index(low) + (1 if closed[0] else 2)
    last = 2 * line.index(high) + (1 if closed[1] else 0)
    return lambda cell: first <= cell <= last


def _is_unknown(side: Value) -> bool:
    """A letter, or the value of a function at one: `0 <= f(x) <= 3` says where f(x) lies."""
    match side:
        case Scalar(ex.Sym()):
            return True
        case Scalar(ex.Func(name, (ex.Sym(),))):
            return name.endswith("()")
    return False


def _solved(
    relation: Relation,
) -> tuple[tuple[Expr | None, Expr | None, Expr | None], tuple[bool, bool]]:
    """(low end, high end, excluded point) and which ends are closed, of a solved inequality."""
    sides, signs = relation.sides, relation.signs
    if all(sign in _FLIPPED for sign in signs):
        sides, signs = sides[::-1], tuple(_FLIPPED[sign] for sign in reversed(signs))
    unknown = [_is_unknown(side) for side in sides]
    if sum(unknown) != 1:
        raise NoRealSet
    at = unknown.index(True)
    if signs == ("!=",):
        return (None, None, _number(sides[1 - at])), (False, False)
    if any(sign not in ("<", "<=") for sign in signs) or len(sides) > 3:
        raise NoRealSet
    low = _number(sides[at - 1]) if at > 0 else None
    high = _number(sides[at + 1]) if at + 1 < len(sides) else None
    if len(sides) == 3 and at != 1:
        raise NoRealSet
    closed = (at > 0 and signs[at - 1] == "<=", at < len(signs) and signs[at] == "<=")
    return (low, high, None), closed
