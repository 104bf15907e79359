"""Why a text can't be used as an answer. Internal to this checker: none leaves `check`."""

from __future__ import annotations


class MathFault(Exception):
    """Base of all; the message completes "the answer …" or "the reference …"."""


class Malformed(MathFault):
    """It is no mathematics: unbalanced, incomplete, empty."""


class Empty(Malformed):
    """There is nothing in it."""


class Unsupported(MathFault):
    """It is well formed, but says something that the value model has no form for."""


class TooLarge(MathFault):
    """Reading or evaluating it would take more than an answer may cost."""


class Undefined(MathFault):
    """It has no value: a division by zero, the logarithm of zero."""
