"""Matrices and functions by cases."""

from __future__ import annotations

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math import realsets
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import Unsupported
from verifier_server.checkers.math.groups import Matcher
from verifier_server.checkers.math.policy import YES, Match, Policy, no
from verifier_server.checkers.math.values import (
    Cases,
    Form,
    Matrix,
    Reals,
    Scalar,
    Several,
    Value,
)


def match_matrices(gold: Value, answer: Value, policy: Policy, match: Matcher) -> Match:
    """Judges where at least one side is a matrix; the other may be typed as `[[1,2],[3,4]]`."""
    gold, answer = _as_matrix(gold), _as_matrix(answer)
    if not isinstance(gold, Matrix) or not isinstance(answer, Matrix):
        return no("a matrix is no other value")
    shapes = [(len(m.rows), len(m.rows[0]), m.kind) for m in (gold, answer)]
    if shapes[0] != shapes[1]:
        return no("it is a matrix of another shape")
    for golds, answers in zip(gold.rows, answer.rows, strict=True):
        for one, two in zip(golds, answers, strict=True):
            found = match(one, two, policy)
            if not found.ok:
                return no(f"an entry of the matrix differs: {found.why}")
    return YES


def times(factor: Expr, matrix: Matrix) -> Matrix:
    """The matrix with every entry multiplied.

    Raises:
        Unsupported: an entry is no expression.
    """
    return Matrix(tuple(tuple(_multiplied(factor, entry) for entry in row) for row in matrix.rows))


def _multiplied(factor: Expr, entry: Value) -> Scalar:
    if not isinstance(entry, Scalar):
        raise Unsupported("multiplies a matrix of something else than numbers")
    one, two = ex.plain_value(factor), ex.plain_value(entry.expr)
    if one is not None and two is not None:
        return Scalar(ex.Num(one * two))
    if two in (0, 1):
        return Scalar(factor if two else ex.integer(0))
    return Scalar(ex.Mul((factor, entry.expr)))


def match_cases(gold: Cases, answer: Cases, policy: Policy, match: Matcher) -> Match:
    """Judges a function by cases, which may come in any order."""
    if len(gold.rows) != len(answer.rows):
        return no("it has another number of cases")
    unmet, left = [], list(answer.rows)
    for value, condition in gold.rows:
        for row in left:
            if match(value, row[0], policy).ok and _same_condition(
                condition, row[1], policy, match
            ):
                left.remove(row)
                break
        else:
            unmet.append((value, condition))
    if not unmet:
        return YES
    (value, condition), (other, other_condition) = unmet[0], left[0]
    if len(unmet) > 1 or not match(value, other, policy).ok:
        return no("a case differs")
    # One side says "otherwise", which is the rest if the other side's cases leave none.
    stated = answer if condition is None else gold
    is_rest = None in (condition, other_condition) and _covers_reals(stated)
    return YES if is_rest else no("a case differs")


def _same_condition(
    gold: Value | None, answer: Value | None, policy: Policy, match: Matcher
) -> bool:
    if gold is None or answer is None:
        return gold is answer
    return match(gold, answer, policy).ok


def _covers_reals(cases: Cases) -> bool:
    conditions = tuple(condition for _, condition in cases.rows if condition is not None)
    union = Several(Form.ALTERNATIVES, conditions)
    return realsets.describes_reals(union) and realsets.same_reals(Reals(), union) is True


def _as_matrix(value: Value) -> Value:
    """`[[1,2],[3,4]]` as a matrix; other values as they are."""
    if not isinstance(value, Several):
        return value
    rows = [row.items for row in value.items if isinstance(row, Several)]
    forms = {row.form for row in (value, *value.items) if isinstance(row, Several)}
    is_matrix = len(rows) == len(value.items) and forms == {Form.BRACKETS}
    return Matrix(tuple(rows)) if is_matrix and len({len(row) for row in rows}) == 1 else value
