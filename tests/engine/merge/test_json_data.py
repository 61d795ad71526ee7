"""Strict JSON, and merge patches as RFC 7396 shows them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.engine.merge.json_data import JsonError, merge_patch, read_json


def test_numbers_are_exact():
    assert read_json('{"a": 0.1, "b": 12, "c": 1e2}') == {
        "a": Decimal("0.1"),
        "b": Decimal(12),
        "c": Decimal(100),
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a":1,"a":2}', 'the member "a" is repeated'),
        ("[NaN]", "NaN is not a JSON value"),
        ("[-Infinity]", "-Infinity is not a JSON value"),
        ("1E+999999", "too long or too large"),
        ("1e-999999999999999999999", "too long or too large"),
        ("0e99999999999999999999", "too long or too large"),
        ("1" * 100_000, "too long or too large"),
        ("[" * 101 + "]" * 101, "deeper than 100"),
        ("[" * 100_000, "deeper than 100"),
        ('{"a":' * 100_000, "deeper than 100"),
        ("'a'", "a value is missing"),
        ("", "a value is missing"),
        ("1 2", "nothing may follow"),
        ('"a\nb"', "write \\n"),
    ],
)
def test_text_that_is_not_strict_json_is_rejected(text: str, says: str):
    with pytest.raises(JsonError) as caught:
        read_json(text)
    assert says in str(caught.value)


def test_pairs_of_surrogates_are_one_character():
    assert read_json('"\\ud83d\\ude00"') == "😀"


def test_a_hundred_levels_are_accepted():
    assert read_json("[" * 100 + "]" * 100)


def test_the_fault_has_an_offset():
    with pytest.raises(JsonError) as caught:
        read_json('{"a": 1,\n "b" 2}')
    assert caught.value.offset == 14


@pytest.mark.parametrize(
    ("text", "bracket", "offset"),
    [('{"a": 1, }', "}", 7), ("[1,]", "]", 2), ('{"a": [1\n,\n]}', "]", 9)],
)
def test_a_trailing_comma_is_reported_at_its_position(text: str, bracket: str, offset: int):
    with pytest.raises(JsonError) as caught:
        read_json(text)
    assert str(caught.value) == f"the comma before {bracket} is one too many"
    assert caught.value.offset == offset


def test_two_commas_miss_a_value():
    with pytest.raises(JsonError, match="a value is missing"):
        read_json("[1,,]")


# RFC 7396, appendix A.
@pytest.mark.parametrize(
    ("original", "patch", "result"),
    [
        ('{"a":"b"}', '{"a":"c"}', '{"a":"c"}'),
        ('{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'),
        ('{"a":"b"}', '{"a":null}', "{}"),
        ('{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'),
        ('{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'),
        ('{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'),
        ('{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'),
        ('{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'),
        ('["a","b"]', '["c","d"]', '["c","d"]'),
        ('{"a":"b"}', '["c"]', '["c"]'),
        ('{"a":"foo"}', "null", "null"),
        ('{"a":"foo"}', '"bar"', '"bar"'),
        ('{"e":null}', '{"a":1}', '{"e":null,"a":1}'),
        ("[1,2]", '{"a":"b","c":null}', '{"a":"b"}'),
        ("{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'),
    ],
)
def test_merge_patches_follow_the_rfc(original: str, patch: str, result: str):
    assert merge_patch(json.loads(original), json.loads(patch)) == json.loads(result)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
_OBJECTS = st.dictionaries(st.text(), _VALUES, max_size=4)


@pytest.mark.long
@given(_OBJECTS)
def test_an_empty_patch_changes_nothing(target: dict[str, Any]):
    assert merge_patch(target, {}) == target


@pytest.mark.long
@given(_OBJECTS, _OBJECTS)
def test_a_patch_changes_neither_of_its_arguments(target: dict[str, Any], patch: dict[str, Any]):
    before = json.dumps([target, patch])
    merge_patch(target, patch)
    assert json.dumps([target, patch]) == before


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")))
def test_no_text_makes_reading_fail_in_any_other_way(text: str):
    try:
        read_json(text)
    except JsonError as error:
        assert error.args[0]  # noqa: PT017 — every refusal says why


@pytest.mark.parametrize(
    ("text", "value", "dropped"),
    [
        ('"a\\ud800b"', "ab", "/ contains the character U+D800, which is left out"),
        (
            '{"a": ["x", "y\\u0000"]}',
            {"a": ["x", "y"]},
            "/a/1 contains the character U+0000, which",
        ),
        ('{"a": {"b\\u0007": 1}}', {"a": {"b": 1}}, "/a/b contains the character U+0007, which"),
        ('"\uffff"', "", "/ contains the character U+FFFF, which is left out"),
    ],
)
def test_characters_that_xml_forbids_are_left_out(text, value, dropped):
    messages: list[str] = []
    assert read_json(text, messages) == value
    [message] = messages
    assert message.startswith(dropped)


def test_of_many_forbidden_characters_the_first_twenty_are_told():
    messages: list[str] = []
    assert read_json('"' + "\\u0007" * 30 + '"', messages) == ""
    assert len(messages) == 21
    assert messages[-1] == "The JSON text contains more such characters, which are left out"
