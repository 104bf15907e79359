"""The TeX commands that take arguments: fractions, roots, integrals, sums, limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import Malformed, Unsupported
from verifier_server.checkers.math.tokens import Kind, Token

if TYPE_CHECKING:
    from verifier_server.checkers.math.grammar import Parser

_FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "sfrac"})
_BINOMIALS = frozenset({"binom", "dbinom", "tbinom"})
_ACCENTS = {
    "hat": "hat", "widehat": "hat", "tilde": "tilde", "widetilde": "tilde", "bar": "bar",
    "overline": "bar", "dot": "dot", "mathcal": "mathcal",
}  # fmt: skip


def parse(parser: Parser, name: str) -> Expr:
    """The expression that starts with this command, whose name has been read.

    Raises:
        Malformed: an argument is missing.
        Unsupported: the command has no place inside an expression.
    """
    parser.deeper()
    if name in _FRACTIONS:
        result = _fraction(parser)
    elif name == "sqrt":
        result = _root(parser)
    elif name in _BINOMIALS:
        top = parser.argument()
        result = ex.Func("binomial", (top, parser.argument()))
    elif name == "int":
        result = _integral(parser)
    elif name in ("sum", "prod"):
        result = _iterated(parser, name)
    elif name == "lim":
        result = _limit(parser)
    elif name in _ACCENTS:
        inner = parser.argument()
        if not isinstance(inner, ex.Sym):
            raise Unsupported(f"uses \\{name} over more than a letter")
        index = f"_{parser.subscript()}" if parser.take_sign("_") else ""
        result = ex.Sym(f"{_ACCENTS[name]}:{inner.name}{index}")
    else:
        raise Unsupported(f"uses \\{name} inside an expression")
    parser.depth -= 1
    return result


def _fraction(parser: Parser) -> Expr:
    variable = _derivative_by(parser)
    if variable is not None:
        return ex.Limiting("derivative", parser.product(), variable)
    top = parser.argument()
    return ex.Div(top, parser.argument())


def _derivative_by(parser: Parser) -> str | None:
    r"""Takes the groups of `\frac{d}{dx}` and tells the variable, if they are that."""
    texts = [token.text for token in parser.tokens[parser.at : parser.at + 8]]
    by = texts[4] if texts[:4] == ["{", "d", "}", "{"] and texts[5:6] == ["}"] else ""
    if len(by) == 2 and by.startswith("d"):
        parser.at += 6
        return by[1]
    if texts[:5] == ["{", "partial", "}", "{", "partial"] and texts[6:7] == ["}"]:
        parser.at += 7
        return texts[5]
    return None


def _root(parser: Parser) -> Expr:
    index = None
    if parser.sees_open("["):
        parser.take()
        index = parser.sum()
        parser.close("]")
    token = parser.next
    # \sqrt16 means the root of 16 to whoever wrote it, whatever TeX makes of it.
    whole_number = token is not None and token.kind is Kind.NUMBER
    radicand = parser.atom() if whole_number else parser.argument()
    if index is None:
        return ex.Func("sqrt", (radicand,))
    return ex.Func("root", (radicand, index))


def _bounds(parser: Parser) -> tuple[Expr | None, Expr | None]:
    low = high = None
    for _ in range(2):
        if parser.take_sign("_"):
            low = _bound(parser)
        elif parser.take_sign("^"):
            high = _bound(parser)
    return low, high


def _bound(parser: Parser) -> Expr:
    return parser.signed() if parser.sees("-", "+") else parser.atom()


def _integral(parser: Parser) -> Expr:
    low, high = _bounds(parser)
    body, variable = _integrand(parser)
    if low is None and high is None:
        return ex.Limiting("primitive", body, variable)
    if low is None or high is None:
        raise Malformed("has an integral with one bound")
    return ex.Limiting("integral", body, variable, low, high)


def _integrand(parser: Parser) -> tuple[Expr, str]:
    """What stands between the sign and its `dx`."""
    depth, start = 0, parser.at
    for at in range(start, len(parser.tokens)):
        token = parser.tokens[at]
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if depth < 0:
            break
        following = parser.tokens[at + 1] if at + 1 < len(parser.tokens) else None
        differential = _differential(token, following)
        if depth == 0 and differential is not None:
            variable, used, before = differential
            inner = [*parser.tokens[start:at], *before]
            parser.at = at + used
            return _sub_expression(parser, inner), variable
    raise Unsupported("has an integral without a differential at its end")


def _differential(token: Token, following: Token | None) -> tuple[str, int, list[Token]] | None:
    """The variable of `dx`, `d x` or `xdx`, the tokens it takes, and what came before it."""
    text = token.text
    if token.kind is Kind.NAME and text == "d":
        if following is not None and following.kind is Kind.NAME:
            return following.text, 2, []
    elif token.kind in (Kind.WORD, Kind.TEXT) and len(text) > 1 and text[-2] == "d":
        before = [Token(Kind.NAME, letter, spaced=False) for letter in text[:-2]]
        return text[-1], 1, before
    return None


def _sub_expression(parser: Parser, tokens: list[Token]) -> Expr:
    if not tokens:
        return ex.integer(1)
    inner = type(parser)(tokens, parser.depth)
    tree = inner.sum()
    inner.expect_end()
    return tree


def _iterated(parser: Parser, kind: str) -> Expr:
    if not parser.take_sign("_") or not parser.sees_open("{", "("):
        raise Unsupported(f"has a {kind} without its range")
    closing = "}" if parser.take().text == "{" else ")"
    variable = parser.take()
    if variable.kind is not Kind.NAME or not parser.take_sign("="):
        raise Unsupported(f"has a {kind} over something else than a range")
    low = parser.sum()
    parser.close(closing)
    if not parser.take_sign("^"):
        raise Unsupported(f"has a {kind} without an end")
    high = _bound(parser)
    # `i` counts here; it is no imaginary unit.
    body = _unbind_constant(parser.product(), variable.text)
    return ex.Limiting(kind, body, variable.text, low, high)


def _unbind_constant(body: Expr, name: str) -> Expr:
    if body == ex.Const(name):
        return ex.Sym(name)
    parts = tuple(_unbind_constant(part, name) for part in ex.children(body))
    return ex.with_children(body, parts)


def _limit(parser: Parser) -> Expr:
    if not parser.take_sign("_") or not parser.sees_open("{"):
        raise Unsupported("has a limit without its point")
    parser.take()
    variable = parser.take()
    if variable.kind is not Kind.NAME or not parser.take_sign("to"):
        raise Unsupported("has a limit without its point")
    kind = "limit"
    inner: list[Token] = []
    while not (parser.next is not None and parser.next.text == "}"):
        inner.append(parser.take())
        if parser.sees_open("{"):
            raise Unsupported("has a limit at a point in braces")
    parser.take()
    if len(inner) > 2 and inner[-2].text == "^" and inner[-1].text in ("+", "-"):
        kind += inner[-1].text
        inner = inner[:-2]
    point = _sub_expression(parser, inner)
    return ex.Limiting(kind, parser.product(), variable.text, point)
