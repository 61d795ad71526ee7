"""Undeclared members are reported by validation, where a declaration lists the members."""

from __future__ import annotations

import pytest

from tests.golden.case import OPTIONS
from workers.engine.pipeline import prepare_template, validate
from workers.engine.ports import Payload, PayloadKind

DATA = """<data><json>{ "buyer": { "name": "a", "note": "b" }, "free": { "x": 1 }, "loose": [{ "k": 1 }] }</json>
<field name="buyer.name"/><field name="buyer.address.town"/>
<dataset name="rows"><field name="qty"/></dataset><let name="first" value="1"/></data>"""


def reported(flow: str, data: str = DATA) -> list[str]:
    document = f"<document>{data}<flow>{flow}</flow></document>"
    found = validate(None, Payload(PayloadKind.XML, document.encode()), options=OPTIONS)
    return [one.message for one in found if one.code == "undeclared-member"]


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        (
            '<p if="false">{{ buyer.nmae }}</p>',
            'the member "nmae" in {{ buyer.nmae }}; did you mean "name"?',
        ),
        ('<p if="buyer.adress">a</p>', 'did you mean "address"?'),
        ("<p if='false'>{{ buyer.address.twon }}</p>", 'did you mean "town"?'),
        ('<p for="r in rows">{{ r.qtty }}</p>', 'did you mean "qty"?'),
        ('<p for="r in buyer.rows">a</p>', 'the member "rows"'),
        ('<p for="r in rows"><a href="{{ r.link }}">a</a></p>', 'the member "link"'),
        (
            '<table><col/><tr for="r in rows"><td>{{ r.qty + r.prize }}</td></tr></table>',
            'the member "prize"',
        ),
    ],
)
def test_an_undeclared_member_is_reported(flow: str, said: str):
    (message,) = reported(flow)
    assert said in message


@pytest.mark.parametrize(
    "flow",
    [
        "<p>{{ buyer.name }} {{ buyer.note }} {{ buyer.address }}</p>",
        '<p for="r in rows">{{ r.qty }} {{ loop.index }}</p>',
        "<p if='false'>{{ free.y }}</p>",  # no field says what is in it
        '<p for="l in loose" if="false">{{ l.y }}</p>',
        "<p>{{ buyer.vat | default('none') }}</p>",
        "<p if='buyer.vat is defined'>a</p>",
        '<p for="buyer in loose">{{ buyer.k }}</p>',
        '<div><let name="buyer" value="free"/><p>{{ buyer.x }}</p></div>',
        "<p for=\"r in rows | where('qty > 1')\">{{ r.other | default(1) }}</p>",
    ],
)
def test_members_that_data_may_have_are_not_reported(flow: str):
    assert reported(flow) == []


def test_members_of_the_request_data_are_known():
    document = f"<document>{DATA}<flow><p>{{{{ buyer.vat }}}}</p></flow></document>"
    template = prepare_template(document.encode())
    codes = [one.code for one in validate(template, None, options=OPTIONS)]
    assert "undeclared-member" in codes
    payload = Payload(PayloadKind.JSON, b'{"buyer": {"vat": "1"}}')
    codes = [one.code for one in validate(template, payload, options=OPTIONS)]
    assert "undeclared-member" not in codes
