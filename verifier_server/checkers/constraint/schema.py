"""The `json_schema` rule: the text is JSON that a schema accepts, in bounded time.

`jsonschema` alone trusts the schema and the document: `pattern` runs Python's backtracking
`re`, `uniqueItems` is quadratic, a remote `$ref` is fetched, `{"$ref": "#"}` recurses for
ever. So the keywords that could hang are replaced, and a schema that needs anything that is
not bounded is the task's fault before a candidate is seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
    SchemaError,
    validators,
)
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from pydantic import Field, StrictBool

from verifier_server.checkers.constraint.document import NotJson, read_document
from verifier_server.checkers.constraint.rule import Rule
from verifier_server.checkers.constraint.subschemas import check_structure
from verifier_server.checkers.constraint.text import compile_linear
from verifier_server.checkers.texts import excerpt
from verifier_server.errors import BadReference


class JsonSchema(Rule):
    """The text is a JSON document, valid by a JSON Schema.

    The document is the text, or its last fenced block that is tagged `json` or untagged.
    Schemas are draft 4 to 2020-12 by `$schema`, 2020-12 by default; references stay inside
    the schema, patterns are RE2's, `format` is not judged.

    Attributes:
        schema: the JSON Schema; `{}` accepts any JSON.
        whole: whether nothing may stand around the fenced block.
    """

    rule: Literal["json_schema"]
    schema_: dict[str, Any] | StrictBool = Field({}, alias="schema")
    whole: bool = False

    def prepare(self) -> None:
        """Raises BadReference if the schema is no valid one, or one without bounds."""
        _ = self._validator

    def fault(self, text: str) -> str | None:
        """Parses and validates; names the place of the first error."""
        try:
            document = read_document(text, whole=self.whole)
        except NotJson as error:
            return str(error)
        try:
            first = next(self._validator.iter_errors(document), None)
        except RecursionError:
            # The schema has no loop that stays at one place, so it is the document's depth.
            return "it is nested deeper than the schema can be followed"
        if first is None:
            return None
        return f"at {excerpt(first.json_path)}: {excerpt(first.message, 200)}"

    @cached_property
    def _validator(self) -> Any:
        schema = self.schema_
        if isinstance(schema, bool):
            return _BOUNDED[Draft202012Validator](schema)
        draft = _draft(schema)
        try:
            draft.check_schema(schema)
            check_structure(schema)
        except SchemaError as error:
            raise BadReference(f"schema at {error.json_path}: {error.message}") from error
        except RecursionError as error:
            raise BadReference("the schema is nested too deep") from error
        return _BOUNDED[draft](schema)


def _draft(schema: dict[str, Any]) -> Any:
    if "$schema" not in schema:
        return Draft202012Validator
    draft: Any = validators.validator_for(schema, default=Validator)
    if draft not in _BOUNDED:
        raise BadReference(f"`$schema` {schema['$schema']!r} is no draft from 4 to 2020-12")
    return draft


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _finds(pattern, instance):
        yield ValidationError(f"{excerpt(instance)!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: dict[str, Any], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, subschema in patterns.items():
            for name, value in instance.items():
                if _finds(pattern, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, subschema: Any, instance: Any, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in known or any(_finds(pattern, name) for pattern in patterns):
            continue
        if subschema is False:
            yield ValidationError(f"the name {excerpt(name)!r} is not allowed")
        else:
            yield from validator.descend(value, subschema, path=name)


def _unique_items(
    validator: Any, wanted: bool, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if wanted and isinstance(instance, list):
        # Strings, since the hashes of numbers can be made to collide.
        seen = {json.dumps(_with_exact_numbers(item), sort_keys=True) for item in instance}
        if len(seen) < len(instance):
            yield ValidationError("two items are equal")


def _multiple_of(
    validator: Any, divisor: float, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    # Decimal digits, not binary ones: 0.3 is a multiple of 0.1.
    if isinstance(instance, int | float) and not isinstance(instance, bool):
        quotient = Fraction(str(instance)) / Fraction(str(divisor))
        if quotient.denominator != 1:
            yield ValidationError(f"{instance!r} is not a multiple of {divisor!r}")


def _finds(pattern: str, text: str) -> bool:
    return bool(compile_linear(pattern).search(text.encode("utf-8", "replace")))


def _with_exact_numbers(value: Any) -> Any:
    """The value with 1.0 as 1, which JSON Schema takes for the same number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_exact_numbers(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_exact_numbers(item) for name, item in value.items()}
    return value


_KEYWORDS = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
    "multipleOf": _multiple_of,
}
_BOUNDED: dict[Any, Any] = {
    draft: validators.extend(draft, _KEYWORDS)  # type: ignore[no-untyped-call]
    for draft in (
        Draft4Validator,
        Draft6Validator,
        Draft7Validator,
        Draft201909Validator,
        Draft202012Validator,
    )
}
