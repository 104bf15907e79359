r"""Two answers offered as alternatives: `\boxed{5} or \boxed{6}`, `6, or maybe 5`."""

from __future__ import annotations

import re

_OR = (
    r"(?:and/or|or|oder|ou|o|\u0438\u043b\u0438"
    r"|\u6216\u8005?|\u307e\u305f\u306f|\ub610\ub294)(?![a-z])"
)
_MAYBE = (
    r"(?:maybe|perhaps|possibly|probably|alternatively|otherwise|else|even|equivalently)(?![a-z])"
)
_JOINT = re.compile(rf"(?:{_OR}|{_MAYBE})(?:[\s,]+(?:{_OR}|{_MAYBE}))*", re.IGNORECASE)
_LAST_OR = re.compile(rf"(?<![^\W\d_]){_OR}\Z", re.IGNORECASE)
_LAST_OF_OR = frozenset("rRuUoO\u0438\u0418\u6216\u8005\u306f\ub294")
_LONGEST_OR = len("and/or")
_CLAUSE = re.compile(rf"{_OR}[^.!?\n]*", re.IGNORECASE)  # "or, if zero counts,"
_SIGN = re.compile(r"[/|]{1,2}|lor|vee")
_COMMAND = re.compile(r"\\(?:text[a-z]*|mathrm|mathbf|mbox|hbox|qquad|quad)(?![A-Za-z])")
_AROUND = " \t\r\n$.,:;*_\\()[]{}"
_MAX_CHARS = 200


def joins_alternatives(between: str) -> bool:
    """Whether what stands between two answers offers the second beside the first."""
    if len(between) > _MAX_CHARS:
        return False
    bare = without_marks(between)
    return any(joint.fullmatch(bare) for joint in (_JOINT, _SIGN, _CLAUSE))


def after_joint(text: str) -> str | None:
    """What follows an "or" or the like at the start of a text; None if none is there."""
    bare = _COMMAND.sub(" ", text).lstrip(_AROUND)
    joint = _JOINT.match(bare)
    return bare[joint.end() :] if joint else None


def before_joint(text: str) -> str | None:
    """What stands before an "or" at the end of a text; None if none is there."""
    bare = _COMMAND.sub(" ", text).rstrip(_AROUND)
    if bare[-1:] not in _LAST_OF_OR:
        return None
    joint = _LAST_OR.search(bare, max(0, len(bare) - _LONGEST_OR))
    return bare[: joint.start()] if joint else None


def without_marks(text: str) -> str:
    """What stands between two answers, without the commands and signs around words."""
    return _COMMAND.sub(" ", text).strip(_AROUND)
