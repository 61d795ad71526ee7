"""Data and foreign XML as the record of an invoice: what is read, and what is refused."""

from __future__ import annotations

import contextlib
from datetime import UTC, date, datetime
from decimal import Decimal
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.einvoices import samples
from workers.engine.einvoices.files import read_invoice, write_invoice
from workers.engine.einvoices.mapping import MAX_ENTRIES
from workers.engine.einvoices.markup import MAX_DEPTH, MAX_ELEMENTS, read_xml
from workers.engine.einvoices.profiles import PROFILES
from workers.engine.einvoices.records import MAX_INVALID, MAX_TEXT, read_record
from workers.engine.einvoices.terms import BY_NUMBER, walk_terms
from workers.engine.xml_reader import UnreadableXmlError

EN16931 = PROFILES["en16931"]


def written(**changes: object) -> bytes:
    return write_invoice(read_record(samples.full() | changes)[0], EN16931)


def test_every_business_term_of_the_standard_is_there():
    assert set(BY_NUMBER) == {f"BT-{number}" for number in range(1, 166)} - {"BT-4"}
    assert BY_NUMBER["BT-146"].path == "lines[].price.net"
    assert len({path.path for path in walk_terms()}) == len(list(walk_terms()))


def test_values_are_read_as_their_terms_take_them():
    record, problems = read_record(
        {
            "number": 42,
            "issueDate": datetime(2026, 3, 2, 9, tzinfo=UTC),
            "dueDate": date(2026, 4, 1),
            "totals": {"due": "1.50", "paid": 0},
            "documents": [{"content": "aGVsbG8="}],
            "projectReference": None,
            "contractReference": "",
            "paymentTerms": "  two \n lines ",
        }
    )
    assert problems == []
    assert record == {
        "number": "42",
        "issueDate": date(2026, 3, 2),
        "dueDate": date(2026, 4, 1),
        "totals": {"due": Decimal("1.50"), "paid": Decimal(0)},
        "documents": [{"content": b"hello"}],
        "paymentTerms": "two \n lines",
    }


@pytest.mark.parametrize(
    ("data", "path", "reported"),
    [
        ([], "/", "must be a record, not a list"),
        (None, "/", "must be a record, not nothing"),
        ({"totals": {"due": "NaN"}}, "/totals/due", "must be a number"),
        ({"totals": {"due": Decimal("NaN")}}, "/totals/due", "at most 18 digits"),
        ({"totals": {"due": Decimal("Infinity")}}, "/totals/due", "at most 18 digits"),
        ({"totals": {"due": "1e5"}}, "/totals/due", "must be a number"),
        ({"totals": {"due": Decimal("1e999999")}}, "/totals/due", "at most 18 digits"),
        ({"totals": {"due": Decimal("1e-999999")}}, "/totals/due", "at most 18 digits"),
        ({"totals": {"due": "9" * 10_000}}, "/totals/due", "must be a number"),
        ({"totals": {"due": Decimal("9" * 10_000)}}, "/totals/due", "at most 18 digits"),
        ({"totals": {"due": "١"}}, "/totals/due", "must be a number"),
        ({"totals": {"due": True}}, "/totals/due", "must be a number, not true"),
        ({"totals": []}, "/totals", "must be a record"),
        ({"lines": {}}, "/lines", "must be a list"),
        ({"lines": [{"quantty": 1}]}, "/lines/0/quantty", "is not a term of this group"),
        ({"lines": [{}] * (MAX_ENTRIES + 1)}, "/lines", "accepted are 20,000"),
        ({"issueDate": "02.03.2026"}, "/issueDate", "2026-03-02"),
        ({"issueDate": "2026-02-30"}, "/issueDate", "(BT-2) must be a date"),
        ({"number": True}, "/number", "must be text"),
        ({"number": ["a"]}, "/number", "must be text, not a list"),
        ({"number": "a\x00"}, "/number", "control character"),
        ({"number": "a\ud800"}, "/number", "control character"),
        ({"number": "a" * (MAX_TEXT + 1)}, "/number", "accepted are 20,000"),
        ({"documents": [{"content": "%%%"}]}, "/documents/0/content", "base64"),
        ({"guideline": "x"}, "/guideline", "is not a term of this group"),
    ],
)
def test_data_that_are_not_an_invoice_are_reported_with_their_position(data, path, reported):
    record, [problem] = read_record(data)
    assert problem.path == path
    assert reported in problem.message
    write_invoice(record, EN16931)  # what is left can be written


def test_problems_are_bounded():
    _, problems = read_record({f"a{n}": 1 for n in range(1000)})
    assert len(problems) == MAX_INVALID


def test_markup_in_data_stays_text():
    content = written(number="<a>&\"'\r\n\t</a>")
    assert read_invoice(content).record["number"] == "<a>&\"'\r\n\t</a>"


# --- foreign XML -------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (b"", "no element found"),
        (b"<a>", "no element found"),
        (b"\xff\xfe\x00", "line 1"),
        (b"<?xml version='1.0' encoding='utf-7'?><a/>", "encoding"),
        (b"<!DOCTYPE a><a/>", "document type declaration"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "document type declaration"),
        (b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "document type declaration"),
        (b"<a>" * (MAX_DEPTH + 1) + b"</a>" * (MAX_DEPTH + 1), "more than 50 deep"),
        (b"<a>" + b"<b/>" * MAX_ELEMENTS + b"</a>", "more than 400,000 elements"),
        (b"<a>" + b" " * 20 * 1024 * 1024 + b"</a>", "bytes, accepted are"),
    ],
)
def test_xml_that_is_broken_or_out_of_bounds_is_refused(content, reported):
    with pytest.raises(UnreadableXmlError, match=reported):
        read_invoice(content)


@pytest.mark.long
def test_ten_megabytes_are_read_in_seconds():
    content = written().replace(
        b"<rsm:SupplyChainTradeTransaction>",
        b"<rsm:SupplyChainTradeTransaction>"
        + b"<ram:IncludedSupplyChainTradeLineItem/>" * (10 * 1024 * 1024 // 39),
    )
    began = process_time()
    found = read_invoice(content)
    assert process_time() - began < 10
    assert len(found.record["lines"]) == MAX_ENTRIES


@pytest.mark.parametrize(
    "value", ["1" * 10_000, "1e5", "NaN", "INF", "1,5", "0x1", "١", "--1", "1 000"]
)
def test_an_invalid_amount_is_reported(value):
    content = written().replace(
        b"<ram:GrandTotalAmount>236.82<", f"<ram:GrandTotalAmount>{value}<".encode()
    )
    broken = {one.rule: one for one in read_invoice(content).deviations}
    assert broken["syntax"].path == "/totals/withVat"
    assert "must be a number of at most 18 digits before and 10 after" in broken["syntax"].message


def test_an_invalid_date_is_reported():
    content = written().replace(b">20260401<", b">20260431<")
    [broken] = read_invoice(content).deviations
    assert broken.path == "/dueDate"


def test_xml_of_other_namespaces_is_no_invoice():
    assert read_invoice(b"<CrossIndustryInvoice/>") is None
    other = written().replace(b"ReusableAggregateBusinessInformationEntity:100", b"other:100")
    assert read_invoice(other).record == {}


def test_an_unknown_guideline_has_no_profile():
    content = written().replace(b"urn:cen.eu:en16931:2017<", b"urn:other<")
    found = read_invoice(content)
    assert found.profile is None
    assert found.deviations == ()


def test_other_prefixes_are_read_alike():
    content = written()
    renamed = content.replace(b"ram:", b"x:").replace(b"xmlns:ram", b"xmlns:x")
    assert read_invoice(renamed).record == read_invoice(content).record


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content):
    with contextlib.suppress(UnreadableXmlError):
        read_xml(content)


_JSON = st.recursive(
    st.none() | st.booleans() | st.decimals() | st.text(max_size=20) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [place.term.name for place in walk_terms()] + ["lines", "seller", "totals"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON)
def test_any_data_are_read_or_reported(data):
    record, _ = read_record(data)
    found = read_invoice(write_invoice(record, EN16931))
    assert found is not None
