"""Other values in the place of literals, as source text."""

from __future__ import annotations

import ast
from random import Random

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Calls whose value is another one where their argument is.
_CONTAINERS = frozenset({"list", "tuple", "set", "frozenset"})
Spot = tuple[ast.expr, str]


def change(node: ast.expr, rng: Random, *, far: bool = False) -> Spot | None:
    """A part of a literal and the text that makes it another value; None if it is none.

    The value is of the same kind, and looks no less like one that a test may expect. If it has
    to be far, numbers are out of reach of a tolerance.
    """
    if isinstance(node, ast.Constant):
        text = _other_constant(node.value, rng, far)
        return None if text is None else (node, text)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return change(node.operand, rng, far=far)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        known = node.func.id in _CONTAINERS and not node.keywords
        return change(node.args[0], rng, far=far) if known else None
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return _change_one(node.elts, rng, far) or _fill(node)
    if isinstance(node, ast.Dict) and None not in node.keys:
        return _change_one(node.values, rng, far) or (None if node.values else (node, "{0: 0}"))
    return None


def _change_one(nodes: list[ast.expr], rng: Random, far: bool) -> Spot | None:
    changes = [found for node in nodes if (found := change(node, rng, far=far)) is not None]
    return rng.choice(changes) if changes else None


def _fill(node: ast.List | ast.Tuple | ast.Set) -> Spot | None:
    if node.elts:
        return None
    return node, "[0]" if isinstance(node, ast.List) else "(0,)"


def _other_constant(value: object, rng: Random, far: bool) -> str | None:
    if isinstance(value, bool):
        return str(not value)
    if value is None:
        return "0"
    if isinstance(value, int):
        return str((2 * value if far else value) + rng.randint(1, 3))
    if isinstance(value, float):
        other = value * rng.choice((1.25, 1.5, 2.0)) + 1
        return repr(round(other, 6)) if other - other == 0 else "0.0"
    if isinstance(value, str):
        return repr(_other_text(value, rng))
    if isinstance(value, bytes):
        return repr(_other_text(value.decode("latin-1"), rng).encode("latin-1"))
    return None


def _other_text(text: str, rng: Random) -> str:
    places = [n for n, char in enumerate(text) if char.isascii() and char.isalnum()]
    if not places:
        return f"{text}{rng.choice(_LETTERS)}"
    place = rng.choice(places)
    old = text[place]
    alphabet = "123456789" if old.isdigit() else _LETTERS
    new = rng.choice([char for char in alphabet if char != old.lower()])
    return text[:place] + (new.upper() if old.isupper() else new) + text[place + 1 :]
