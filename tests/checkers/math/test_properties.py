"""Laws that the equality of answers keeps."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.checkers.math.conftest import ask
from verifier_server.checkers.math import numerals
from verifier_server.checkers.math.parse import parse, parse_tokens
from verifier_server.checkers.math.tokens import tokenize

_rationals = st.fractions(min_value=-1000, max_value=1000, max_denominator=400)
_settings = settings(max_examples=150, deadline=None)


def _terminates(value: Fraction) -> bool:
    denominator = value.denominator
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    return denominator == 1


def _decimal(value: Fraction) -> str:
    """The whole decimal expansion of a terminating fraction, by long division."""
    sign, rest = ("-", -value) if value < 0 else ("", value)
    whole, rest = divmod(rest, 1)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return f"{sign}{whole}.{digits or '0'}"


def notations(value: Fraction) -> list[str]:
    """The value in every notation that holds it exactly."""
    n, d = value.numerator, value.denominator
    sign, size = ("-" if n < 0 else ""), abs(n)
    found = [
        f"{n}/{d}", rf"\frac{{{n}}}{{{d}}}", rf"{sign}\dfrac{{{size}}}{{{d}}}",
        rf"\frac{{{3 * n}}}{{{3 * d}}}", rf"\left({n}/{d}\right)", f"({n})/{d}",
        rf"{sign}\tfrac {{{size}}}{{{d}}}",
    ]  # fmt: skip
    whole, part = divmod(size, d)
    if whole and part:
        found += [rf"{sign}{whole}\frac{{{part}}}{{{d}}}", f"{sign}{whole} {part}/{d}"]
    if _terminates(value):
        decimal = _decimal(value)
        found += [decimal, decimal + "0", decimal.replace("-", "\N{MINUS SIGN}"), f"{decimal}e0"]
        found += [_decimal(value * 100) + r"\%", _decimal(value / 1000) + r"\times 10^{3}"]
    if d == 1:
        found += [str(n), f"{n:,}", f"{n}.0"]
    return found


@given(_rationals)
@_settings
def test_a_rational_equals_itself_in_every_notation(value: Fraction) -> None:
    for gold in notations(value):
        for answer in notations(value):
            if "%" in gold and "%" not in answer:
                continue  # 50% is 0.5, and 50 as well: not a notation of one value
            assert ask(f"\\boxed{{{answer}}}", gold).score == 1, (gold, answer)


@given(_rationals, _rationals)
@_settings
def test_two_rationals_are_equal_as_fractions_are(one: Fraction, two: Fraction) -> None:
    assume(one != two and one != 100 * two and two != 100 * one)
    decimals = _terminates(one) or _terminates(two)
    gold, answer = (
        rf"\frac{{{one.numerator}}}{{{one.denominator}}}",
        f"{two.numerator}/{two.denominator}",
    )
    assert ask(f"\\boxed{{{answer}}}", gold).score == 0
    if decimals and _terminates(two):
        assert ask(f"\\boxed{{{_decimal(two)}}}", gold).score == int(
            not _terminates(one) and _is_rounded(one, _decimal(two))
        )


def _is_rounded(value: Fraction, decimal: str) -> bool:
    digits = decimal.lstrip("-").replace(".", "").lstrip("0")
    places = len(decimal.partition(".")[2])
    return len(digits) >= 6 and abs(value - Fraction(decimal)) <= Fraction(1, 2 * 10**places)


@given(_rationals, st.integers(1, 10**9))
@_settings
def test_a_value_off_by_however_little_is_wrong(value: Fraction, parts: int) -> None:
    off = value + Fraction(1, parts * 10**9)
    gold = f"{value.numerator}/{value.denominator}"
    assert ask(f"\\boxed{{{off.numerator}/{off.denominator}}}", gold).score == 0
    if _terminates(value):
        assert ask(f"\\boxed{{{_decimal(value)[:20]}0000000000001}}", gold).score == 0


@given(st.integers(-(10**30), 10**30), st.integers(-3, 3))
@_settings
def test_integers_compare_exactly_at_any_size(n: int, off: int) -> None:
    assert ask(f"\\boxed{{{n + off}}}", str(n)).score == (off == 0)


# -- polynomials: a list of coefficients by degree in x, written in several ways ------------

_coefficients = st.lists(st.integers(-20, 20), min_size=2, max_size=5)
_roots = st.lists(st.integers(-9, 9), min_size=1, max_size=4)


def _expanded(coefficients: list[int], order: list[int], variable: str = "x") -> str:
    terms = [f"{coefficients[k]}{variable}^{{{k}}}" if k else str(coefficients[k]) for k in order]
    return "+".join(terms).replace("+-", "-")


def _from_roots(roots: list[int]) -> list[int]:
    product = [1]
    for root in roots:
        shifted, scaled = [0, *product], [-root * c for c in product] + [0]
        product = [a + b for a, b in zip(shifted, scaled, strict=True)]
    return product


@given(_coefficients, st.randoms(use_true_random=False))
@_settings
def test_terms_may_come_in_any_order(coefficients: list[int], random: object) -> None:
    order = list(range(len(coefficients)))
    gold = _expanded(coefficients, order)
    random.shuffle(order)  # type: ignore[attr-defined]
    assert ask(f"\\boxed{{{_expanded(coefficients, order)}}}", gold).score == 1


@given(_roots, st.permutations(range(4)))
@_settings
def test_factored_and_expanded_are_equal_both_ways(roots: list[int], order: list[int]) -> None:
    coefficients = _from_roots(roots)
    expanded = _expanded(coefficients, list(range(len(coefficients))))
    factors = [f"(x-{root})".replace("--", "+") for root in roots]
    factored = "".join(factors[k] for k in order if k < len(factors))
    assert ask(f"\\boxed{{{factored}}}", expanded).score == 1
    assert ask(f"\\boxed{{{expanded}}}", factored).score == 1


@given(_coefficients, st.data(), st.sampled_from([1, -1, 7, 10**12]))
@_settings
def test_a_changed_coefficient_is_never_equal(
    coefficients: list[int], data: st.DataObject, off: int
) -> None:
    at = data.draw(st.integers(0, len(coefficients) - 1))
    changed = [c + off * (k == at) for k, c in enumerate(coefficients)]
    order = list(range(len(coefficients)))
    assume(any(coefficients[1:]) or any(changed[1:]))
    assert ask(f"\\boxed{{{_expanded(changed, order)}}}", _expanded(coefficients, order)).score == 0


@given(st.integers(2, 60), st.integers(1, 60), st.integers(0, 80))
@_settings
def test_an_offset_below_any_fixed_precision_is_seen(a: int, b: int, k: int) -> None:
    gold = rf"{b}\sqrt{{{a}}}"
    same = rf"\sqrt{{{a * b * b}}}"
    assert ask(f"\\boxed{{{same}}}", gold).score == 1
    assert ask(f"\\boxed{{{same}+10^{{-{20 + k * 10}}}}}", gold).score == 0


@given(st.lists(st.integers(-99, 99), min_size=2, max_size=7), st.randoms(use_true_random=False))
@_settings
def test_lists_and_sets_forget_order_and_tuples_do_not(items: list[int], random: object) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    gold, answer = ", ".join(map(str, items)), ", ".join(map(str, shuffled))
    assert ask(f"\\boxed{{{answer}}}", gold).score == 1
    assert ask(f"\\boxed{{\\{{{answer}\\}}}}", f"\\{{{gold}\\}}").score == 1
    assert ask(f"\\boxed{{({answer})}}", f"({gold})").score == (items == shuffled)
    assert ask(f"\\boxed{{{answer}}}", gold, list_order="kept").score == (items == shuffled)
    assert ask(f"\\boxed{{{answer}, 100}}", gold).score == 0


_digits = st.from_regex(r"[0-9]{1,20}", fullmatch=True)
_plain = st.one_of(
    st.from_regex(r"-?([0-9]{1,20}(\.[0-9]{1,9})?|\.[0-9]{1,9})", fullmatch=True),
    st.from_regex(r"-?[1-9][0-9]{0,2}(,[0-9]{3}){1,4}", fullmatch=True),
    st.builds("{}{}/{}".format, st.sampled_from(["", "-"]), _digits, _digits),
    st.builds(
        r"{}\{}{{{}{}}}{{{}}}".format, st.sampled_from(["", "-"]),
        st.sampled_from(["frac", "dfrac", "tfrac"]), st.sampled_from(["", "-"]), _digits, _digits,
    ),
)  # fmt: skip


@given(_plain)
@_settings
def test_plain_numbers_are_read_as_the_grammar_reads_them(text: str) -> None:
    assert numerals.plain(text) is not None
    assert parse(text) == parse_tokens(tokenize(text))


# -- laws over values of every form -----------------------------------------------------------

_small = st.integers(-3, 3)
_number = st.one_of(
    _small.map(str),
    st.builds(r"\frac{{{}}}{{{}}}".format, _small, st.integers(1, 3)),
    st.builds(r"{}\sqrt{{{}}}".format, st.integers(1, 2), st.sampled_from([2, 3, 8, 12])),
    st.sampled_from([r"\pi", r"\frac{\pi}{2}", "0.5", r"\sqrt{4}", "2^{-1}"]),
)
_pair = st.tuples(_small, _small).map(sorted)
_ends = st.tuples(st.sampled_from("(["), _pair, st.sampled_from(")]"))
_interval = _ends.map(lambda e: f"{e[0]}{e[1][0]},{e[1][1] + 1}{e[2]}")
_form = st.one_of(
    _number,
    st.builds("({},{})".format, _number, _number),
    st.builds(r"\{{{},{}\}}".format, _number, _number),
    st.builds("{}, {}".format, _number, _number),
    st.builds(r"\pm {}".format, st.integers(1, 3)),
    _interval,
    st.builds(r"{}\cup{}".format, _interval, _interval),
    st.builds("{} < x".format, _small),
    st.builds(r"{} \le x < {}".format, _small, st.integers(4, 6)),
    st.builds("x^2+{}x+{}".format, st.integers(2, 3), st.integers(0, 2)),
    st.builds("(x+{})(x+{})".format, st.integers(0, 2), st.integers(0, 2)),
    st.builds("{}x+{}y={}".format, st.integers(1, 2), st.integers(1, 2), st.integers(0, 2)),
    st.builds(
        r"{} \text{{ {}}}".format, st.sampled_from([1, 10, 100]), st.sampled_from(["cm", "m", "kg"])
    ),
    st.builds("{}:{}".format, st.integers(1, 4), st.integers(1, 4)),
    st.builds("{}_{}".format, st.integers(10, 12), st.integers(3, 4)),
    st.builds("{}+{}i".format, _small, st.integers(1, 2)).map(lambda t: t.replace("+1i", "+i")),
    st.builds(r"\begin{{pmatrix}}{}&{}\end{{pmatrix}}".format, _small, _small),
    st.sampled_from(
        [r"\emptyset", r"\text{yes}", r"\text{no}", r"\infty", r"-\infty", r"\mathbb{R}", "A",
         r"90^\circ"]
    ),
)  # fmt: skip


@given(_form)
@_settings
def test_every_value_equals_itself(text: str) -> None:
    # Not as the same text, which is equal before it is read.
    assert ask(rf"\boxed{{\displaystyle {text}\, }}", text).score == 1


@given(_form, _form)
@settings(max_examples=3000, deadline=None)
def test_equality_does_not_depend_on_which_side_is_the_gold(one: str, two: str) -> None:
    """But for rounding, tolerances and what a gold may leave undone, all of it not in here."""
    assert ask(f"\\boxed{{{one}}}", two).score == ask(f"\\boxed{{{two}}}", one).score
