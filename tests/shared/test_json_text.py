"""JSON of our own making: what orjson refuses is written all the same, and everything comes back."""

from __future__ import annotations

import json
import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import json_text

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_written_json_is_read_by_any_parser(value):
    written = json_text.encode(value)
    assert json_text.decode(written) == json.loads(written) == value


def test_texts_are_written_as_they_are_and_without_spaces():
    assert (
        json_text.encode({"name": "Zoë", "pages": [1, 2]})
        == '{"name":"Zoë","pages":[1,2]}'.encode()
    )


def test_a_lone_surrogate_becomes_a_mark():
    assert json_text.encode(["a\ud800b", 1]) == b'["a?b",1]'


def test_integers_are_as_long_as_they_are():
    assert json_text.encode([2**80]) == b"[%d]" % 2**80


def test_numbers_without_a_json_form_become_null():
    assert json_text.encode([math.inf, math.nan]) == b"[null,null]"


def test_other_types_are_converted_or_rejected():
    assert json_text.encode({"on": date(2026, 11, 1), "at": 2**80}, default=str)
    assert json_text.encode([{1}, 2**80], default=list) == b"[[1],%d]" % 2**80
    with pytest.raises(TypeError):
        json_text.encode({1})


def test_texts_of_other_writers_are_read():
    assert json_text.decode('{"a": "\\ud800", "b": NaN}')["a"] == "\ud800"
    with pytest.raises(ValueError, match="Expecting"):
        json_text.decode("{")
