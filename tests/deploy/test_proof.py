"""What is published about conformance: records that can be made again, and a page that says the same."""

from __future__ import annotations

import json

import pytest

from tests.proof import DOCS, STANDARDS, check_invoices, check_templates, summarise


def test_the_published_page_is_the_summary_of_its_records():
    published = json.loads((DOCS / "conformance.json").read_text())
    rows = published["files"]
    assert len(rows) >= 500
    assert [row for row in rows if row["verdict"] == "fails"] == []
    assert {row["profile"] for row in rows} >= set(STANDARDS)
    head, _, rest = summarise(rows, published["date"], published["runs"]).partition(
        "Readers of the tests"
    )
    page = (DOCS / "conformance.md").read_text()
    assert page.startswith(head)
    assert (
        page.partition("## Electronic invoices")[2] == rest.partition("## Electronic invoices")[2]
    )


@pytest.mark.services
def test_a_template_conforms_in_every_profile_that_is_published():
    rows = list(check_templates(["service-receipt"]))
    assert {row["verdict"] for row in rows} == {"conforms"}
    assert len(rows) == len(STANDARDS)


def test_an_invoice_of_every_profile_is_judged_by_official_rules():
    assert {row["verdict"] for row in check_invoices()} <= {"conforms", "not wholly checked"}
