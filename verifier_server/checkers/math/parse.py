r"""The text of an answer to its value: lists, sets, intervals, relations, environments.

Splits at the loosest separator and recurses, so that `x<-1 \text{ or } x>3` is two relations
and `(1, \frac12)` one tuple. What is inside one piece is read by `leaves`.
"""

from __future__ import annotations

from verifier_server.checkers.math import environments, tables, words
from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.combinations import put_as_binomials
from verifier_server.checkers.math.faults import Empty, Malformed, Unsupported
from verifier_server.checkers.math.grammar import parse_expression
from verifier_server.checkers.math.labels import is_long_word, read_label
from verifier_server.checkers.math.leaves import parse_leaf, scalar
from verifier_server.checkers.math.numerals import literal, plain
from verifier_server.checkers.math.quantities import joined
from verifier_server.checkers.math.tokens import Kind, Token, tokenize
from verifier_server.checkers.math.values import (
    EMPTY,
    Dots,
    Form,
    Matrix,
    Named,
    Opaque,
    Reals,
    Relation,
    Scalar,
    Several,
    Union_,
    Value,
)

_ZERO, _INFINITY = Scalar(ex.integer(0)), Scalar(ex.INFINITY)
_POSITIVE = Several(Form.TUPLE, (_ZERO, _INFINITY))
_NOT_NEGATIVE = Several(Form.MIXED, (_ZERO, _INFINITY), (True, False))
_REALS: dict[str, Value] = {
    "R": Reals(), "R^+": _POSITIVE, "R_+": _POSITIVE, "R_>0": _POSITIVE, "R_>=0": _NOT_NEGATIVE,
    "R^+_0": _NOT_NEGATIVE, "R_0^+": _NOT_NEGATIVE,
}  # fmt: skip
_EQUATIONS = frozenset({"=", "~="})
_RELATIONS = frozenset({"=", "~=", "<", ">", "<=", ">=", "!=", "in"})
_SEPARATORS = frozenset({",", ";", "or", "and"})
_SHORT_TEXT = 4  # words that may be an answer by themselves
_ANSWER_IS = ("the", "answer", "is")
_LEAD_INS = frozenset({"either", "both"})


def parse(text: str, *, grouped_commas: bool = True) -> Value:
    """The value that this text states. Notation without a form is `Opaque`.

    Raises:
        Malformed: it is no mathematics.
        TooLarge: too long, or nested too deeply.
    """
    number = plain(text) if grouped_commas else None
    if number is not None:
        return Scalar(number)
    if text[1:2] == ")" and "A" <= text[0] <= "Z":
        text = f"({text}"  # the choice "B)"
    return parse_tokens(tokenize(text, grouped_commas=grouped_commas))


def parse_tokens(tokens: list[Token]) -> Value:
    """The same, of tokens.

    Raises:
        Malformed, TooLarge: as above.
    """
    while tokens and tokens[-1].text in (".", ",", ";", "!") and _ends_sentence(tokens):
        tokens = tokens[:-1]
    if not tokens:
        raise Empty("is empty")
    try:
        return _value(put_as_binomials(tokens))
    except Unsupported:
        return Opaque(tuple(t.text for t in tokens))


def _ends_sentence(tokens: list[Token]) -> bool:
    return tokens[-1].text != "!" or tokens[-1].spaced or tokens[-2:-1] == []


def _value(tokens: list[Token]) -> Value:
    tokens = _unwrapped(tokens)
    if not tokens:
        raise Empty("is empty")
    if len(tokens) == 1 and tokens[0].kind is Kind.NUMBER:
        return Scalar(literal(tokens[0].text))
    for reader in (_separated, _union, _relation, _enclosed, _symbol):
        value = reader(tokens)
        if value is not None:
            return value
    return parse_leaf(tokens)


def _unwrapped(tokens: list[Token]) -> list[Token]:
    while len(tokens) > 1 and tokens[0].text == "{" and _matching(tokens) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def _matching(tokens: list[Token]) -> int:
    """Where the bracket that opens these tokens closes."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if depth == 0:
            return at
    return -1


def _split(tokens: list[Token], signs: frozenset[str]) -> tuple[list[list[Token]], list[str]]:
    """The pieces between these signs outside all brackets and environments, and the signs."""
    if not any(token.text in signs and token.kind is Kind.SIGN for token in tokens):
        return [tokens], []
    pieces: list[list[Token]] = [[]]
    found: list[str] = []
    depth = 0
    for token in tokens:
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if token.kind is Kind.STRUCTURE:
            depth += (token.text == "begin") - (token.text == "end")
        if depth == 0 and token.kind is Kind.SIGN and token.text in signs:
            pieces.append([])
            found.append(token.text)
        else:
            pieces[-1].append(token)
    return pieces, found


def _separated(tokens: list[Token]) -> Value | None:
    if tokens[0].kind is Kind.TEXT and tokens[0].text.lower() in _LEAD_INS:
        tokens = tokens[1:]
    kept, signs = _elements(tokens)
    if not signs:
        return None
    if set(signs) == {"and"} and (number := words.spelled_number([t.text.lower() for t in tokens])):
        return Scalar(ex.Num(number))  # one hundred and twenty
    items = tuple(_item(piece) for piece in kept)
    if len(items) == 1:
        return items[0]
    if "or" not in signs and (whole := joined(items)):
        return whole  # 1 hour and 30 minutes
    if "or" in signs:
        return Several(Form.ALTERNATIVES, items)
    return Several(Form.BOTH if set(signs) == {"and"} else Form.LIST, items)


def _elements(tokens: list[Token]) -> tuple[list[list[Token]], list[str]]:
    """The pieces of a list and what separates them; ", and" is one separator."""
    pieces, signs = _split(tokens, _SEPARATORS)
    if signs and not pieces[-1] and signs[-1] in (",", ";"):
        pieces.pop()
    kept = [p for i, p in enumerate(pieces) if p or i in (0, len(pieces) - 1)]
    if len(kept) < len(pieces) - sum(sign in ("or", "and") for sign in signs):
        raise Malformed("has nothing between two commas")
    return kept, signs


def _item(piece: list[Token]) -> Value:
    if not piece:
        raise Malformed("has an empty place in a list")
    return Dots() if [t.text for t in piece] == ["..."] else _value(piece)


def _union(tokens: list[Token]) -> Value | None:
    pieces, signs = _split(tokens, frozenset({"cup", "minus"}))
    if not signs and tokens[0].text == "mathbb":
        pieces, signs = _split(tokens, frozenset({"-"}))  # \mathbb{R}-\{0\}
        signs = ["minus"] * len(signs)
    if not signs:
        return None
    if "minus" in signs[:-1] or not all(pieces):
        raise Unsupported("combines sets in an unusual way")
    values = [_value(piece) for piece in pieces]
    if signs[-1] == "minus":
        return Union_(tuple(values[:-1]), minus=values[-1])
    return Union_(tuple(values))


def _relation(tokens: list[Token]) -> Value | None:
    pieces, signs = _split(tokens, _RELATIONS)
    if not signs:
        return _captioned(tokens)
    if not pieces[0] and len(pieces) == 2 and signs[0] in _EQUATIONS:
        return _value(pieces[1])  # "= 5"
    if not all(pieces):
        raise Malformed(f"has nothing on one side of {signs[0]!r}")
    if signs[0] == "in" and len(signs) == 1:
        return Named("".join(t.text for t in pieces[0]), _value(pieces[1]))
    if not set(signs) <= _EQUATIONS:
        if "in" in signs:
            raise Unsupported("mixes membership with other relations")
        return Relation(tuple(_side(piece) for piece in pieces), tuple(signs))
    name, of = read_label(pieces[0], _side)
    if not name and len(pieces) == 2:
        name, of = read_label(pieces[1], _side)
        if name and not of:
            pieces.reverse()  # 3 = x
        else:
            name = ""
    if not name:
        return Relation(tuple(_side(piece) for piece in pieces), tuple(signs))
    values = tuple(_side(piece) for piece in pieces[1:])
    if not of and any(isinstance(v, Scalar) and name in ex.symbols(v.expr) for v in values):
        return Relation((Scalar(ex.Sym(name)), *values), tuple(signs))  # x = x + 1
    value = values[0] if len(values) == 1 else Relation(values, tuple(signs[1:]))
    return Named(name, value, of)


def _captioned(tokens: list[Token]) -> Value | None:
    r"""`\text{Answer: } 5` and `\text{The answer is } 5`."""
    words = [t.text.lower() for t in tokens[: len(_ANSWER_IS)] if t.kind is Kind.TEXT]
    if tuple(words) == _ANSWER_IS and len(tokens) > len(words):
        return _value(tokens[len(words) :])
    caption, signs = _split(tokens, frozenset({":"}))
    if len(signs) != 1 or not all(caption) or len(caption[0]) > _SHORT_TEXT:
        return None
    words = [t.text.lower() for t in caption[0] if t.kind is Kind.TEXT or is_long_word(t)]
    if len(words) < len(caption[0]) or len(words[0]) == 1:
        return None
    return Named(" ".join(words), _value(caption[1]))


def _side(piece: list[Token]) -> Value:
    """One side of a relation, where `xy` is a product rather than a word."""
    if len(piece) == 1 and piece[0].kind is Kind.WORD and not is_long_word(piece[0]):
        return scalar(parse_expression(piece))
    return _value(piece)


def _enclosed(tokens: list[Token]) -> Value | None:
    """What one pair of brackets encloses: sets, tuples, intervals."""
    if _is_named_point(tokens):
        return Named(tokens[0].text, _value(tokens[1:]))
    if tokens[0].kind is not Kind.OPEN or _matching(tokens) != len(tokens) - 1:
        return None
    opening, closing = tokens[0].text, tokens[-1].text
    inner = tokens[1:-1]
    if opening == "\\{":
        return _set(inner)
    if environments.is_environment(inner):
        return environments.parse_environment(inner, _value)
    pieces, signs = _split(inner, frozenset({",", ";"}))
    if opening == "<|":
        return Several(Form.TUPLE, tuple(_item(p) for p in pieces))
    if opening not in ("(", "["):
        return None
    if not signs:
        if opening == "(" and closing == ")" and len(inner) > 1:
            return _value(inner)
        return None
    closed = (opening == "[", closing == "]")
    form = {(False, False): Form.TUPLE, (True, True): Form.BRACKETS}.get(closed, Form.MIXED)
    return Several(form, tuple(_item(piece) for piece in pieces), closed)


def _is_named_point(tokens: list[Token]) -> bool:
    """`P(2,5)`; what a small letter is called with has no value of its own."""
    if tokens[0].kind is not Kind.NAME or not tokens[0].text.isupper() or len(tokens) < 5:
        return False
    is_whole = tokens[1].text == "(" and _matching(tokens[1:]) == len(tokens) - 2
    return is_whole and len(_split(tokens[2:-1], frozenset({","}))[1]) > 0


def _set(inner: list[Token]) -> Value:
    if not inner:
        return EMPTY
    builder, signs = _split(inner, frozenset({"|", ":"}))
    if len(signs) == 1 and all(builder):
        condition = _value(builder[1])
        if isinstance(condition, Relation | Several | Named):
            return condition
        raise Unsupported("describes a set by a condition")
    pieces, _ = _elements(inner)
    items: list[Value] = []
    for piece in pieces:
        item = _item(piece)
        both = isinstance(item, Several) and item.form is Form.BOTH_SIGNS
        items += item.items if both and isinstance(item, Several) else (item,)
    return Several(Form.SET, tuple(items))


def _symbol(tokens: list[Token]) -> Value | None:
    texts = [t.text for t in tokens]
    if texts == ["empty"]:
        return EMPTY
    if texts[:1] == ["mathbb"]:
        return _REALS.get("".join(text for text in texts[1:] if text not in "{}"))
    if environments.is_environment(tokens):
        return environments.parse_environment(tokens, _value)
    return _scaled_matrix(tokens)


def _scaled_matrix(tokens: list[Token]) -> Value | None:
    """A matrix behind a factor, multiplied out."""
    at = environments.behind_factor(tokens)
    matrix = _value(tokens[at:]) if at else None
    if not isinstance(matrix, Matrix) or matrix.kind:
        return None
    return tables.times(parse_expression(tokens[:at]), matrix)
