"""Walks a JSON Schema and refuses what can't be followed in bounded time."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import unquote

from verifier_server.checkers.constraint.text import compile_linear
from verifier_server.errors import BadReference

# Where a schema holds others: in one value, in a list, by name.
_ONE = (
    "not", "if", "then", "else", "items", "additionalItems", "contains",
    "additionalProperties", "propertyNames",
)  # fmt: skip
_LIST = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_NAMED = (
    "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions",
)  # fmt: skip
# Those of them that judge the very value that their parent judges.
_SAME_VALUE = frozenset(
    {"not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"}
)
_REFUSED = {
    "unevaluatedProperties": "close objects with `additionalProperties`",
    "unevaluatedItems": "close arrays with `items`",
    "$dynamicRef": "use `$ref` to a place in the schema",
    "$recursiveRef": "use `$ref` to a place in the schema",
}

# Beyond these the validator's own recursion could end before a modest document does.
_MAX_CHAIN = 32
_MAX_NESTING = 64


def check_structure(schema: dict[str, Any]) -> None:
    """Refuses references out of the schema, loops, unbounded keywords and patterns.

    Raises:
        BadReference: says where and, if there is one, the way around it.
    """
    places: dict[str, dict[str, Any]] = {}
    same_value: dict[str, set[str]] = {}
    pending: list[tuple[str, Any]] = [("#", schema)]
    while pending:
        place, node = pending.pop()
        if isinstance(node, bool):
            node = {}
        if not isinstance(node, dict):
            continue
        _check_keywords(place, node)
        places[place] = node
        same_value[place] = set()
        for keyword, child_place, child in _children(place, node):
            pending.append((child_place, child))
            if keyword in _SAME_VALUE:
                same_value[place].add(child_place)
    for place, node in places.items():
        if isinstance(node.get("$ref"), str):
            same_value[place].add(_target(place, node["$ref"], places))
    _check_loops(same_value)


def _children(place: str, node: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """(keyword, place, schema) of each schema directly inside."""
    for keyword in _ONE:
        if isinstance(node.get(keyword), dict):
            yield keyword, f"{place}/{keyword}", node[keyword]
    for keyword in _LIST:
        if isinstance(node.get(keyword), list):
            for index, child in enumerate(node[keyword]):
                yield keyword, f"{place}/{keyword}/{index}", child
    for keyword in _NAMED:
        if isinstance(node.get(keyword), dict):
            for name, child in node[keyword].items():
                escaped = name.replace("~", "~0").replace("/", "~1")
                yield keyword, f"{place}/{keyword}/{escaped}", child


def _check_keywords(place: str, node: dict[str, Any]) -> None:
    for keyword, remedy in _REFUSED.items():
        if keyword in node:
            raise BadReference(f"schema at {place}: `{keyword}` is not supported", remedy=remedy)
    if place != "#" and any(isinstance(node.get(name), str) for name in ("$id", "id")):
        raise BadReference(
            f"schema at {place}: an inner `$id` is not supported",
            remedy="put the schema under `$defs` and refer to its place",
        )
    if place.count("/") > _MAX_NESTING:
        raise BadReference(f"schema at {place}: it is nested too deep")
    patterns = [node["pattern"]] if isinstance(node.get("pattern"), str) else []
    for pattern in [*patterns, *node.get("patternProperties", {})]:
        compile_linear(pattern)


def _target(place: str, reference: str, places: dict[str, dict[str, Any]]) -> str:
    target = unquote(reference)
    if target not in places:
        raise BadReference(
            f"schema at {place}: `$ref` {reference!r} leads to no schema in this document",
            remedy="refer to places such as '#/$defs/name'; nothing is fetched",
        )
    return target


def _check_loops(edges: dict[str, set[str]]) -> None:
    """Refuses schemas that never leave a value, or only after a long chain."""
    length: dict[str, int] = {}
    try:
        for place in TopologicalSorter(edges).static_order():
            length[place] = 1 + max((length[target] for target in edges[place]), default=0)
    except CycleError as error:
        loop = " -> ".join(reversed(error.args[1]))
        raise BadReference(f"schema: judging a value never ends: {loop}") from error
    if max(length.values()) > _MAX_CHAIN:
        raise BadReference(f"schema: more than {_MAX_CHAIN} schemas in a chain judge one value")
