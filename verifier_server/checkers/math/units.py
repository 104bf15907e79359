"""Units: what follows a number, and what it takes to compare two of them.

Spellings come from a small table here, so that no word is a unit by accident; sizes and
dimensions come from pint, as exact fractions. A noun that the table doesn't know is an opaque
unit: `5 apples` is no `5 pears`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math import lexicon
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import Unsupported
from verifier_server.checkers.math.tokens import Kind, Token

_SYMBOLS = {
    "nm": "nanometer", "mm": "millimeter", "cm": "centimeter", "dm": "decimeter", "m": "meter",
    "km": "kilometer", "in": "inch", "ft": "foot", "yd": "yard", "mi": "mile", "mph": "mph",
    "mg": "milligram", "g": "gram", "kg": "kilogram", "t": "metric_ton", "lb": "pound",
    "lbs": "pound", "oz": "ounce", "s": "second", "sec": "second", "ms": "millisecond",
    "ns": "nanosecond", "min": "minute", "h": "hour", "hr": "hour", "hrs": "hour", "d": "day",
    "l": "liter", "L": "liter", "ell": "liter", "ml": "milliliter", "mL": "milliliter",
    "cL": "centiliter", "cl": "centiliter", "dL": "deciliter", "dl": "deciliter", "gal": "gallon",
    "qt": "quart", "ha": "hectare", "N": "newton", "kN": "kilonewton", "J": "joule",
    "kJ": "kilojoule", "MJ": "megajoule", "eV": "electron_volt", "cal": "calorie",
    "kcal": "kilocalorie", "W": "watt", "kW": "kilowatt", "MW": "megawatt", "kWh": "kilowatt_hour",
    "Wh": "watt_hour", "V": "volt", "mV": "millivolt", "kV": "kilovolt", "A": "ampere",
    "mA": "milliampere", "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
    "Pa": "pascal", "kPa": "kilopascal", "MPa": "megapascal", "atm": "atmosphere", "bar": "bar",
    "psi": "psi", "K": "kelvin", "mol": "mole", "C": "coulomb", "F": "farad", "T": "tesla",
    "Wb": "weber", "Omega": "ohm", "um": "micrometer", "kmh": "kph", "kph": "kph",
    "rpm": "rpm",
}  # fmt: skip
_NAMES = """
    nanometer millimeter centimeter decimeter meter kilometer inch foot yard mile milligram
    gram kilogram pound ounce second millisecond minute hour day week month year decade
    century liter milliliter centiliter deciliter gallon quart pint cup tablespoon teaspoon
    acre hectare newton kilonewton joule kilojoule calorie kilocalorie watt kilowatt
    megawatt volt millivolt ampere hertz kilohertz megahertz pascal kilopascal atmosphere
    kelvin mole coulomb farad tesla weber ohm knot light_year microsecond micrometer micron
"""
_WORDS = {name: name for name in _NAMES.split()}
_WORDS |= {
    "metre": "meter", "centimetre": "centimeter", "millimetre": "millimeter",
    "decimetre": "decimeter", "kilometre": "kilometer", "litre": "liter",
    "millilitre": "milliliter", "centilitre": "centiliter", "inche": "inch", "feet": "foot",
    "gramme": "gram", "tonne": "metric_ton", "kilo": "kilogram", "centurie": "century",
    "amp": "ampere", "sec": "second", "min": "minute", "hr": "hour",
}  # fmt: skip
_CURRENCIES = {
    "$": "dollar", "dollar": "dollar", "USD": "dollar", "buck": "dollar", "€": "euro",
    "euro": "euro", "EUR": "euro", "£": "pound sterling", "GBP": "pound sterling", "¥": "yen",
    "yen": "yen", "JPY": "yen", "rupee": "rupee", "INR": "rupee", "yuan": "yuan", "CNY": "yuan",
    "franc": "franc", "CHF": "franc", "peso": "peso", "ruble": "ruble",
}  # fmt: skip
_CENTS = frozenset({"¢", "cent"})
_ANGLES = {"degree": "degree", "deg": "degree", "radian": "radian", "rad": "radian"}
_DEGREES = frozenset({"deg", "degree", "degrees"})
_TEMPERATURES = {"c": "degC", "f": "degF", "celsius": "degC", "fahrenheit": "degF"}
_POWER_WORDS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_TRAILING_POWERS = {"squared": 2, "cubed": 3}
_GENERIC = frozenset({"unit", "u"})
_MAX_NOUNS = 3
_MAX_POWER = 9
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of measure.

    Attributes:
        name: as explanations call it.
        dimension: units convert into each other iff these are equal.
        scale, offset: value in base units = (value + offset) * scale.
    """

    name: str
    dimension: tuple[tuple[str, Fraction], ...]
    scale: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    @property
    def is_radian(self) -> bool:
        """Whether it measures angles in radians, whose size is irrational in degrees."""
        return self.name == "radian"

    @property
    def is_angle(self) -> bool:
        """Whether it measures angles."""
        return self.dimension == _ANGLE


_ANGLE = (("angle", Fraction(1)),)
DEGREE = Unit("degree", _ANGLE)
RADIAN = Unit("radian", _ANGLE)


def converted(value: Expr, unit: Unit, target: Unit) -> Expr:
    """The value in another unit of the same dimension; decimals keep their digits."""
    if unit == target:
        return value
    if unit.is_radian:
        return ex.Mul((value, ex.Div(ex.integer(180), ex.Const("pi"))))
    if target.is_radian:
        return ex.Div(ex.Mul((value, ex.Const("pi"))), ex.integer(180))
    if unit.offset or target.offset:
        return _shifted(
            _shifted(value, unit.offset, unit.scale), 0, 1 / target.scale, target.offset
        )
    return ex.scaled(value, unit.scale / target.scale)


def _shifted(
    value: Expr, before: Fraction | int, factor: Fraction, after: Fraction = _ZERO
) -> Expr:
    """(value + before) * factor - after."""
    literal = ex.as_number(value)
    if literal is not None:
        return ex.Num((literal + before) * factor - after)
    return ex.Add((ex.scaled(ex.Add((value, ex.Num(Fraction(before)))), factor), ex.Num(-after)))


def currency(sign: str) -> Unit | None:
    """The unit that `$`, `USD` or `¢` stands for; None for any other sign."""
    if sign in _CENTS:
        return Unit("cent", (("dollar", Fraction(1)),), Fraction(1, 100))
    name = _CURRENCIES.get(sign)
    return Unit(name, ((name, Fraction(1)),)) if name else None


def times(unit: Unit, other: Unit) -> Unit:
    """The unit of `$18 per day`."""
    dimension = tuple(sorted((*unit.dimension, *other.dimension)))
    return Unit(f"{unit.name} {other.name}", dimension, unit.scale * other.scale)


def of_primes(count: int) -> Unit:
    """The unit of `5'` (feet) and of `5''` (inches)."""
    return _from_pint("foot" if count == 1 else "inch")


def parse_unit(tokens: list[Token], *, known_only: bool = False) -> Unit | None:
    """The unit that these tokens spell; None for "units", "square units", which say nothing.

    Args:
        tokens: all that follows the number.
        known_only: refuse nouns that the table doesn't know.

    Raises:
        Unsupported: they spell none.
    """
    words = _flat_fraction([t.text for t in tokens])
    try:
        return _known_unit(words)
    except KeyError as unknown:
        if known_only:
            raise Unsupported(f"has {unknown.args[0]!r} after its number") from None
    return _opaque(tokens)


def _flat_fraction(words: list[str]) -> list[str]:
    r"""The `m/s` of `\frac{\text{m}}{\text{s}}`."""
    if words[:1] not in (["frac"], ["dfrac"], ["tfrac"]) or words[1:2] != ["{"]:
        return words
    end = words.index("}")
    return [*words[2:end], "/", *(word for word in words[end + 1 :] if word not in "{}")]


def _opaque(tokens: list[Token]) -> Unit:
    nouns = [t.text.lower() for t in tokens]
    is_noun = all(
        t.kind in (Kind.TEXT, Kind.WORD)
        and len(noun) > 1
        and noun.removesuffix("s") not in lexicon.FRACTION_NOUNS
        and noun not in lexicon.CLAUSE_WORDS
        and noun not in lexicon.NUMBER_WORDS
        and noun not in lexicon.MAGNITUDE_WORDS
        and noun not in lexicon.ORDINAL_WORDS
        for t, noun in zip(tokens, nouns, strict=True)
    )
    if not is_noun or len(nouns) > _MAX_NOUNS:
        raise Unsupported(f"has {' '.join(nouns)[:40]!r} after its number")
    name = " ".join([*nouns[:-1], nouns[-1].removesuffix("s")])
    return Unit(name, ((f"noun:{name}", Fraction(1)),))


def _known_unit(words: list[str]) -> Unit | None:
    """Raises KeyError with the first word that is no unit's."""
    items: list[tuple[str, int]] = []
    sign, pending = 1, 1
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word in ("*", "(", ")", "{", "}", "."):
            continue
        if word in ("/", "per"):
            sign = -1
        elif word == "^" and items:
            power, at = _exponent(words, at)
            items[-1] = (items[-1][0], items[-1][1] * power)
        elif word.lower() in _POWER_WORDS:
            pending = _POWER_WORDS[word.lower()]
        elif word.lower() in _TRAILING_POWERS and items:
            items[-1] = (items[-1][0], items[-1][1] * _TRAILING_POWERS[word.lower()])
        elif word in _DEGREES and at < len(words) and words[at].lower() in _TEMPERATURES:
            items.append((f"deg {words[at]}", sign))
            at += 1
        else:
            items.append((word, sign * pending))
            pending = 1
    if not items:
        raise KeyError(" ".join(words))
    return _compose(items)


def _exponent(words: list[str], at: int) -> tuple[int, int]:
    digits = ""
    while at < len(words) and words[at] in ("{", "}", "-", "+", *"123456789"):
        digits += words[at].strip("{}+")
        at += 1
    if not digits.lstrip("-").isdigit() or len(digits) > 2:
        raise KeyError("^")
    return int(digits), at


def _compose(items: list[tuple[str, int]]) -> Unit | None:
    atoms = [(_atom(word), power) for word, power in items]
    real = [(unit, power) for unit, power in atoms if unit is not None]
    if not real:
        return None
    if len(real) == 1 and real[0][1] == 1:
        return real[0][0]
    scale, dimension = Fraction(1), dict[str, Fraction]()
    for unit, power in real:
        if unit.offset or unit.is_angle or abs(power) > _MAX_POWER:
            raise KeyError(unit.name)
        scale *= unit.scale**power
        for base, exponent in unit.dimension:
            dimension[base] = dimension.get(base, Fraction(0)) + exponent * power
    names = [unit.name if power == 1 else f"{unit.name}^{power}" for unit, power in real]
    left = tuple(sorted((base, e) for base, e in dimension.items() if e))
    return Unit(" ".join(names), left, scale)


@cache
def _atom(word: str) -> Unit | None:
    singular = word.lower()
    if singular not in _WORDS and singular.endswith("s"):
        singular = singular[:-1]
    if singular in _GENERIC and word != "U":
        return None
    if word.startswith("deg "):
        return _from_pint(_TEMPERATURES[word[4:].lower()])
    if singular in _ANGLES:
        return DEGREE if _ANGLES[singular] == "degree" else RADIAN
    for spelling in (word, singular):
        money = currency(spelling)
        if money is not None:
            return money
    if singular in _TEMPERATURES and len(singular) > 1:
        return _from_pint(_TEMPERATURES[singular])
    name = _SYMBOLS.get(word) or _WORDS.get(singular)
    if name is None:
        raise KeyError(word)
    return _from_pint(name)


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(non_int_type=Fraction)


def _from_pint(name: str) -> Unit:
    registry = _registry()
    if name in ("degC", "degF"):
        zero = registry.Quantity(Fraction(0), name).to("kelvin").magnitude
        one = registry.Quantity(Fraction(1), name).to("kelvin").magnitude
        return Unit(name, (("[temperature]", Fraction(1)),), one - zero, zero / (one - zero))
    base = registry.Quantity(Fraction(1), name).to_base_units()
    dimension = tuple(sorted((str(k), Fraction(v)) for k, v in base.dimensionality.items()))
    return Unit(name.replace("_", " "), dimension, Fraction(base.magnitude))


def warm() -> None:
    """Imports pint and reads its definitions."""
    _atom("m")
