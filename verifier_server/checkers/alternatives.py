r"""Two answers offered as alternatives: `\boxed{5} or \boxed{6}`, `6, or maybe 5`."""

from __future__ import annotations

import re

_OR = r"(?:and/or|or|oder|ou|\u0438\u043b\u0438|\u6216\u8005?)(?![a-z])"
_MAYBE = r"(?:maybe|perhaps|possibly|probably|alternatively|else|even|equivalently)(?![a-z])"
_JOINT = re.compile(rf"(?:{_OR}|{_MAYBE})(?:[\s,]+(?:{_OR}|{_MAYBE}))*", re.IGNORECASE)
_SIGN = re.compile(r"[/|]{1,2}")
_AROUND = " \t\r\n$.,:;*_\\()[]{}"
_MAX_CHARS = 200


def joins_alternatives(between: str) -> bool:
    """Whether what stands between two answers offers the second beside the first."""
    if len(between) > _MAX_CHARS:
        return False
    bare = without_marks(between)
    return bool(_JOINT.fullmatch(bare) or _SIGN.fullmatch(bare))


def after_joint(text: str) -> str | None:
    """What follows an "or" or the like at the start of a text; None if none is there."""
    joint = _JOINT.match(text.lstrip(_AROUND))
    return text.lstrip(_AROUND)[joint.end() :] if joint else None


def without_marks(text: str) -> str:
    """What stands between two answers, without the signs around words."""
    return text.replace("\\text", "").strip(_AROUND)
