r"""The grader of the MATH data set (Hendrycks et al. 2021, `math_equivalence.is_equiv`).

The last `\boxed{…}` is compared as text, after spaces, sizes, degree signs, escaped dollar and
percent signs and everything from `\text{ ` on are taken away, and fractions and roots are
braced. Rules read in that repository's `modeling/math_equivalence.py` and
`modeling/dataset/util.py`.
"""

from __future__ import annotations

import re

from verifier_server.checkers.math.modes.strings import StringRules, braced

_BOX = "\\boxed"
_REMOVED = ("\\left", "\\right", "^{\\circ}", "^\\circ", "\\$")
_UNIT = "\\text{ "
_BARE_ROOT = re.compile(r"\\sqrt([^{])")
_ROOT_OF_NOTHING = re.compile(r"\\sqrt(?:\Z|\\sqrt)")
_INTEGERS = re.compile(r"(0|-?[1-9][0-9]*)/(0|-?[1-9][0-9]*)")
_LONGEST_NAME = 2  # of what may stand left of one equals sign


class _Choked(Exception):
    """The published code raises for this text, and then compares both sides as they are."""


def _extracted(text: str) -> str | None:
    r"""The content of the last `\boxed{…}`; an `\fbox` and a bare `\boxed 5` give no answer."""
    at = text.rfind(_BOX)
    return braced(text, at + len(_BOX)) if at >= 0 else None


def _alike(gold: str, answer: str) -> bool:
    try:
        return _normalised(gold) == _normalised(answer)
    except _Choked:
        return gold == answer


def _leaves_something(gold: str) -> bool:
    try:
        return bool(_normalised(gold))
    except _Choked:
        return True


def _normalised(text: str) -> str:
    text = text.replace("\n", "").replace("\\!", "").replace("\\\\", "\\")
    text = text.replace("tfrac", "frac").replace("dfrac", "frac")
    for removed in _REMOVED:
        text = text.replace(removed, "")
    if text.count(_UNIT) > 1:
        raise _Choked
    text = text.partition(_UNIT)[0].replace("\\%", "")
    text = text.replace(" .", " 0.").replace("{.", "{0.")
    if text.startswith("."):
        text = "0" + text
    name, equals, value = text.partition("=")
    if equals and "=" not in value and len(name) <= _LONGEST_NAME:
        text = value
    if _ROOT_OF_NOTHING.search(text):
        raise _Choked
    text = _braced_fractions(_BARE_ROOT.sub(r"\\sqrt{\1}", text).replace(" ", ""))
    if text == "0.5":
        return r"\frac{1}{2}"
    return _INTEGERS.sub(r"\\frac{\1}{\2}", text) if _INTEGERS.fullmatch(text) else text


def _braced_fractions(text: str) -> str:
    r"""`\frac12` and `\frac1{72}` with braces around single signs."""
    out, *parts = text.split("\\frac")
    for part in parts:
        if not part:
            raise _Choked
        if not part.startswith("{"):
            if len(part) == 1:
                return text
            first, second = part[0], part[1]
            part = f"{{{first}}}" + ("{" if second == "{" else f"{{{second}}}") + part[2:]
        out += "\\frac" + part
    return out


_rules = StringRules("hendrycks", _extracted, _alike, _leaves_something)
check_golds, judge = _rules.check_golds, _rules.judge
