"""What is published about conformance: records that can be made again, and a page that says the same."""

from __future__ import annotations

import json

import pytest

from tests.proof import DOCS, STANDARDS, check_invoices, check_template, find_broken, summarise


def test_the_published_page_is_the_summary_of_its_records():
    published = json.loads((DOCS / "conformance.json").read_text())
    rows = published["files"]
    assert len(rows) >= 500
    assert [row for row in rows if row["verdict"] == "fails"] == []
    assert {row["profile"] for row in rows} >= set(STANDARDS)
    head, _, rest = summarise(rows, published["date"]).partition("Readers of the tests")
    page = (DOCS / "conformance.md").read_text()
    assert page.startswith(head)
    assert (
        page.partition("## Electronic invoices")[2] == rest.partition("## Electronic invoices")[2]
    )


@pytest.mark.long
def test_a_template_conforms_in_every_profile_that_is_published():
    rows = list(check_template("service-receipt"))
    assert {row["verdict"] for row in rows} == {"conforms"}
    assert len(rows) == 2 * len(STANDARDS)


def test_an_invoice_of_every_profile_is_judged_by_official_rules():
    assert {row["verdict"] for row in check_invoices()} <= {"conforms", "not wholly checked"}


def test_a_file_without_a_promise_breaks_each_standard():
    from tests.engine.finish.test_conformance import made

    assert all(find_broken(made("2b"), one) for one in STANDARDS if "ua" in one or "-3" in one)
