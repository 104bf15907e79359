"""The `json_schema` rule."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checkers.constraint.conftest import JudgeRule
from verifier_server.verdict import Outcome

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "pattern": "^P"}, "size": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TREE = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "additionalProperties": False,
        }
    },
    "$ref": "#/$defs/node",
}


def rule(schema: Any, **options: Any) -> dict[str, Any]:
    return {"rule": "json_schema", "schema": schema, **options}


@pytest.mark.parametrize(
    "text",
    [
        '{"city": "Paris"}', ' {"city": "Paris", "size": 2}\n',
        '```json\n{"city": "Paris"}\n```', '```\n{"city": "Paris"}\n```',
        '~~~ JSON\n{"city": "Paris"}\n~~~', '````json\n{"city": "Paris"}\n````',
        'Here:\n```json\n{"city": "Rome"}\n```\nNo:\n```json\n{"city": "Paris"}\n```\nDone.',
        '```json\n{"city": "Paris"}\n```\n```\nx\n```', '{"city": "P```json"}',
        '```python\nx\n```\n```json\n{"city": "Paris"}\n```',
    ],
)  # fmt: skip
def test_a_valid_document_is_found_and_accepted(judge_rule: JudgeRule, text: str) -> None:
    assert judge_rule(text, rule(CITY)).score == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"city": "Rome"}', "$.city"),
        ("{}", "required"),
        ('{"city": "Paris", "x": 1}', "not allowed"),
        ('{"city": "Paris", "size": true}', "integer"),
        ('{"city": "Paris", "size": 1.5}', "integer"),
        ('{"city": "Paris"', "not JSON"),
        ("{'city': 'Paris'}", "not JSON"),
        ('The city is {"city": "Paris"}', "not JSON"),
        ('```json\n{"city": "Paris"}\n```\n```json\n{"city": "Rome"}\n```', "$.city"),
        ('{"city": "Paris", "city": "Rome"}', "twice"),
        ('{"city": "Paris", "size": NaN}', "NaN"),
        ('{"city": "Paris", "size": 1e999}', "too large"),
        ('{"city": "Paris", "size": ' + "9" * 5000 + "}", "not JSON"),
        ('{"city": "Paris"} {"city": "Paris"}', "not JSON"),
    ],
)
def test_an_invalid_document_is_wrong_and_says_where(
    judge_rule: JudgeRule, text: str, why: str
) -> None:
    judgement = judge_rule(text, rule(CITY))
    assert (judgement.score, judgement.outcome) == (0, Outcome.WRONG_ANSWER)
    assert why in judgement.explanation


def test_nothing_may_stand_around_a_whole_document(judge_rule: JudgeRule) -> None:
    fenced = '```json\n{"city": "Paris"}\n```'
    assert judge_rule(fenced, rule(CITY, whole=True)).score == 1
    assert judge_rule(f"Here:\n{fenced}", rule(CITY, whole=True)).score == 0


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        (True, "1", "{"),
        ({}, "null", ""),
        (TREE, '{"children": [{"children": []}, {}]}', '{"children": [{"child": []}]}'),
        ({"patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": False},
         '{"n1": 1}', '{"m1": 1}'),
        ({"patternProperties": {"^n": {"type": "integer"}}}, '{"m": "x"}', '{"n": "x"}'),
        ({"additionalProperties": {"type": "integer"}}, '{"a": 1}', '{"a": "1"}'),
        ({"uniqueItems": True}, '[1, true, "1", {"a": 1}]', '[{"a": 1}, {"a": 1.0}]'),
        ({"uniqueItems": True}, "[[], [0], 0, false]", "[[1], [1]]"),
        ({"multipleOf": 0.1}, "0.3", "0.35"),
        ({"multipleOf": 0.5}, "1" + "0" * 400, "0.25"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3,
          "exclusiveMaximum": True}, "2", "3"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]},
         '["a"]', "[1]"),
        ({"$id": "https://example.com/a", "$defs": {"a/b": {"type": "null"}},
          "$ref": "#/$defs/a~1b"}, "null", "0"),
        ({"$defs": {"any": True}, "properties": {"a": {"$ref": "#/$defs/any"}}},
         '{"a": 1}', ""),
        ({"properties": {"pattern": {"enum": ["("]}, "$ref": {"const": 1}}},
         '{"pattern": "(", "$ref": 1}', '{"$ref": 2}'),
    ],
)  # fmt: skip
def test_keywords_judge_as_the_specification_says(
    judge_rule: JudgeRule, schema: Any, valid: str, invalid: str
) -> None:
    accepted, rejected = judge_rule(valid, rule(schema)), judge_rule(invalid, rule(schema))
    assert (accepted.score, rejected.score) == (1, 0), accepted.explanation


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"}, {"pattern": "("}, {"pattern": "(?=a)"}, {"pattern": 1},
        {"properties": {"a": {"pattern": "(?!a)"}}}, {"patternProperties": {"(": {}}},
        {"$ref": "https://example.com/schema.json"}, {"$ref": "file:///etc/passwd"},
        {"$ref": "other.json"}, {"$ref": "#/$defs/none"}, {"$ref": "#anchor"},
        {"items": {"$ref": "https://example.com"}}, {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]}, {"not": {"anyOf": [{"$ref": "#/not"}]}},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"unevaluatedProperties": False}, {"items": {"unevaluatedItems": False}},
        {"$dynamicRef": "#a"}, {"properties": {"a": {"$id": "b"}}},
        {"$schema": "https://example.com/mine"}, {"$schema": "http://json-schema.org/draft-03/schema#"},
        "{}", None, 1,
    ],
)  # fmt: skip
def test_an_unusable_schema_is_the_tasks_fault(judge_rule: JudgeRule, schema: Any) -> None:
    judgement = judge_rule("{}", rule(schema))
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE)


def test_a_schema_nested_without_bounds_is_the_tasks_fault(judge_rule: JudgeRule) -> None:
    deep: dict[str, Any] = {}
    chain: dict[str, Any] = {}
    for _ in range(100):
        deep, chain = {"items": deep}, {"allOf": [chain]}
    names: dict[str, Any] = {f"a{i}": {"$ref": f"#/$defs/a{i + 1}"} for i in range(300)}
    references = {"$defs": {**names, "a300": {}}, "$ref": "#/$defs/a0"}
    for schema in (deep, chain, references):
        assert judge_rule("[]", rule(schema)).outcome is Outcome.BAD_REFERENCE


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    ("text", "schema"),
    [
        ("[" * 200_000, {}),
        ("[" * 65 + "]" * 65, {}),
        ('{"a":' * 100_000, {}),
        ('"' + "a" * 400_000 + '!"', {"pattern": "^(a|aa)+$"}),
        (json.dumps([{"a": [i]} for i in [*range(30_000), 0]]), {"uniqueItems": True}),
        (json.dumps([i * (2**61 - 1) for i in [*range(10_000), 0]]), {"uniqueItems": True}),
        ('{"' + "a" * 400_000 + '": 1}', {"patternProperties": {"(a+)+$": False}}),
        ('{"' + "a" * 60 + '!": 1}',
         {"patternProperties": {"^(a|aa)+$": {}}, "additionalProperties": False}),
        ("[" + "1," * 200_000 + "1", {}),
        ("```json\n" * 50_000, {}),
    ],
    ids=["brackets", "just too deep", "objects", "pattern", "unique items", "colliding numbers",
         "pattern properties", "additional properties", "cut off", "fences"],
)  # fmt: skip
def test_a_hostile_document_is_refused_in_time(
    judge_rule: JudgeRule, text: str, schema: dict[str, Any]
) -> None:
    judgement = judge_rule(text, rule(schema))
    assert judgement.score == 0
    assert len(judgement.explanation) < 1000


def test_a_deep_document_under_a_recursive_schema_is_the_candidates_fault(
    judge_rule: JudgeRule,
) -> None:
    schema: dict[str, Any] = {"items": {"$ref": "#"}}
    for _ in range(20):
        schema = {"allOf": [schema]}
    schema["items"] = {"$ref": "#"}
    assert judge_rule("[" * 60 + "]" * 60, rule(schema)).score in (0, 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(JSON)
def test_every_document_is_accepted_by_its_own_constant(judge_rule: JudgeRule, value: Any) -> None:
    text = json.dumps(value)
    assert judge_rule(text, rule({"const": value})).score == 1
    assert judge_rule(f"[{text}, {text}]", rule({"uniqueItems": True})).score == 0


@given(st.text(st.sampled_from('{}[]",:0123456789.eE-+ntf\\u`~\njson')))
def test_any_text_is_scored(judge_rule: JudgeRule, text: str) -> None:
    assert judge_rule(text, rule({"minProperties": 1})).score in (0, 1)
