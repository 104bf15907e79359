r"""Tokens of one expression to its tree: a recursive-descent parser.

Written for what people and models write, not for all of TeX: juxtaposition multiplies,
`\frac12` takes one digit each, `\sin 2x` takes `2x`, `3\frac12` is a mixed number.
"""

from __future__ import annotations

from verifier_server.checkers.math import expr as ex
from verifier_server.checkers.math import lexicon, numerals, structures
from verifier_server.checkers.math.cursor import Cursor, unexpected
from verifier_server.checkers.math.expr import Expr
from verifier_server.checkers.math.faults import Malformed, TooLarge, Unsupported
from verifier_server.checkers.math.tokens import MAX_DEPTH, Kind, Token

_PRODUCT_LETTERS = 4  # longer runs of letters are words, not products
_CALLABLE = frozenset("fghFGH")
_CONSTANTS = frozenset({"pi", "e", "i", "infty"})
_BEHIND = frozenset({"!", "%", "deg", "^"})  # what may stand behind an operand
_INFIX = frozenset({"over", "choose"})
_CLOSERS = {"(": ")", "[": "]", "{": "}", "lfloor": "rfloor", "lceil": "rceil"}


def parse_expression(tokens: list[Token]) -> Expr:
    """The tree of an expression that takes up all the tokens.

    Raises:
        Malformed: it is no complete expression.
        Unsupported: it uses something that the model has no form for.
        TooLarge: it is nested too deeply.
    """
    parser = Parser(tokens)
    tree = parser.whole()
    parser.expect_end()
    return tree


class Parser(Cursor):
    r"""The state of one parse. `structures` uses it for what follows a `\command`."""

    # -- levels of precedence, loosest first -----------------------------------------------

    def whole(self) -> Expr:
        r"""A sum, or two with `\over` or `\choose` between them."""
        above = self.sum()
        if self.next is None or self.next.text not in _INFIX:
            return above
        infix, below = self.take().text, self.sum()
        return ex.Div(above, below) if infix == "over" else ex.Func("binomial", (above, below))

    def sum(self) -> Expr:
        """Terms with signs between them."""
        self.deeper()
        terms = [self.product()]
        while self.sees("+", "-", "pm", "mp"):
            sign = self.take().text
            terms.append(_with_sign(sign, self.product()))
        self.depth -= 1
        return terms[0] if len(terms) == 1 else ex.Add(tuple(terms))

    def product(self) -> Expr:
        """Factors, with or without a sign between them, and divisors."""
        factors = [self.signed()]
        outer = self.depth
        while True:
            if self.take_sign("*"):
                factors.append(self.signed())
            elif self.take_sign("/"):
                self.deeper()  # 1/2/3 is a tree that leans to the left
                factors[:] = [ex.Div(numerals.product(factors), self.signed())]
            elif self.starts_factor():
                self._juxtapose(factors)
            else:
                self.depth = outer
                return numerals.product(factors)

    def _juxtapose(self, factors: list[Expr]) -> None:
        left, starts_with = factors[-1], self.tokens[self.at]
        right = self.power()
        is_number = ex.as_number(left) is not None
        if is_number and len(factors) == 1:
            part = right
            if starts_with.kind is Kind.NUMBER and self.take_sign("/"):
                part = ex.Div(right, self.power())
            mixed = numerals.mixed(left, part)
            if mixed is not None:
                factors[-1] = mixed
                return
        if is_number and starts_with.kind is Kind.NUMBER:
            raise Malformed("has two numbers side by side")
        factors.append(right)

    def signed(self) -> Expr:
        """A power with signs before it."""
        if not self.sees("+", "-", "pm", "mp"):
            return self.power()
        self.deeper()
        sign = self.take().text
        operand = _with_sign(sign, self.signed())
        self.depth -= 1
        return operand

    def power(self) -> Expr:
        """An operand with what stands behind and above it; towers group to the right."""
        base = self.postfix(self.atom())
        if not self.take_sign("^"):
            return base
        self.deeper()
        exponent = self.signed()
        self.depth -= 1
        if isinstance(base, ex.Sym) and self.take_sign("_"):  # x^2_1
            base = ex.Sym(f"{base.name}_{self.subscript()}")
        return self.postfix(ex.Pow(base, exponent))

    def postfix(self, operand: Expr) -> Expr:
        """Factorials, percent and degree signs after an operand."""
        for _ in range(MAX_DEPTH):
            if self.next is None or self.next.text not in _BEHIND:
                return operand
            if self.take_sign("!"):
                operand = ex.Func("factorial", (operand,))
            elif self.take_sign("%"):
                operand = ex.Func("percent", (operand,))
            elif self.take_degree():
                operand = ex.Func("degree", (operand,))
            else:
                return operand
        raise TooLarge("stacks too many signs")

    def take_degree(self) -> bool:
        r"""Takes `°`, `^\circ` or `^{\circ}`."""
        texts = [token.text for token in self.tokens[self.at : self.at + 4]]
        for spelling in (["deg"], ["^", "deg"], ["^", "{", "deg", "}"]):
            if texts[: len(spelling)] == spelling:
                self.at += len(spelling)
                return True
        return False

    # -- operands --------------------------------------------------------------------------

    def starts_factor(self) -> bool:
        """Whether what comes next multiplies what came before without a sign."""
        token = self.next
        if token is None:
            return False
        if token.kind is Kind.SIGN:
            return token.text == "|" and not self.bars
        if token.kind is Kind.STRUCTURE:
            return token.text not in _INFIX
        return token.kind not in (Kind.CLOSE, Kind.TEXT)

    def atom(self) -> Expr:
        """One operand."""
        token = self.take()
        match token.kind:
            case Kind.NUMBER:
                return numerals.number(self, token.text)
            case Kind.NAME:
                return self._name(token.text)
            case Kind.WORD:
                self.at -= 1
                self.tokens[self.at : self.at + 1] = _letters(token)
                return self.atom()
            case Kind.FUNCTION:
                return self.function(token.text)
            case Kind.OPEN:
                return self._group(token.text)
            case Kind.STRUCTURE:
                return structures.parse(self, token.text)
            case Kind.SIGN if token.text == "|":
                return self._absolute()
            case Kind.TEXT if token.text.lower() in lexicon.CONSTANT_WORDS:
                return ex.Sym("constant")
            case _:
                raise unexpected(token)

    def argument(self) -> Expr:
        """What a TeX command takes: a group, or one token, of a number one digit."""
        token = self.next
        if token is None:
            raise Malformed("stops before an argument")
        if token.kind is Kind.NUMBER and len(token.text) > 1 and token.text.isdigit():
            self.tokens[self.at] = token._replace(text=token.text[1:], spaced=False)
            return numerals.literal(token.text[0])
        return self.atom()

    def arguments(self) -> tuple[Expr, ...]:
        """What stands in round brackets, at its commas."""
        self.take()
        outer, self.bars = self.bars, 0
        args = [self.sum()]
        while self.take_sign(",", ";"):
            args.append(self.sum())
        self.bars = outer
        self.close(")")
        return tuple(args)

    def subscript(self) -> str:
        """What follows `_`, as a name."""
        if not self.sees_open("{"):
            return self.take().text
        self.take()
        parts = []
        while (token := self.take()).kind is not Kind.CLOSE:
            if token.kind is Kind.OPEN:
                raise Unsupported("has brackets in a subscript")
            parts.append(token.text)
        return "".join(parts)

    def _name(self, name: str) -> Expr:
        if name in _CONSTANTS and not self.sees("_"):
            return ex.Const(name)
        if self.take_sign("_"):
            name = f"{name}_{self.subscript()}"
        while self.take_sign("'"):
            name += "'"
        if name.rstrip("'") in _CALLABLE and self.sees_open("("):
            return ex.Func(f"{name}()", self.arguments())
        return ex.Sym(name)

    def _group(self, bracket: str) -> Expr:
        if bracket not in _CLOSERS:
            raise Unsupported(f"has {bracket!r} inside an expression")
        outer, self.bars = self.bars, 0
        inner = self.whole()
        self.bars = outer
        self.close(_CLOSERS[bracket])
        if bracket in ("lfloor", "lceil"):
            return ex.Func("floor" if bracket == "lfloor" else "ceil", (inner,))
        return inner

    def _absolute(self) -> Expr:
        self.bars += 1
        inner = self.sum()
        if not self.take_sign("|"):
            raise Malformed("has an unclosed '|'")
        self.bars -= 1
        return ex.Func("abs", (inner,))

    def function(self, name: str) -> Expr:
        """A function's name has been read: its power, its base, its argument."""
        self.deeper()
        base = exponent = None
        if name == "log" and self.take_sign("_"):
            base = self.argument()
        if self.take_sign("^"):
            exponent = self.signed()
        if base is None and name == "log" and self.take_sign("_"):
            base = self.argument()
        args = self.arguments() if self.sees_open("(") else (self._bare_argument(),)
        self.depth -= 1
        if base is not None:
            args = (*args, base)
        if exponent == ex.Neg(ex.integer(1)) and f"arc{name}" in lexicon.FUNCTIONS:
            return ex.Func(f"arc{name}", args)
        call = _call(name, args)
        return call if exponent is None else ex.Pow(call, exponent)

    def _bare_argument(self) -> Expr:
        r"""The `2x` of `\sin 2x`: factors without a sign, up to a bracket or a function."""
        if self.sees("-", "+"):
            return _with_sign(self.take().text, self._bare_argument())
        factors = [self.power()]
        while self._continues_argument():
            factors.append(self.power())
        return numerals.product(factors)

    def _continues_argument(self) -> bool:
        r"""Whether the next token belongs to a bare argument; the `e^x` of `\sin x e^x` doesn't."""
        token = self.next
        if token is None or token.kind not in (Kind.NAME, Kind.NUMBER, Kind.WORD):
            return False
        return self.starts_factor() and token.text != "e"


def _with_sign(sign: str, operand: Expr) -> Expr:
    if sign == "+":
        return operand
    return ex.Neg(operand) if sign == "-" else ex.Sign(operand, flipped=sign == "mp")


def _call(name: str, args: tuple[Expr, ...]) -> Expr:
    if name == "cbrt":
        return ex.Func("root", (*args, ex.integer(3)))
    if name == "exp" and len(args) == 1:
        return ex.Pow(ex.Const("e"), args[0])
    if name in ("lg", "lb") and len(args) == 1:
        return ex.Func("log", (*args, ex.integer(10 if name == "lg" else 2)))
    if name == "log" and len(args) == 1:
        return ex.Func("ln", args)
    return ex.Func(name, args)


def _letters(token: Token) -> list[Token]:
    """A run of letters as tokens: `xy` is a product, `sinx` a call, `banana` neither."""
    word = token.text
    for size in (6, 5, 4, 3, 2):
        name, rest = word[:size], word[size:]
        if name in lexicon.FUNCTIONS and len(rest) == 1:
            function = Token(Kind.FUNCTION, lexicon.FUNCTIONS[name], token.spaced)
            return [function, Token(Kind.NAME, rest, spaced=False)]
    if len(word) > _PRODUCT_LETTERS or not word.isascii():
        raise Unsupported(f"holds the word {word[:20]!r}")
    return [Token(Kind.NAME, letter, token.spaced) for letter in word]
