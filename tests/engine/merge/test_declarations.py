"""Declarations of the data section, and their errors."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from tests.engine.merge.documents import merge, template, with_data
from workers.engine.merge.types import FieldType


def test_a_whole_data_section_is_read():
    declared = with_data(
        '<json>{"a": 1.5}</json>'
        '<field name="buyer.name" required="true" maxlength="10" label="Buyer"/>'
        '<field name="due" type="date" min="2026-01-01"/>'
        '<dataset name="lines" csv="true" delimiter="tab" min-rows="1"><field name="qty"/></dataset>'
        '<let name="net" value="a * 2"/><assert test="net > 0" severity="warning"/>'
    ).declarations
    assert declared.defaults == {"a": Decimal("1.5")}
    name, due = declared.fields
    assert (name.path, name.is_required, name.label) == (("buyer", "name"), True, "Buyer")
    assert (due.type, due.minimum) == (FieldType.DATE, date(2026, 1, 1))
    (lines,) = declared.datasets
    assert (lines.delimiter, lines.min_rows, lines.accepts_csv) == ("\t", 1, True)
    assert declared.lets[0].attributes["value"] == "a * 2"
    assert declared.assertions[0].attributes["severity"] == "warning"


def test_a_json_error_is_reported_with_lines_of_the_file():
    source = (
        '<document>\n<data>\n <json><![CDATA[{\n  "a": 1\n  "b": 2 }]]></json></data></document>'
    )
    (finding,) = template(source).findings
    assert finding.location is not None
    assert finding.location.tag_name == "json"
    assert "at line 5, column 3: a comma is missing" in finding.message


def test_a_json_error_after_a_reference_keeps_its_column():
    (finding,) = with_data("<json>{&quot;a&quot; 1}</json>").findings
    assert "at line 1, column 38: a colon is missing" in finding.message


def test_a_null_of_the_defaults_is_a_value():
    declared = with_data('<json>{"a": null, "b": {"c": null}}</json>').declarations
    assert declared.defaults == {"a": None, "b": {"c": None}}


def test_a_null_of_later_defaults_removes_a_member():
    sections = '<json>{"a": 1, "b": null}</json><json>{"a": null, "c": {"d": null}}</json>'
    assert with_data(sections).declarations.defaults == {"b": None, "c": {}}


@pytest.mark.parametrize("text", ["[]", "1", '"x"', "null"])
def test_defaults_are_an_object(text: str):
    (finding,) = with_data(f"<json>{text}</json>").findings
    assert finding.code == "json"


@pytest.mark.parametrize(
    ("section", "code"),
    [
        ('<field name="a" type="integer" pattern="x"/>', "rule-type"),
        ('<field name="a" min="1"/>', "rule-type"),
        ('<field name="a" type="boolean" values="x"/>', "rule-type"),
        ('<field name="a" format="dd.MM.yyyy"/>', "rule-type"),
        ('<field name="a" type="date" min="1"/>', "wrong-value"),
        ('<field name="a" type="integer" max="1.5"/>', "wrong-value"),
        ('<field name="a" type="date" format="MMMM"/>', "wrong-value"),
        ('<field name="a" type="date" format="d.d.yy"/>', "wrong-value"),
        ('<field name="a" pattern="("/>', "wrong-value"),
        ('<field name="a"/><field name="a.b"/>', "crossing-paths"),
        ('<dataset name="a"/><field name="a.b"/>', "crossing-paths"),
        ('<dataset name="a" csv="true"/><dataset name="b" csv="true"/>', "csv-dataset"),
        ('<field name="a..b"/>', "wrong-value"),
        ("<field/>", "missing-attribute"),
        ('<let name="page" value="1"/>', "wrong-value"),
    ],
)
def test_invalid_declarations_are_reported(section: str, code: str):
    assert [finding.code for finding in with_data(section).findings] == [code]


def test_a_document_without_data_declares_nothing():
    assert merge(template("<document><flow/></document>")).data == {}
