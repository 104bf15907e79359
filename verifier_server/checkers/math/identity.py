"""Whether two expressions are the same: as written, exactly, then numerically.

Cheapest first, and each step only as far as it can be trusted: agreement at exact points
proves, disagreement there refutes only if nothing but unknowns (and one of pi, e) was drawn.
"""

from __future__ import annotations

from verifier_server.checkers.math import exact, numeric, roots
from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import Undefined

_DRAWS = 2


def same(gold: Expr, answer: Expr) -> bool | None:
    """Whether they are equal wherever both are defined; None where that can't be decided.

    Under square roots unknowns may be taken for positive.

    Raises:
        TooLarge: finding out would cost too much.
    """
    if gold == answer:
        return True
    try:
        found = _exactly(gold, answer)
        if found is not True and ex.symbols(gold):
            simpler = roots.of_positives(gold), roots.of_positives(answer)
            if simpler != (gold, answer):
                return _exactly(*simpler)
    except Undefined:
        return False
    return found


def _exactly(gold: Expr, answer: Expr) -> bool | None:
    seed = f"{ex.spelled(gold)}|{ex.spelled(answer)}"
    drawn: set[str] = set()
    agree = True
    for n in range(_DRAWS):
        environment = exact.Environment(f"{n} {seed}", drawn)
        agree = exact.at_point(gold, environment) == exact.at_point(answer, environment)
        if not agree:
            break
    if agree:
        return True
    # Unknowns are independent of each other and of one transcendental number.
    if drawn <= {"unknown", "pi"} or drawn <= {"unknown", "e"}:
        return False
    return numeric.equal(gold, answer)
