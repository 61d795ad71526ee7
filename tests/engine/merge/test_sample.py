"""Sample values stand below the payload of a draft or preview, and are in no production document."""

from __future__ import annotations

import pytest

from tests.engine.merge.documents import merge, template, with_data
from workers.engine.diagnostics import Severity
from workers.engine.ports import PayloadKind

FIELDS = """
  <field name="number" required="true"/><field name="date" type="date" required="true"/>
  <field name="buyer.name" required="true"/><field name="buyer.tax"/>
  <dataset name="lines" required="true" csv="true"><field name="text" required="true"/><field name="qty" type="decimal"/></dataset>"""
SAMPLE = """<json>{ "word": "Invoice" }</json>
  <sample>{ "number": "R-0", "date": "2026-03-02", "buyer": { "name": "Example", "tax": "DE 1" }, "lines": [ { "text": "Saw", "qty": 1 } ] }</sample>"""
BILL = with_data(SAMPLE + FIELDS)
STRICT = template(f'<document><data unknown="error">{SAMPLE}{FIELDS}</data><flow/></document>')


def test_production_has_the_defaults_and_never_the_sample():
    made = merge(
        BILL,
        '{"number": "7", "date": "2026-01-01", "buyer": {"name": "B"}, "lines": [{"text": "T"}]}',
    )
    assert made.codes == []
    assert made.data["word"] == "Invoice"
    assert made.data["buyer"] == {"name": "B", "tax": None}


def test_production_names_every_required_value_that_is_missing():
    made = merge(BILL, "{}")
    assert made.codes == ["required"] * 4
    assert [finding.message.split()[0] for finding in made.findings] == [
        "/number", "/date", "/buyer/name", "/lines",
    ]  # fmt: skip


def test_more_than_twenty_missing_values_are_all_named():
    fields = "".join(f'<field name="f{n}" required="true"/>' for n in range(30))
    assert len(merge(with_data(fields), "{}").findings) == 30


def test_a_draft_has_the_sample_below_its_payload():
    made = merge(BILL, '{"number": "7", "buyer": {"name": "B"}}', with_sample=True)
    assert made.codes == []
    assert made.data["number"] == "7"
    assert made.data["buyer"] == {"name": "B", "tax": "DE 1"}
    assert made.data["lines"][0]["text"] == "Saw"


def test_rows_of_csv_replace_the_sample_rows():
    made = merge(BILL, "text,qty\nDrill,2\n", PayloadKind.CSV, with_sample=True)
    assert [row["text"] for row in made.data["lines"]] == ["Drill"]
    assert made.data["number"] == "R-0"


def test_the_data_of_an_xml_payload_are_above_the_sample():
    body = '<document><data><json>{"number": "7"}</json></data></document>'
    assert merge(BILL, body, PayloadKind.XML, with_sample=True).data["number"] == "7"
    assert merge(BILL, body, PayloadKind.XML).codes == ["required"] * 3


def test_the_sample_of_an_xml_payload_is_no_data_of_production():
    body = '<document><data><sample>{"number": "7"}</sample></data></document>'
    assert "required" in merge(BILL, body, PayloadKind.XML).codes
    assert merge(BILL, body, PayloadKind.XML, with_sample=True).data["number"] == "7"


def test_a_sample_that_is_not_json_is_an_error_with_its_position():
    made = merge(with_data('<sample>{ "a": 1, }</sample>'), "{}")
    assert made.only.code == "json"
    assert made.only.message.startswith("The sample values are not JSON at line 1, column ")


@pytest.mark.parametrize("member", ["Number", "numbr", "nmuber"])
def test_a_misspelled_member_is_refused_where_unknown_is_an_error(member):
    body = f'{{"{member}": "7"}}'
    (found,) = (each for each in merge(STRICT, body).findings if each.code == "unknown-member")
    assert found.severity is Severity.ERROR
    assert (
        found.message == f'/{member} is not in the template\'s data section; did you mean "number"?'
    )
    assert found.chain[0].tag_name == "data"
    (warned,) = (each for each in merge(BILL, body).findings if each.code == "unknown-member")
    assert warned.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("member", "meant"),
    [
        ("quantity", "qty"),
        ("tax_rate", "rate"),
        ("Tax", "rate"),
        ("Due date", "due"),
        ("first", ""),
    ],
)
def test_a_member_with_the_label_of_a_missing_one_is_refused(member, meant):
    source = template(
        '<document><data unknown="error"><dataset name="lines"><field name="qty" type="decimal" label="Quantity, in pieces"/>'
        '<field name="rate" type="decimal" label="Tax rate (0.19 for 19 %)"/>'
        '<field name="due" label="Due date"/><field name="from" label="First day"/></dataset></data><flow/></document>'
    )
    found = merge(source, f'{{"lines": [{{"{member}": "7"}}]}}').only
    assert found.severity is (Severity.ERROR if meant else Severity.WARNING)
    assert found.message.endswith(f'; did you mean "{meant}"?' if meant else "data section")
    if meant:  # beside the right one it is another value
        both = f'{{"lines": [{{"{member}": "7", "{meant}": "1"}}]}}'
        assert merge(source, both).only.severity is Severity.WARNING


def test_a_member_of_the_records_is_refused_beside_them():
    found = merge(STRICT, '{"qty": 2}', with_sample=True).only
    assert found.severity is Severity.ERROR
    assert found.message.endswith("; it is a member of the records of /lines")


def test_a_member_like_none_that_is_known_stays_a_warning():
    found = merge(STRICT, '{"Customer": "C"}', with_sample=True).only
    assert (found.code, found.severity) == ("unknown-member", Severity.WARNING)


def test_members_of_defaults_sample_and_declarations_are_known():
    source = template(
        '<document><data unknown="error"><json>{"words": {"a": 1}}</json><sample>{"free": {"b": 1}}</sample>'
        '<field name="number"/></data><flow/></document>'
    )
    assert merge(source, '{"words": {"a": 2}, "free": {"b": 2}, "number": "1"}').codes == []
    assert merge(source, '{"free": {"B": 2}}').only.severity is Severity.ERROR


def test_a_template_without_declarations_knows_its_sample_too():
    source = template(
        '<document><data unknown="error"><sample>{"customer": "C"}</sample></data>'
        "<flow><p>{{ customer }}</p></flow></document>"
    )
    found = merge(source, '{"Customer": "D"}').only
    assert (found.code, found.severity) == ("unknown-member", Severity.ERROR)
    assert merge(source, '{"customer": "D"}').codes == []


def test_a_misspelled_csv_column_is_refused_too():
    body = "text,qtty\nDrill,2\n"
    found = merge(STRICT, body, PayloadKind.CSV, with_sample=True).only
    assert (found.code, found.severity) == ("unknown-column", Severity.ERROR)
    assert merge(BILL, body, PayloadKind.CSV, with_sample=True).only.severity is Severity.WARNING


def test_a_misspelled_member_in_an_xml_payload_is_refused_too():
    body = '<document><data><json>{"Number": "7"}</json></data></document>'
    found = merge(STRICT, body, PayloadKind.XML, with_sample=True).only
    assert (found.code, found.severity) == ("unknown-member", Severity.ERROR)
