"""Expressions evaluated by mpmath, with bounds on all that is met on the way."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import TooLarge, Undefined

_MAX_MAGNITUDE = 1 << 13  # |log2| of any value on the way
_MAX_ANGLE = 256  # log2 of what trigonometric functions take
_MAX_GAMMA = 2000
_MAX_TERMS = 300

Number = Any  # mpmath's mpf or mpc


@cache
def context() -> Any:
    """Our own mpmath context; nobody else changes its precision."""
    import mpmath  # type: ignore[import-untyped]

    return mpmath.MPContext()


def is_complex(number: Number) -> bool:
    """Whether it has an imaginary part beyond rounding."""
    imaginary = abs(getattr(number, "imag", 0))
    return bool(imaginary and imaginary > abs(number) * 1e-30)


_UNARY: dict[str, Callable[[Any, Number], Number]] = {
    "ln": lambda mp, x: mp.ln(x), "abs": lambda mp, x: abs(x),
    "floor": lambda mp, x: mp.floor(x), "ceil": lambda mp, x: mp.ceil(x),
    "sgn": lambda mp, x: mp.sign(x), "erf": lambda mp, x: mp.erf(x),
    "arcsin": lambda mp, x: mp.asin(x), "arccos": lambda mp, x: mp.acos(x),
    "arctan": lambda mp, x: mp.atan(x), "arccot": lambda mp, x: mp.acot(x),
    "arcsec": lambda mp, x: mp.asec(x), "arccsc": lambda mp, x: mp.acsc(x),
    "arcsinh": lambda mp, x: mp.asinh(x), "arccosh": lambda mp, x: mp.acosh(x),
    "arctanh": lambda mp, x: mp.atanh(x), "Re": lambda mp, x: mp.re(x),
    "Im": lambda mp, x: mp.im(x), "arg": lambda mp, x: mp.arg(x),
    "percent": lambda mp, x: x / 100, "degree": lambda mp, x: x * mp.pi / 180,
    "sin": lambda mp, x: mp.sin(x), "cos": lambda mp, x: mp.cos(x), "tan": lambda mp, x: mp.tan(x),
    "cot": lambda mp, x: mp.cot(x), "sec": lambda mp, x: mp.sec(x), "csc": lambda mp, x: mp.csc(x),
    "sinh": lambda mp, x: mp.sinh(x), "cosh": lambda mp, x: mp.cosh(x),
    "tanh": lambda mp, x: mp.tanh(x), "coth": lambda mp, x: mp.coth(x),
    "sech": lambda mp, x: mp.sech(x), "csch": lambda mp, x: mp.csch(x),
}  # fmt: skip
_PERIODIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})
_GROWING = frozenset({"sinh", "cosh", "tanh", "coth", "sech", "csch"})


class Evaluator:
    """One evaluation. Notes the size of what it meets, which sets the precision needed."""

    def __init__(self, context: Any, point: dict[str, Any]) -> None:
        self.mp = context
        self.point = point
        self.weight = 0
        self.largest: Number = context.mpf(0)
        self.is_approximate = False
        self.left_reals = False  # on the way to some value

    def value(self, expr: Expr) -> Number:
        """The value at the point.

        Raises:
            Undefined: it has none.
            TooLarge: it, or a part of it, is out of bounds.
        """
        try:
            number = self._value(expr)
        except (ZeroDivisionError, ValueError, OverflowError) as error:
            raise Undefined("has no value") from error
        if not self.mp.isfinite(number):
            raise Undefined("has no finite value")
        self.left_reals = self.left_reals or is_complex(number)
        self.weight += abs(self._magnitude(number))
        return number

    def _magnitude(self, number: Number) -> int:
        if not number:
            return 0
        magnitude = int(self.mp.mag(number))
        if abs(magnitude) > _MAX_MAGNITUDE:
            raise TooLarge(f"has a part beyond 2^{_MAX_MAGNITUDE} or 2^-{_MAX_MAGNITUDE}")
        return magnitude

    def _value(self, expr: Expr) -> Number:
        mp = self.mp
        match expr:
            case ex.Num(exact):
                return self._fraction(exact)
            case ex.Sym(name):
                if name not in self.point:
                    raise Undefined(f"holds the unknown {name}")
                at = self.point[name]
                return self._fraction(at) if isinstance(at, Fraction) else at
            case ex.Const(name):
                return self._constant(name)
            case ex.Neg(arg):
                return -self.value(arg)
            case ex.Add(terms):
                values = [self.value(term) for term in terms]
                self.largest = max(self.largest, *(abs(v) for v in values))
                return mp.fsum(values)
            case ex.Mul(factors):
                return mp.fprod([self.value(factor) for factor in factors])
            case ex.Div(num, den):
                return self.value(num) / self.value(den)
            case ex.Pow(base, exponent):
                return self._power(self.value(base), exponent)
            case ex.Func(name, args):
                return self._function(name, args)
            case ex.Limiting():
                return self._limiting(expr)
            case _:
                raise Undefined("has two values")

    def _fraction(self, exact: Fraction) -> Number:
        return self.mp.mpf(exact.numerator) / exact.denominator

    def _constant(self, name: str) -> Number:
        if name == "infty":
            raise Undefined("calculates with infinity")
        return {"pi": +self.mp.pi, "e": +self.mp.e, "i": self.mp.mpc(0, 1)}[name]

    def _power(self, base: Number, written: Expr) -> Number:
        match written:
            case ex.Div(ex.Num(p), ex.Num(q)) if q.denominator == 1 and q % 2 and not base.imag:
                root = self._real_root(base, int(q))
                return self._raise(root, self._fraction(p))
        return self._raise(base, self.value(written))

    def _raise(self, base: Number, exponent: Number) -> Number:
        if not base:
            if exponent.real > 0:
                return self.mp.mpf(0)
            if exponent:
                raise Undefined("divides by zero")
            return self.mp.mpf(1)
        growth = abs(exponent) * (abs(int(self.mp.mag(base))) + 1)
        if growth > _MAX_MAGNITUDE:
            raise TooLarge("has a power that is too large")
        return self.mp.power(base, exponent)

    def _real_root(self, x: Number, index: int) -> Number:
        if index < 1 or index > _MAX_GAMMA:
            raise Undefined("has a root that is none")
        if not x.imag and x.real < 0 and index % 2:
            return -self.mp.root(-x.real, index)
        return self.mp.root(x, index)

    def _function(self, name: str, args: tuple[Expr, ...]) -> Number:
        mp = self.mp
        values = [self.value(arg) for arg in args]
        match name, values:
            case "sqrt", [x]:
                return mp.sqrt(x)
            case "root", [x, n] if mp.isint(n):
                return self._real_root(x, int(n.real))
            case "log", [x, b]:
                return mp.ln(x) / mp.ln(b)
            case "factorial", [n]:
                if abs(n) > _MAX_GAMMA:
                    raise TooLarge("has a factorial that is too large")
                return mp.factorial(n)
            case "binomial", [n, k]:
                if abs(n) > _MAX_GAMMA or abs(k) > _MAX_GAMMA:
                    raise TooLarge("has a binomial coefficient that is too large")
                return mp.binomial(n, k)
            case (("max" | "min"), [_, _, *_]) if not any(v.imag for v in values):
                return max(values) if name == "max" else min(values)
            case _, [x] if name in _UNARY:
                self._check_argument(name, x)
                self.largest = max(self.largest, abs(x))
                return _UNARY[name](mp, x)
            case _:
                raise Undefined(f"uses {name}")

    def _check_argument(self, name: str, x: Number) -> None:
        limit = _MAX_ANGLE if name in _PERIODIC else 12 if name in _GROWING else _MAX_MAGNITUDE
        if x and self.mp.mag(x) > limit:
            raise TooLarge(f"takes the {name} of too large a number")

    def _limiting(self, expr: ex.Limiting) -> Number:
        if expr.low is None or expr.high is None or ex.has_limiting(expr.body):
            raise Undefined(f"holds a {expr.kind}")
        if expr.kind == "integral":
            return self._integral(expr, self._bound(expr.low), self._bound(expr.high))
        low, high = self.value(expr.low), self.value(expr.high)
        if not self.mp.isint(low) or not self.mp.isint(high) or high - low >= _MAX_TERMS:
            raise TooLarge(f"has a {expr.kind} of too many terms")
        values = [self._at(expr, self.mp.mpf(k)) for k in range(int(low), int(high) + 1)]
        return self.mp.fsum(values) if expr.kind == "sum" else self.mp.fprod(values)

    def _bound(self, bound: Expr) -> Number:
        match bound:
            case ex.Const("infty"):
                return self.mp.inf
            case ex.Neg(ex.Const("infty")):
                return -self.mp.inf
        return self.value(bound)

    def _integral(self, expr: ex.Limiting, low: Number, high: Number) -> Number:
        self.is_approximate = True
        return self.mp.quad(lambda t: self._at(expr, t), [low, high], maxdegree=6)

    def _at(self, expr: ex.Limiting, t: Number) -> Number:
        shadowed = self.point.get(expr.var)
        self.point[expr.var] = t
        inner = self.value(expr.body)
        if shadowed is None:
            del self.point[expr.var]
        else:
            self.point[expr.var] = shadowed
        return inner
