"""Text to tokens, in one pass that is linear in the text.

LaTeX, Unicode and typed mathematics end in one alphabet (`lexicon`), so that the parsers never
see a spelling. Length and nesting are capped here, before anything recurses or evaluates.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from verifier_server.checkers.math import lexicon
from verifier_server.checkers.math.brackets import turned_inwards
from verifier_server.checkers.math.faults import Malformed, TooLarge

MAX_CHARS = 8192
MAX_TOKENS = 2000
MAX_DEPTH = 40


class Kind(Enum):
    """What a token is."""

    NUMBER = "number"
    NAME = "name"  # one letter, a Greek letter, a named constant
    WORD = "word"  # several letters that no table knows
    TEXT = "text"  # letters inside \text{…}: never a product
    FUNCTION = "function"
    STRUCTURE = "structure"  # \frac, \sqrt, \begin …
    SIGN = "sign"
    OPEN = "open"
    CLOSE = "close"


class Token(NamedTuple):
    """`text` is canonical; `spaced` tells whether blanks came before it."""

    kind: Kind
    text: str
    spaced: bool


_SCAN = re.compile(
    r"""
      (?P<space>[ \t\r\n]+|~)
    | (?P<number>\d+(?:(?:\{,\}|\\[,!;: ]|,\\![ ]?|[, ~])\d+)*+(?:\.\d+)?|\.\d+)
    | (?P<command>\\(?:operatorname\*|[A-Za-z]+|.))
    | (?P<half>[ap]\.[ ]?m\b\.?)
    | (?P<letters>[^\W\d_]+)
    | (?P<sign>\*\*|:=|<=|>=|!=|==|~=|->|=>|\.\.\.+|[-+*/^_=<>!'%$€£¥¢|,;:&.?"`@\#])
    | (?P<bracket>[()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
# What is white on white is hidden, and no answer.
_COLOUR = re.compile(r"\s{0,9}\{(?!(?i:white|transparent|none))[A-Za-z]{1,30}\}")
_PREFIXED = re.compile(r"([xX](?=[0-9a-fA-F])|[bB](?=[01])|[oO](?=[0-7]))([0-9a-fA-F]+)(?!\w)")
_PREFIXES = {"x": "16", "b": "2", "o": "8"}  # of numerals like 0x1F
_EXPONENT = re.compile(r"[eE][+-]?\d+(?![\d.])")
_BARE_DOLLAR = re.compile(r"(?<!\\)\$")
_SEPARATOR = re.compile(r"\{,\}|\\[,!;: ]|,\\! ?|[, ~]")
_RELATION = re.compile(r" ?(?:[=<>]|\\(?:le|ge|lt|gt|ne|approx)(?![a-df-pr-z]))")
_BLANKS = (" ", "~", "\\ ", "\\;", "\\:")
_RAISED_O = re.compile(r"\^(?:o(?![A-Za-z])|\{o\}|\{\\(?:text|mathrm)\{o\}\})")  # for a degree sign
_TYPED_UNION = re.compile(r"(?<=[)\]}])[ ]?U[ ]?(?=[(\[{\\])")
_SIGN_OF = {"**": "^", "==": "=", ":=": "=", "->": "to", "=>": "implies"}
_PAIRS = {")": "(", "]": "[", "}": "{", r"\}": r"\{", "|>": "<|", "rfloor": "lfloor"}
_PAIRS |= {"rceil": "lceil"}
_OPENERS = frozenset(_PAIRS.values())
_TYPED_SUMS = frozenset({"sum", "prod"})  # sum_(k=1)^n
_TYPED_CONSTANTS = {"pi": "pi", "Pi": "pi", "PI": "pi", "infty": "infty", "theta": "theta"}
_TYPED_CONSTANTS |= {name: name for name in ("alpha", "beta", "gamma", "lambda", "phi", "omega")}
_TYPED_CONSTANTS |= {"sigma": "sigma", "delta": "delta", "oo": "infty", "inf": "infty"}
_TYPED_CONSTANTS |= {"Inf": "infty", "infinity": "infty", "Infinity": "infty"}


def tokenize(text: str, *, grouped_commas: bool = True) -> list[Token]:
    """The tokens of one answer.

    Args:
        text: at most `MAX_CHARS` characters.
        grouped_commas: whether `1,234` outside brackets is one number. Inside brackets a bare
            comma always separates.

    Raises:
        Malformed: brackets don't match, or a character has no meaning.
        TooLarge: too long or nested too deeply.
    """
    if len(text) > MAX_CHARS:
        raise TooLarge(f"is {len(text)} characters long; at most {MAX_CHARS} are read")
    text = turned_inwards(_plain(_without_delimiters(text)))
    text = _TYPED_UNION.sub(r"\\cup ", _RAISED_O.sub(r"^\\circ ", text))
    return _Tokenizer(text, grouped_commas).run()


def _without_delimiters(text: str) -> str:
    """Dollars in pairs delimit mathematics; a single one is money."""
    bare = _BARE_DOLLAR.findall(text)
    return text if len(bare) % 2 else _BARE_DOLLAR.sub(" ", text)


def _plain(text: str) -> str:
    """The text with Unicode spellings replaced by ASCII ones."""
    text = text.replace("{:}", ":")
    if text.isascii():
        return text
    out: list[str] = []
    script = ""
    for char in text:
        table = "^" if char in lexicon.SUPERSCRIPTS else "_" if char in lexicon.SUBSCRIPTS else ""
        if table != script:
            out.append("}" if script else "")
            out.append(table + "{" if table else "")
            script = table
        if table:
            char = lexicon.SUPERSCRIPTS.get(char) or lexicon.SUBSCRIPTS[char]
        out.append(lexicon.UNICODE_SIGNS.get(char, char))
    return "".join(out) + ("}" if script else "")


class _Tokenizer:
    def __init__(self, text: str, grouped_commas: bool) -> None:
        self.text = text
        self.grouped_commas = grouped_commas
        self.at = 0
        self.tokens: list[Token] = []
        self.spaced = False
        self.environments = 0  # that are open
        self.open: list[str] = []
        self.text_depths: list[tuple[int, bool]] = []  # brace depth of each open \text, is upright

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            match = _SCAN.match(self.text, self.at)
            if match is None:
                raise Malformed(f"holds the character {self.text[self.at]!r}")
            self.at = match.end()
            getattr(self, f"_{match.lastgroup}")(match.group())
            if len(self.tokens) > MAX_TOKENS:
                raise TooLarge(f"has more than {MAX_TOKENS} parts")
        if self.environments:
            raise Malformed("has an environment that doesn't end")
        if self.open:
            raise Malformed(f"has an unclosed {self.open[-1]!r}")
        return self.tokens

    def _emit(self, kind: Kind, text: str) -> None:
        self.tokens.append(Token(kind, text, self.spaced))
        self.spaced = False

    def _space(self, _: str) -> None:
        self.spaced = True

    def _number(self, raw: str) -> None:
        if raw == "0" and (prefixed := _PREFIXED.match(self.text, self.at)):
            self.at = prefixed.end()
            digits, base = prefixed.group(2), _PREFIXES[prefixed.group(1).lower()]
            self._emit(Kind.NUMBER if digits.isdigit() else Kind.WORD, digits)
            self._emit(Kind.SIGN, "_")
            self._emit(Kind.NUMBER, base)
            return
        exponent = _EXPONENT.match(self.text, self.at)
        tail = ""
        if exponent and not self.text_depths:
            self.at = exponent.end()
            tail = exponent.group()
        parts = _SEPARATOR.split(raw)
        if len(parts) == 1:
            self._emit(Kind.NUMBER, raw + tail)
            return
        separators = _SEPARATOR.findall(raw)
        if self._is_one_number(parts, separators):
            self._emit(Kind.NUMBER, "".join(parts) + tail)
            return
        for part, separator in zip(parts, [*separators, ""], strict=True):
            self._emit(Kind.NUMBER, part + ("" if separator else tail))
            if "," in separator:
                self._emit(Kind.SIGN, ",")
            self.spaced = separator in _BLANKS

    def _is_one_number(self, parts: list[str], separators: list[str]) -> bool:
        first, *rest = parts
        if len(set(separators)) > 1 or len(first) > 3 or first.startswith("0"):
            return False
        if any(len(part.partition(".")[0]) != 3 for part in rest):
            return False
        if separators[0] in _BLANKS:
            return not self.text.startswith("/", self.at)  # 2 173/174 is a mixed number
        return separators[0] != "," or (self.grouped_commas and not self.open)

    def _command(self, raw: str) -> None:
        name = raw[1:]
        if name in lexicon.COMMAND_SIGNS:
            self._sign(lexicon.COMMAND_SIGNS[name])
        elif name in lexicon.INVISIBLE or name.isspace():
            self.spaced = True
            if name.endswith(("left", "right")) and self.text.startswith(".", self.at):
                self.at += 1
        elif name in lexicon.COLOUR_COMMANDS:
            colour = _COLOUR.match(self.text, self.at)
            self.at = colour.end() if colour else self.at
            self.spaced = True
        elif name in lexicon.TEXT_COMMANDS or name in lexicon.UPRIGHT_COMMANDS:
            self._text_command(is_upright=name in lexicon.UPRIGHT_COMMANDS)
        elif name == "pi":
            self._emit(Kind.NAME, "pi")
        elif name in ("infty", "infinity"):
            self._emit(Kind.NAME, "infty")
        elif name in ("emptyset", "varnothing"):
            self._emit(Kind.SIGN, "empty")
        elif name in lexicon.FUNCTIONS and name != "sqrt":
            self._emit(Kind.FUNCTION, lexicon.FUNCTIONS[name])
        elif name in lexicon.GREEK:
            self._emit(Kind.NAME, name.removeprefix("var"))
        elif name in ("(", ")", "[", "]"):
            self.spaced = True
        else:
            self.environments += (name == "begin") - (name == "end")
            self._emit(Kind.STRUCTURE, "mathbb" if name == "Bbb" else name)

    def _text_command(self, *, is_upright: bool) -> None:
        self.spaced = True
        if self.text.startswith("{", self.at):
            self.at += 1
            self._push("text{")
            self.text_depths.append((len(self.open), is_upright))

    def _stands_between_blanks(self) -> bool:
        r"""Whether the letter just read is a word of prose: the Spanish "o" of `\text{ o }`."""
        around = self.text[self.at - 2 : self.at + 1]
        return bool(self.text_depths) and around[:1] == " " == around[-1:]

    def _half(self, raw: str) -> None:
        self._emit(Kind.TEXT, raw[0].lower() + "m")

    def _letters(self, raw: str) -> None:
        lower = raw.lower()
        joins = len(raw) > 1 or self._stands_between_blanks()
        if lower in lexicon.OR_WORDS and joins:
            self._emit(Kind.SIGN, "or")
        elif lower in lexicon.AND_WORDS and joins:
            self._emit(Kind.SIGN, "and")
        elif self.text_depths and not self.text_depths[-1][1]:
            self._emit(Kind.TEXT, raw)
        elif raw in lexicon.FUNCTIONS and len(raw) > 1:
            self._emit(Kind.FUNCTION, lexicon.FUNCTIONS[raw])
        elif self.text_depths:
            self._emit(Kind.NAME if raw in ("e", "i") else Kind.TEXT, raw)
        elif raw in _TYPED_SUMS and self.text.startswith("_", self.at):
            self._emit(Kind.STRUCTURE, raw)
        elif raw in _TYPED_CONSTANTS:
            self._emit(Kind.NAME, _TYPED_CONSTANTS[raw])
        else:
            self._emit(Kind.NAME if len(raw) == 1 else Kind.WORD, raw)

    def _sign(self, raw: str) -> None:
        if raw == "!=" and self.tokens and self.tokens[-1].kind is Kind.NUMBER:
            self._emit(Kind.SIGN, "!")  # 4!=24
            raw = "="
        sign = _SIGN_OF.get(raw, "..." if raw.startswith("...") else raw)
        if sign in _OPENERS or sign in _PAIRS:
            self._bracket(sign)
        elif sign == '"' and self.tokens and self.text.count('"') == 1:
            self._emit(Kind.SIGN, "'")  # the '' of inches
            self._emit(Kind.SIGN, "'")
        elif sign in ("", '"', "`") or (sign == "&" and self._aligns()):
            self.spaced = True
        else:
            self._emit(Kind.SIGN, sign)

    def _aligns(self) -> bool:
        """Whether the `&` just read, outside environments, lines up a relation."""
        return not self.environments and bool(_RELATION.match(self.text, self.at))

    def _bracket(self, raw: str) -> None:
        if raw in _OPENERS:
            self._push(raw)
            self._emit(Kind.OPEN, raw)
            return
        if not self.open:
            raise Malformed(f"has a {raw!r} too many")
        opened = self.open.pop()
        if opened == "text{" and raw == "}":
            self.text_depths.pop()
            self.spaced = True
            return
        # An interval may open round and close square.
        if _PAIRS[raw] != opened and not (raw in ")]" and opened in "(["):
            raise Malformed(f"closes {opened!r} with {raw!r}")
        self._emit(Kind.CLOSE, raw)

    def _push(self, opener: str) -> None:
        self.open.append(opener)
        if len(self.open) > MAX_DEPTH:
            raise TooLarge(f"is nested more than {MAX_DEPTH} deep")
