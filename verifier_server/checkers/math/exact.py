"""Exact evaluation with Python's integers and fractions, refused by size before it is done.

Two uses. Without an environment, the rational that a closed expression is worth. With one,
every unknown and every irrational part stands for a fraction drawn from a hash of what it is:
two expressions that agree there are equal whatever the unknowns are, up to an error of about
degree / 2^32 a draw (Schwartz 1980, Zippel 1979), and nobody can aim at the points, since they
depend on both texts.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from fractions import Fraction

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import TooLarge, Undefined

MAX_BITS = 1 << 15  # of one number: 1987! has 18,886
MAX_WORK = 4 * MAX_BITS**2  # of one evaluation; reducing a fraction of b bits costs about b^2
_SPELLED_BITS = 10**12
MAX_TERMS = 1000  # of a sum that is added up


class Irrational(Exception):
    """There is no environment, and the value is not (known to be) rational."""


@dataclass(slots=True)
class Environment:
    """Values for all that is not rational.

    Attributes:
        seed: any text; another seed gives other values.
        drawn: kinds of what was given a value: `unknown`, `pi`, `e`, `other`.
    """

    seed: str
    drawn: set[str] = field(default_factory=set)

    def draw(self, kind: str, *key: str | Fraction) -> Fraction:
        """The value of this unknown or irrational part: the same for the same key."""
        self.drawn.add(kind)
        spelled = "|".join(
            part if isinstance(part, str) else f"{part.numerator:x}/{part.denominator:x}"
            for part in (self.seed, *key)
        )
        digest = hashlib.blake2b(spelled.encode(errors="replace"), digest_size=8).digest()
        return Fraction(int.from_bytes(digest[:4]) + 2, 1 + digest[4] % 7)


def rational(expr: Expr) -> Fraction | None:
    """The value of a closed expression, or None if it is not rational (or not seen to be).

    Raises:
        TooLarge: it would take more than `MAX_BITS` or `MAX_WORK`.
        Undefined: it divides by zero.
    """
    plain = ex.plain_value(expr)
    if plain is not None:
        return plain
    try:
        return _Evaluator(None).value(expr)
    except Irrational:
        return None


def at_point(expr: Expr, environment: Environment) -> Fraction:
    """The value where unknowns and irrational parts have the environment's values.

    Raises:
        TooLarge, Undefined: as above.
    """
    return _Evaluator(environment).value(expr)


def perfect_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """`base ** exponent` if that is rational. Odd roots of negative numbers are real."""
    index = exponent.denominator
    if base < 0 and index % 2 == 0:
        return None
    parts = [_exact_root(abs(n), index) for n in (base.numerator, base.denominator)]
    if parts[0] is None or parts[1] is None:
        return None
    root = Fraction(parts[0], parts[1])
    return (-root if base < 0 else root) ** exponent.numerator


def _exact_root(n: int, index: int) -> int | None:
    if n < 2:
        return n
    if index > n.bit_length():
        return None
    if index == 2:
        root = math.isqrt(n)
        return root if root * root == n else None
    root = _floor_root(n, index)
    return root if root**index == n else None


def _floor_root(n: int, index: int) -> int:
    root = 1 << -(-n.bit_length() // index)
    while True:
        closer = ((index - 1) * root + n // root ** (index - 1)) // index
        if closer >= root:
            return root
        root = closer


class _Evaluator:
    def __init__(self, environment: Environment | None) -> None:
        self.environment = environment
        self.work = 0

    def value(self, expr: Expr) -> Fraction:
        match expr:
            case ex.Num(value):
                return value
            case ex.Sym(name):
                return self._atom("unknown", "unknown", name)
            case ex.Const("infty"):
                raise Undefined("calculates with infinity")
            case ex.Const(name):
                return self._atom(name if name in ("pi", "e") else "other", "constant", name)
            case ex.Neg(arg):
                return -self.value(arg)
            case ex.Add(terms):
                return self._sum([self.value(term) for term in terms])
            case ex.Mul(factors):
                return self._product([self.value(factor) for factor in factors])
            case ex.Div(num, den):
                return self._quotient(self.value(num), self.value(den))
            case ex.Pow(base, exponent):
                return self._power(self.value(base), exponent)
            case ex.Func(name, args):
                return self._function(name, args)
            case ex.Limiting():
                return self._limiting(expr)
            case _:
                raise Undefined("has two values")

    def _atom(self, kind: str, *key: str | Fraction) -> Fraction:
        if self.environment is None:
            raise Irrational
        return self.environment.draw(kind, *key)

    def _charge(self, bits: int) -> None:
        self.work += bits * bits
        if bits > MAX_BITS or self.work > MAX_WORK:
            about = f"{bits:,}" if bits < _SPELLED_BITS else f"over {_SPELLED_BITS:,}"
            raise TooLarge(f"would take a number of {about} bits")

    def _sum(self, values: list[Fraction]) -> Fraction:
        total = values[0]
        for value in values[1:]:
            self._charge(_bits(total) + _bits(value))
            total += value
        return total

    def _product(self, values: list[Fraction]) -> Fraction:
        total = values[0]
        for value in values[1:]:
            self._charge(_bits(total) + _bits(value))
            total *= value
        return total

    def _quotient(self, num: Fraction, den: Fraction) -> Fraction:
        if not den:
            raise Undefined("divides by zero")
        self._charge(_bits(num) + _bits(den))
        return num / den

    def _power(self, base: Fraction, written: Expr) -> Fraction:
        exponent = self._closed(written)
        if exponent is None:
            return self._atom("other", "power", base, self.value(written))
        if exponent.denominator == 1:
            return self._integer_power(base, int(exponent))
        return self._fractional_power(base, exponent)

    def _closed(self, expr: Expr) -> Fraction | None:
        """The rational that a part without unknowns is worth, environment or not."""
        return self.value(expr) if self.environment is None else rational(expr)

    def _integer_power(self, base: Fraction, exponent: int) -> Fraction:
        if not base and exponent < 0:
            raise Undefined("divides by zero")
        self._charge(_bits(base) * abs(exponent) if base not in (0, 1, -1) else 1)
        return base**exponent

    def _fractional_power(self, base: Fraction, exponent: Fraction) -> Fraction:
        if exponent.denominator != 1 and exponent.denominator <= MAX_BITS:
            self._charge(_bits(base) * max(abs(exponent.numerator), 1))
            if base or exponent > 0:
                root = perfect_power(base, exponent)
                if root is not None:
                    return root
        return self._atom("other", "power", base, exponent)

    def _function(self, name: str, args: tuple[Expr, ...]) -> Fraction:
        values = [self.value(arg) for arg in args]
        literal = all(self._closed(arg) is not None for arg in args)
        match name, values:
            case "sqrt", [x]:
                return self._fractional_power(x, Fraction(1, 2))
            case "root", [x, n] if n.denominator == 1 and n > 0:
                return x if n == 1 else self._fractional_power(x, 1 / n)
            case "percent", [x]:
                return x / 100
            case "degree", [x]:
                return x / 180 * self._atom("pi", "constant", "pi")
            case "factorial", [n] if literal and n.denominator == 1 and n >= 0:
                return self._factorial(int(n))
            case "binomial", [n, k] if literal and n.denominator == k.denominator == 1 and n >= 0:
                return self._binomial(int(n), int(k))
            case (("abs" | "floor" | "ceil"), [x]) if literal:
                whole = math.floor(x) if name == "floor" else math.ceil(x)
                return abs(x) if name == "abs" else Fraction(whole)
            case (("gcd" | "lcm"), _) if literal and all(v.denominator == 1 for v in values):
                operation = math.gcd if name == "gcd" else math.lcm
                self._charge(sum(_bits(v) for v in values))
                return Fraction(operation(*(int(v) for v in values)))
            case (("max" | "min"), [_, _, *_]) if literal:
                return max(values) if name == "max" else min(values)
            case ("ln", [x]) | ("log", [x, _]) if x == 1:
                return Fraction(0)
            case _:
                return self._atom("other", name, *values)

    def _factorial(self, n: int) -> Fraction:
        self._charge(n * max(n.bit_length() - 1, 1))
        return Fraction(math.factorial(n))

    def _binomial(self, n: int, k: int) -> Fraction:
        if not 0 <= k <= n:
            return Fraction(0)
        self._charge(min(k, n - k) * n.bit_length())
        return Fraction(math.comb(n, k))

    def _limiting(self, expr: ex.Limiting) -> Fraction:
        key = ex.spelled(ex.rename(expr, expr.var, "bound"))
        if self.environment is None and expr.kind in ("sum", "prod"):
            bounds = [self._bound(bound) for bound in (expr.low, expr.high) if bound is not None]
            low, high = (None if b is None or b.denominator != 1 else int(b) for b in bounds)
            if low is not None and high is not None and high - low < MAX_TERMS:
                return self._added_up(expr, range(low, high + 1))
        return self._atom("other", key)

    def _bound(self, bound: Expr) -> Fraction | None:
        """The value of a bound; None for infinity."""
        return None if ex.INFINITY in ex.walk(bound) else self.value(bound)

    def _added_up(self, expr: ex.Limiting, indices: range) -> Fraction:
        values = [self.value(substitute(expr.body, expr.var, k)) for k in indices]
        if expr.kind == "sum":
            return self._sum(values or [Fraction(0)])
        return self._product(values or [Fraction(1)])


def substitute(expr: Expr, name: str, n: int) -> Expr:
    """The expression with an integer for an unknown."""
    if isinstance(expr, ex.Sym):
        return ex.integer(n) if expr.name == name else expr
    parts = tuple(substitute(part, name, n) for part in ex.children(expr))
    return ex.with_children(expr, parts)


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())
