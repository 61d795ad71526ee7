"""JSON payloads over defaults: types, rules, and where a message points."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from tests.engine.merge.documents import merge, with_data
from workers.engine.diagnostics import Severity
from workers.engine.merge.conversion import MAX_DATA_FINDINGS


def field(attributes: str, value: str) -> Any:
    outcome = merge(with_data(f'<field name="a" {attributes}/>'), f'{{"a": {value}}}')
    assert outcome.findings == ()
    return outcome.data["a"]


@pytest.mark.parametrize(
    ("kind", "sent", "value"),
    [
        ("string", '"x"', "x"),
        ("string", "1.50", "1.50"),
        ("integer", "2", Decimal(2)),
        ("integer", "2.0", Decimal(2)),
        ("integer", '"-12"', Decimal(-12)),
        ("decimal", '"-1234.56"', Decimal("-1234.56")),
        ("decimal", '" 12.50 "', Decimal("12.50")),
        ("integer", '"7 "', Decimal(7)),
        ("decimal", "0.1", Decimal("0.1")),
        ("boolean", "true", True),
        *(
            ("date", f'"{text}"', date(2026, 11, 26))
            for text in (
                *("2026-11-26", "20261126", "2026-W48-4", "2026W484", "2026-330", "2026330"),
                *("2026-11-26T00:00:00Z", "20261126T2330+0200", "2026-11-26 10:00", "2026-330t10"),
            )
        ),
        ("datetime", '"20260228T1000Z"', datetime(2026, 2, 28, 10, tzinfo=UTC)),
        ("datetime", '"2026-W09-6T12:00:00,5+02"', datetime(2026, 2, 28, 10, 0, 0, 500_000, tzinfo=UTC)),
        ("datetime", '"2026-02-28T10:00:00Z"', datetime(2026, 2, 28, 10, tzinfo=UTC)),
        ("datetime", '"2026-02-28T24:00:00Z"', datetime(2026, 3, 1, tzinfo=UTC)),
        ("datetime", '"20260228T2400+02"', datetime(2026, 2, 28, 22, tzinfo=UTC)),
        ("datetime", '"2026-02-28T10:00:00.1234567+02:00"', datetime(2026, 2, 28, 8, 0, 0, 123456, tzinfo=UTC)),
        ("time", '"09:30"', time(9, 30)),
        ("time", '"09:30:15"', time(9, 30, 15)),
        ("image", '"logo"', "logo"),
        ("image", '"https://images.example/logo.svg"', "https://images.example/logo.svg"),
        ("image", '""', ""),
        ("markdown", '"*x*"', "*x*"),
        ("json", '{"b": [1]}', {"b": [Decimal(1)]}),
    ],
)  # fmt: skip
def test_each_type_reads_its_json_forms(kind: str, sent: str, value: object):
    assert field(f'type="{kind}"', sent) == value


@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        ("string", "true"),
        ("string", "{}"),
        ("integer", "1.5"),
        ("integer", '"1.0"'),
        ("integer", "true"),
        ("decimal", '"1e5"'),
        ("decimal", '"1,5"'),
        ("decimal", '""'),
        ("boolean", '"true"'),
        ("boolean", "1"),
        ("date", '"2026-02-30"'),
        ("date", '"2026-366"'),
        ("date", '"2026-W54-1"'),
        ("date", '"2026-W10"'),
        ("date", '"2026-02-28T25:00:00Z"'),
        ("date", '"2026-0228"'),
        ("datetime", '"2026-02-28T10:00:00"'),
        ("datetime", '"2026-02-28T24:01:00Z"'),
        ("datetime", '"9999-12-31T24:00:00Z"'),
        ("datetime", '"0001-01-01T00:00:00+14:00"'),
        ("time", '"9:30"'),
        ("time", '"25:00"'),
        ("image", '"../logo"'),
        ("markdown", "1"),
    ],
)
def test_invalid_values_are_reported_at_the_field(kind: str, sent: str):
    finding = merge(with_data(f'<field name="a" type="{kind}"/>'), f'{{"a": {sent}}}').only
    assert finding.code == "wrong-data"
    assert finding.message.startswith("/a is ")
    assert finding.location is not None
    assert finding.location.tag_name == "field"


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (r'pattern="\d{4}"', '"2026"', '"20267"'),
        ('values="low high"', '"low"', '"medium"'),
        ('values="In progress, Done"', '"In progress"', '"In"'),
        ('maxlength="3"', '"abc"', '"abcd"'),
        ('type="decimal" min="0" max="10.5"', "10.5", "10.51"),
        ('type="date" min="2026-01-01"', '"2026-01-01"', '"2025-12-31"'),
        ('type="integer" values="1,2"', "2", "3"),
    ],
)
def test_each_rule_holds(rule: str, good: str, bad: str):
    assert field(rule, good) is not None
    assert merge(with_data(f'<field name="a" {rule}/>'), f'{{"a": {bad}}}').codes == ["wrong-data"]


@pytest.mark.parametrize("sent", ["{}", '{"a": null}', '{"a": ""}'])
def test_a_required_value_must_not_be_empty(sent: str):
    finding = merge(with_data('<field name="a" required="true" label="Number"/>'), sent).only
    assert (finding.code, finding.message) == ("required", "/a (Number) is empty, but is required")


def test_an_absent_declared_value_reads_as_none_and_a_list_as_empty():
    source = with_data('<json>{"b": 1}</json><field name="x.y"/><dataset name="rows"/>')
    assert merge(source, '{"b": null}').data == {"x": {"y": None}, "rows": []}


def test_the_defaults_are_converted_and_never_changed():
    source = with_data(
        '<json>{"d": "2026-01-01", "x": {"y": 1}}</json><field name="d" type="date"/>'
    )
    first = merge(source, '{"x": {"y": 2, "z": 3}}')
    assert first.data == {"d": date(2026, 1, 1), "x": {"y": Decimal(2), "z": Decimal(3)}}
    assert merge(source, "{}").data == {"d": date(2026, 1, 1), "x": {"y": Decimal(1)}}


def test_a_wrong_default_matters_only_where_it_is_used():
    source = with_data('<json>{"d": "soon"}</json><field name="d" type="date"/>')
    assert merge(source).codes == ["wrong-data"]
    assert merge(source, '{"d": "2026-01-01"}').codes == []


def test_rows_are_converted_by_their_fields():
    source = with_data(
        '<dataset name="lines"><field name="qty" type="decimal"/><field name="p.q" type="date"/></dataset>'
    )
    outcome = merge(source, '{"lines": [{"qty": "1.5", "p": {"q": "2026-01-01"}}, {"x": 1}]}')
    assert outcome.data["lines"] == [
        {"qty": Decimal("1.5"), "p": {"q": date(2026, 1, 1)}},
        {"qty": None, "p": {"q": None}, "x": Decimal(1)},
    ]


def test_an_invalid_cell_is_reported_with_its_pointer():
    source = with_data('<dataset name="lines"><field name="qty" type="decimal"/></dataset>')
    finding = merge(source, '{"lines": [{"qty": 1}, {"qty": "a longer text than twenty"}]}').only
    assert finding.message == (
        '/lines/1/qty is "a longer text than …", accepted is a number, or text such as -1234.56'
    )


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ('{"lines": {}}', "/lines is an object, accepted is a list of records"),
        ('{"lines": [1]}', "/lines/0 is 1, accepted is an object"),
        ('{"lines": []}', "/lines has 0 records, accepted are 1 or more"),
        ('{"lines": [{}, {}, {}]}', "/lines has 3 records, accepted are at most 2"),
    ],
)
def test_the_shape_of_a_list_is_checked(sent: str, says: str):
    source = with_data(
        '<dataset name="lines" min-rows="1" max-rows="2"><field name="a"/></dataset>'
    )
    assert merge(source, sent).only.message == says


def test_a_path_through_a_scalar_is_reported():
    finding = merge(with_data('<field name="buyer.name"/>'), '{"buyer": "Ann"}').only
    assert finding.message == '/buyer is "Ann", accepted is an object with the member "name"'


def test_at_most_twenty_findings_are_listed_then_counted():
    source = with_data('<dataset name="r"><field name="n" type="integer"/></dataset>')
    rows = ",".join(['{"n": "x"}'] * 50)
    outcome = merge(source, f'{{"r": [{rows}]}}')
    assert len(outcome.findings) == MAX_DATA_FINDINGS + 1
    assert outcome.findings[-1].message == "The data have 30 more findings like these"
    assert outcome.merged is not None
    assert not outcome.merged.is_data_valid


def test_undeclared_members_are_warnings_with_the_nearest_name():
    source = with_data(
        '<json>{"seller": {"name": "x"}}</json><dataset name="lines"><field name="qty"/></dataset>'
    )
    outcome = merge(source, '{"line": 1, "seller": {"nam": 1}, "lines": [{"qt": 1}, {"qt": 2}]}')
    assert {finding.severity for finding in outcome.findings} == {Severity.WARNING}
    assert [finding.message.split(" ")[0] for finding in outcome.findings] == [
        "/line",
        "/seller/nam",
        "/lines/0/qt",
    ]
    assert outcome.findings[0].message.endswith('did you mean "lines"?')


def test_without_declarations_any_member_will_do():
    assert merge(with_data("<json>{}</json>"), '{"anything": 1}').codes == []


@pytest.mark.parametrize("body", ["[]", "1", '"x"', "null", "", "{", b"\xff", '{"a":1,"a":2}'])
def test_a_payload_that_is_no_json_object_is_one_finding(body: str | bytes):
    outcome = merge(with_data('<field name="a" required="true"/>'), body)
    assert outcome.only.code in ("json", "encoding")


def test_a_pattern_is_not_tried_on_texts_without_bound():
    source = with_data('<field name="a" pattern="x*"/>')
    assert merge(source, f'{{"a": "{"x" * 10_001}"}}').codes == ["wrong-data"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("date", text) for text in ("0000-01-01", "10000-01-01", "-0044-03-15", "+012026-01-01")),
        ("datetime", "0000-01-01T00:00:00Z"),
        ("datetime", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_a_year_out_of_range_is_named(kind, text):
    source = with_data(f'<field name="v" type="{kind}"/>')
    assert (
        "accepted is a date in the years 0001 to 9999"
        in merge(source, f'{{"v": "{text}"}}').only.message
    )
