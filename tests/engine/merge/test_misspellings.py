"""A mistyped member of a payload is reported, whether the template declares its data or not."""

from __future__ import annotations

import json
import time

import pytest

from tests.golden.case import OPTIONS
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind

DEFAULTS = """<document><data><json>{ "buyer": {"name": "a", "city": "b"}, "number": 1, "note": null,
  "lines": [{"text": "c", "price": 2}], "extra": {} }</json></data>
<flow><p>{{ buyer.name }} {{ number | number(0) }} {{ footer | default('') }}</p>
<p for="l in lines">{{ l.text }} {{ l.discount | default(0) }}</p></flow></document>"""


def reported(template: str, payload: object) -> list[str]:
    prepared = prepare_template(template.encode())
    given = Payload(PayloadKind.JSON, json.dumps(payload).encode())
    messages = [
        each.message
        for each in render(prepared, given, options=OPTIONS).warnings
        if each.code == "unknown-member"
    ]
    found = validate(prepared, given, options=OPTIONS)
    assert messages == [each.message for each in found if each.code == "unknown-member"]
    return messages


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"nubmer": 2}, '/nubmer is not used in the template; did you mean "number"?'),
        ({"buyer": {"nmae": "x"}}, '/buyer/nmae is not used in the template; did you mean "name"?'),
        ({"lines": [{"text": "x", "prize": 1}]}, '/lines/0/prize is not used in the template; did you mean "price"?'),
        ({"foter": "x"}, '/foter is not used in the template; did you mean "footer"?'),
    ],
)  # fmt: skip
def test_a_member_similar_to_a_missing_one_is_reported(payload: object, words: str):
    assert reported(DEFAULTS, payload) == [words]


@pytest.mark.parametrize(
    "payload",
    [
        {"number": 2, "note": "x", "footer": "y"},
        {"number": 2, "numbers": [1]},  # the right name is there too
        {"order_id": 7, "customer": {"tax": 1}},  # more data than this template has a use for
        {"lines": [{"text": "x", "price": 1, "discount": 2}]},
        {"extra": {"anything": 1}},
    ],
)
def test_unused_members_are_not_reported(payload: object):
    assert reported(DEFAULTS, payload) == []


def test_a_template_that_declares_its_data_knows_every_member():
    declared = (
        '<document><data><field name="number"/></data><flow><p>{{ number }}</p></flow></document>'
    )
    [message] = reported(declared, {"number": 1, "unrelated": 2})
    assert message == "/unrelated is not in the template's data section"


def test_braces_that_are_never_closed_cost_little():
    open_braces = DEFAULTS.replace("{{ buyer.name }}", "{{ " * 200_000)
    given = Payload(PayloadKind.JSON, b'{"nubmer": 2}')
    begun_at = time.process_time()
    validate(prepare_template(open_braces.encode()), given, options=OPTIONS)
    assert time.process_time() - begun_at < 5


@pytest.mark.long
def test_many_members_cost_little():
    many = {f"nunber{at}": at for at in range(20_000)}
    assert len(reported(DEFAULTS, many)) <= 50


def test_a_read_but_missing_member_is_reported_by_a_render():
    template = prepare_template(
        b"""<document><data><json>{"buyer": {"name": "a"}}</json><field name="buyer.name"/></data>
        <flow><p>a</p><p if="false">{{ buyer.nmae }}</p></flow></document>"""
    )
    for payload in (None, Payload(PayloadKind.JSON, b'{"buyer": {"name": "b"}}')):
        [warning] = render(template, payload, options=OPTIONS).warnings
        assert warning.code == "undeclared-member"
        assert 'did you mean "name"?' in warning.message
    given = Payload(PayloadKind.JSON, b'{"buyer": {"nmae": "b"}}')
    assert [each.code for each in render(template, given, options=OPTIONS).warnings] == [
        "unknown-member"
    ]
