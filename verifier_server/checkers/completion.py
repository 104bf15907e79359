"""The part of a completion that counts: what follows the reasoning.

Every checker starts here, so that "after the last `</think>`" means the same everywhere.
"""

from __future__ import annotations

import re

_CLOSE = "</think>"
# A quoted tag is a mention: a program that prints one, a sentence about one.
_OPEN = re.compile(r"""<think>(?<!["'`]<think>)""")


def after_think(completion: str) -> str | None:
    """The text after the last `</think>`, or all of it where there is no think tag.

    None where a `<think>` is never closed: the model was cut off while it reasoned, and
    nothing it wrote so far is an answer. A closing tag alone (the opening one was in the
    prompt) counts.
    """
    close = completion.rfind(_CLOSE)
    rest = completion if close < 0 else completion[close + len(_CLOSE) :]
    return None if _OPEN.search(rest) else rest
