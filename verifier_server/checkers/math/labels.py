r"""The left side of `x = 3`, `f(t) = t^2`, `\text{Area} = 48`: a name, no part of the value."""

from __future__ import annotations

from collections.abc import Callable

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math.faults import Unsupported
from verifier_server.checkers.math.tokens import Kind, Token
from verifier_server.checkers.math.values import Form, Ratio, Scalar, Several, Text, Value

_PRODUCT_LETTERS = 3  # `Area = 48` labels a value, `xyz = 1` is an equation


def read_label(piece: list[Token], read: Callable[[list[Token]], Value]) -> tuple[str, str]:
    """The name on the left of `=`, and the variable if it is a function's; "" for no name."""
    texts = [t.text for t in piece]
    is_call = texts[-3:-2] == ["("] and piece[0].kind is piece[-2].kind is Kind.NAME
    if is_call and _is_function_name(piece[:-3]):
        return "".join(texts[:-3]), texts[-2]
    if "not" not in texts and all(
        t.kind is Kind.TEXT or is_long_word(t) or t.text in (".", "-") for t in piece
    ):
        return " ".join(texts).lower(), ""
    try:
        side = read(piece)
    except Unsupported:
        return ("" if "not" in texts else " ".join(texts)), ""
    match side:
        case Scalar(ex.Sym(name)):
            return name, ""
        case Scalar(tree) if _is_label(tree):
            return " ".join(texts), ""
        case Ratio(parts) if all(ex.symbols(part) for part in parts):
            return " ".join(texts), ""
        case Several(Form.TUPLE, items) if all(
            isinstance(item, Scalar) and isinstance(item.expr, ex.Sym) for item in items
        ):
            return " ".join(texts), ""
        case Text(words) if "not" not in texts:
            return words, ""
    return "", ""


def _is_function_name(piece: list[Token]) -> bool:
    r"""`f`, `f'`, `f_n` or `f^{-1}` before its argument in brackets."""
    rest = [t.text for t in piece[1:]]
    if rest in ([], ["^", "{", "-", "1", "}"]):
        return True
    return rest[0] in ("'", "_") and all(
        t.text in ("'", "{", "}") or t.kind in (Kind.NAME, Kind.NUMBER) for t in piece[2:]
    )


def _is_label(tree: ex.Expr) -> bool:
    r"""Names that are no single letter: `AB`, `f(2)`, `|AB|`, `\sin\theta`, `\frac{dy}{dx}`."""
    match tree:
        case ex.Func(name, _) if name.endswith("()"):
            return True
        case ex.Func("abs", (inner,)):
            return not isinstance(inner, ex.Sym) and _is_label(inner)
        case ex.Func(_, (ex.Sym(),)):
            return True
        case ex.Mul(factors):
            return all(isinstance(f, ex.Sym) and f.name.isupper() for f in factors)
        case ex.Div(ex.Mul((ex.Sym("d"), ex.Sym())), ex.Mul((ex.Sym("d"), ex.Sym()))):
            return True
        case ex.Div(ex.Mul() as top, ex.Mul() as bottom):
            return _is_label(top) and _is_label(bottom)
    return False


def is_long_word(token: Token) -> bool:
    """Whether it is too long a run of letters to be a product."""
    return token.kind is Kind.WORD and len(token.text) > _PRODUCT_LETTERS
