"""What names and signs mean: the one table of spellings that the tokenizer reads by.

Covers LaTeX commands, typed names and Unicode signs; units are in `units`.
"""

# ruff: noqa: RUF001, SIM905 - the signs look alike because that is what they are here for

from __future__ import annotations

GREEK = frozenset(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "rho varrho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma "
    "Upsilon Phi Psi Omega ell hbar".split()
)

# Spelling -> function of the expression model. All take one argument but where noted there.
FUNCTIONS = {
    **{name: name for name in (
        "sin cos tan cot sec csc sinh cosh tanh coth sech csch arcsin arccos arctan arccot "
        "arcsec arccsc exp ln log lg lb sqrt cbrt abs floor ceil gcd lcm max min det arg Re Im "
        "sgn erf factorial binomial"
    ).split()},
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "tg": "tan", "ctg": "cot",
    "cosec": "csc", "arcctg": "arccot", "arctg": "arctan", "ceiling": "ceil", "sign": "sgn",
    "arsinh": "arcsinh", "arcosh": "arccosh", "artanh": "arctanh",
    "arcsinh": "arcsinh", "arccosh": "arccosh", "arctanh": "arctanh",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "comb": "binomial",
}  # fmt: skip

# Commands that stand for one sign of the token alphabet.
COMMAND_SIGNS = {
    "cdot": "*", "times": "*", "ast": "*", "bullet": "*", "div": "/", "slash": "/",
    "pm": "pm", "mp": "mp", "colon": ":", "mid": "|", "vert": "|", "lvert": "|", "rvert": "|",
    "le": "<=", "leq": "<=", "leqslant": "<=", "leqq": "<=", "lt": "<",
    "ge": ">=", "geq": ">=", "geqslant": ">=", "geqq": ">=", "gt": ">",
    "ne": "!=", "neq": "!=", "approx": "~=", "approxeq": "~=", "simeq": "~=", "doteq": "~=",
    "in": "in", "cup": "cup", "cap": "cap", "setminus": "minus", "backslash": "minus",
    "to": "to", "rightarrow": "to", "longrightarrow": "to", "Rightarrow": "implies",
    "implies": "implies", "iff": "implies", "Leftrightarrow": "implies", "therefore": "",
    "prime": "'", "lor": "or", "vee": "or", "land": "and", "wedge": "and", "equiv": "equiv",
    "ldots": "...", "dots": "...", "cdots": "...", "dotsc": "...", "dotsb": "...",
    "circ": "deg", "degree": "deg", "textdegree": "deg", "%": "%", "$": "$", "pounds": "£",
    "euro": "€", "textdollar": "$", "lbrack": "[", "rbrack": "]", "lparen": "(", "rparen": ")",
    "langle": "<|", "rangle": "|>", "{": "\\{", "}": "\\}", "lbrace": "\\{", "rbrace": "\\}",
    "lfloor": "lfloor", "rfloor": "rfloor", "lceil": "lceil", "rceil": "rceil",
    "Vert": "||", "lVert": "||", "rVert": "||", "|": "||", "&": "&", "\\": "\\\\",
    "newline": "\\\\", "cr": "\\\\", "not": "not", "notin": "notin", "perp": "perp",
    "parallel": "parallel", "sim": "sim", "propto": "propto", "star": "*", "coloneqq": "=",
}  # fmt: skip

# Commands that change the look and nothing else.
INVISIBLE = frozenset(
    ", ; : ! quad qquad thinspace medspace thickspace enspace displaystyle textstyle scriptstyle "
    "left right mleft mright middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr "
    "limits nolimits mathstrut strut allowbreak nobreak rm bf it sf tt cal normalsize large Large "
    "small scriptscriptstyle hfill hfil noindent / boldmath ensuremath mathit mathbf mathsf "
    "boldsymbol bm pmb vec overrightarrow underline mathord mathop mathrel mathbin boxed fbox "
    "displaylines unboldmath tiny centering bold checkmark".split()
)

TEXT_COMMANDS = frozenset(
    "text textbf textit textrm textsf texttt textnormal textup textsc mbox hbox emph".split()
)
# Commands whose first argument is how the second, or what follows, looks.
COLOUR_COMMANDS = frozenset("color textcolor mathcolor".split())
UPRIGHT_COMMANDS = frozenset("mathrm operatorname operatorname* mathup textmath".split())

UNICODE_SIGNS = {
    "−": "-", "‒": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "×": "\\times ",
    "·": "\\cdot ", "⋅": "\\cdot ", "∙": "\\cdot ", "•": "\\cdot ", "∗": "*", "÷": "/", "∕": "/",
    "⁄": "/", "±": "\\pm ", "∓": "\\mp ", "≤": "\\le ", "≥": "\\ge ", "⩽": "\\le ", "⩾": "\\ge ",
    "≦": "\\le ", "≧": "\\ge ", "≠": "\\ne ", "≈": "\\approx ", "≃": "\\approx ",
    "≅": "\\approx ", "∈": "\\in ",
    "∪": "\\cup ", "∩": "\\cap ", "∖": "\\setminus ", "∅": "\\emptyset ", "⌀": "\\emptyset ",
    "∞": "\\infty ", "π": "\\pi ", "√": "\\sqrt ", "∛": "\\cbrt ", "∑": "\\sum ", "∏": "\\prod ",
    "∫": "\\int ", "∂": "\\partial ", "°": "\\degree ", "º": "\\degree ", "˚": "\\degree ",
    "…": "...", "⋯": "...", "→": "\\to ", "⇒": "\\implies ", "⇔": "\\implies ",
    "′": "'", "’": "'", "″": "''", "：": ":", "∶": ":", "，": ",", "、": ",", "；": ";",
    "。": ".", "（": "(", "）": ")", "｛": "{", "｝": "}", "【": "[", "】": "]", "⟨": "\\langle ",
    "⟩": "\\rangle ", "〈": "\\langle ", "〉": "\\rangle ", "⌊": "\\lfloor ", "⌋": "\\rfloor ",
    "⌈": "\\lceil ", "⌉": "\\rceil ", "ℝ": "\\mathbb{R}", "ℤ": "\\mathbb{Z}", "ℕ": "\\mathbb{N}",
    "ℚ": "\\mathbb{Q}", "ℂ": "\\mathbb{C}", "∨": "\\lor ", "∧": "\\land ", "％": "\\%",
    "＄": "\\$", "\u00a0": " ", "\u2009": "\\,", "\u202f": "\\,", "\u2002": " ", "\u2003": " ",
    "\u2004": " ", "\u2005": " ", "\u2006": " ", "\u2007": " ", "\u2008": " ", "\u200a": " ",
    "\u3000": " ", "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufeff": "",
    "\u00ad": "", "✓": "", "✔": "", "✅": "",
    "ℓ": "\\ell ", "𝑒": "e", "𝑖": "i", "ⅈ": "i", "ⅇ": "e", "℃": "\\degree C",
    "℉": "\\degree F",
    "½": "\\frac{1}{2}", "⅓": "\\frac{1}{3}", "⅔": "\\frac{2}{3}", "¼": "\\frac{1}{4}",
    "¾": "\\frac{3}{4}", "⅕": "\\frac{1}{5}", "⅖": "\\frac{2}{5}", "⅗": "\\frac{3}{5}",
    "⅘": "\\frac{4}{5}", "⅙": "\\frac{1}{6}", "⅚": "\\frac{5}{6}", "⅛": "\\frac{1}{8}",
    "⅜": "\\frac{3}{8}", "⅝": "\\frac{5}{8}", "⅞": "\\frac{7}{8}",
    **{letter: f"\\{name} " for letter, name in zip(
        "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΣΦΨΩϕϵϑ",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau "
        "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega phi epsilon "
        "theta".split(),
        strict=True,
    )},
    **{chr(0xFF01 + k): chr(0x21 + k) for k in range(94)
       if chr(0x21 + k) not in "%$:,;.(){}[]"},
    "［": "[", "］": "]", "．": ".",
}  # fmt: skip

_SCRIPT_SIGNS = "0123456789+-=()"
SUPERSCRIPTS = {
    **dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾", _SCRIPT_SIGNS, strict=True)),
    "ⁿ": "n",
    "ⁱ": "i",
    "ˣ": "x",
}
SUBSCRIPTS = {
    **dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", _SCRIPT_SIGNS, strict=True)),
    "ₙ": "n",
    "ₓ": "x",
}

OR_WORDS = frozenset({"or", "oder", "ou", "o", "или", "或", "或者", "または", "또는"})
AND_WORDS = frozenset({"and", "und", "et", "y", "и", "和", "与", "と"})

_UNITS_OF_COUNT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = {word: n for n, word in enumerate(_UNITS_OF_COUNT)} | {
    word: 10 * n for n, word in enumerate(_TENS, 2)
}
MAGNITUDE_WORDS = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
ORDINAL_WORDS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip

# Words that name the set without elements.
EMPTY_PHRASES = frozenset({
    "no solution", "no solutions", "no real solution", "no real solutions", "empty set",
    "the empty set", "none", "no roots", "no real roots", "no such number", "no such numbers",
    "no such x", "no integer solutions", "no answer exists", "no solution exists",
    "no solutions exist", "there is no solution", "there are no solutions",
})  # fmt: skip
ALL_REALS_PHRASES = frozenset({
    "all real numbers", "all reals", "all real x", "all real values", "every real number",
    "any real number",
})  # fmt: skip
INFINITY_WORDS = frozenset({"infinity", "infty", "inf", "infinite", "oo"})
SYNONYMS = {
    "dne": "does not exist",
    "doesn't exist": "does not exist",
    "doesnt exist": "does not exist",
    "the limit does not exist": "does not exist",
    "limit does not exist": "does not exist",
}
# Words that join, condition or deny: never a unit, since what they add is no unit.
CLAUSE_WORDS = frozenset(
    "or and not if else but maybe either neither nor then when where for is are was be because "
    "since so as by with without to of in on at from than except only also otherwise unless "
    "possibly perhaps about approximately roughly plus minus times divided equals equal all any "
    "no yes true false both some than x y z squared cubed factorial root power mod modulo "
    "negative inverse reciprocal percent less more fewer over under between through until minus "
    "versus vs out".split()
)
CONSTANT_WORDS = frozenset({"const", "constant"})  # of integration
FRACTION_NOUNS = frozenset(
    "half halve third fourth fifth sixth seventh eighth ninth tenth hundredth thousandth".split()
)
