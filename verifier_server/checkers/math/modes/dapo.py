r"""The grader of DAPO (Yu et al. 2025) as verl ships it: `reward_score/math_dapo.py`.

Of the last 300 characters the last `Answer: …` line is compared as text, else the last
`\boxed{…}` in the last 100, both normalised by Minerva's rules (Lewkowycz et al. 2022,
appendix D) but for one unit. `strict_box_verify`, another option of verl's, is not had here.
"""

from __future__ import annotations

import re

from verifier_server.checkers.math.modes.strings import StringRules, braced

_TAIL = 300  # characters of a completion that are read
_BOX_TAIL = 100
_LINE = re.compile(r"(?i)answer\s*:\s*([^\n]+)")
_BOX = "\\boxed"

_REPLACED = (
    ("an ", ""), ("a ", ""), (".$", "$"), ("\\$", ""), ("\\ ", ""), (" ", ""), ("mbox", "text"),
    (",\\text{and}", ","), ("\\text{and}", ","), ("\\text{m}", "\\text{}"),
)  # fmt: skip
_REMOVED = (
    "square", "ways", "integers", "dollars", "mph", "inches", "hours", "km", "units", "\\ldots",
    "sue", "points", "feet", "minutes", "digits", "cents", "degrees", "cm", "gm", "pounds",
    "meters", "meals", "edges", "students", "childrentickets", "multiples", "\\text{s}",
    "\\text{.}", "\\text{\ns}", "\\text{}^2", "\\text{}^3", "\\text{\n}", "\\text{}",
    "\\mathrm{th}", "^\\circ", "^{\\circ}", "\\;", ",\\!", "{,}", '"', "\\dots",
)  # fmt: skip
_IN_DOLLARS = re.compile(r".*?\$(.*?)\$.*")
_WRAPPED = tuple(re.compile(rf"\\{name}\{{(.*?)\}}") for name in ("text", "textbf", "overline"))
_BOXED = re.compile(r"\\boxed\{(.*)\}")
_BARE_FRACTION = re.compile(r"frac([^{])(.)")
_BARE_ROOT = re.compile(r"sqrt([^{])")


def _extracted(text: str) -> str | None:
    tail = text[-_TAIL:]
    lines = _LINE.findall(tail)
    if lines:
        return str(lines[-1])
    tail = tail[-_BOX_TAIL:]
    at = tail.rfind(_BOX + "{")
    return braced(tail, at + len(_BOX)) if at >= 0 else None


def _normalised(text: str) -> str:
    text = text.rpartition("=")[2]
    for before, after in _REPLACED:
        text = text.replace(before, after)
    for removed in _REMOVED:
        text = text.replace(removed, "")
    text = _IN_DOLLARS.sub(r"$\1$", text)
    for wrapped in _WRAPPED:
        text = wrapped.sub(r"\1", text)
    text = _BOXED.sub(r"\1", text)
    text = _BARE_FRACTION.sub(r"frac{\1}{\2}", text)
    text = _BARE_ROOT.sub(r"sqrt{\1}", text).replace("$", "")
    without_commas = text.replace(",", "")
    return (without_commas if without_commas.isdigit() else text).strip()


def _alike(gold: str, answer: str) -> bool:
    return _normalised(gold) == _normalised(answer)


def _leaves_something(gold: str) -> bool:
    return bool(_normalised(gold))


_rules = StringRules("dapo", _extracted, _alike, _leaves_something)
check_golds, judge = _rules.check_golds, _rules.judge
