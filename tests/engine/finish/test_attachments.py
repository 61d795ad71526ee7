"""Embedded files: what the PDF holds of them, and how they are written from text and data."""

from __future__ import annotations

import hashlib
import io
from datetime import UTC, date, datetime, timedelta, timezone

import pikepdf
import pytest

from tests.engine.einvoices import samples
from tests.engine.finish.archive_rules import find_violations
from tests.engine.paint.drawing import page
from tests.golden.case import OPTIONS, Case
from workers.engine.diagnostics import AuthoringError, Findings, Severity
from workers.engine.einvoices.files import write_invoice
from workers.engine.einvoices.profiles import PROFILES
from workers.engine.einvoices.records import read_record
from workers.engine.layout.display import LaidOutDocument
from workers.engine.paint.attachments import write_date
from workers.engine.paint.writer import write_pages
from workers.engine.pipeline import prepare_template, render, validate, write_pdf
from workers.engine.ports import (
    UNDATED,
    Attachment,
    Payload,
    PayloadKind,
    PdfMetadata,
    Rendered,
    Security,
)

FX = "{urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#}"
NOTE = Attachment("b.txt", b"two", "text/plain", date(2026, 3, 2), "data", "A note")


def finished(*attachments: Attachment, security: Security | None = None) -> bytes:
    laid_out, description = LaidOutDocument([page()], []), PdfMetadata(attachments=attachments)
    return write_pdf(laid_out, description, security, findings=Findings())


def rendered(document: str) -> Rendered:
    return render(None, Payload(PayloadKind.XML, document.encode()), options=OPTIONS)


def files(document: str) -> dict[str, bytes]:
    with pikepdf.open(io.BytesIO(rendered(document).pdf)) as pdf:
        return {name: one.get_file().read_bytes() for name, one in pdf.attachments.items()}


def attached(inside: str, data: str = "{}", **attributes: str) -> bytes:
    given = "".join(f" {name}='{value}'" for name, value in attributes.items())
    document = (
        f"<document><data><json><![CDATA[{data}]]></json></data><flow><p>a</p></flow>"
        f"<attachment name='a.txt'{given}>{inside}</attachment></document>"
    )
    return files(document)["a.txt"]


def errors(document: str) -> list[str]:
    with pytest.raises(AuthoringError) as caught:
        rendered(document)
    return [one.text for one in caught.value.diagnostics]


def test_a_file_of_type_json_is_json():
    source = (
        '<document><data><json>{"name": "A"}</json></data><flow><p>a</p></flow>'
        "<attachment name='a.json' type='application/json'>{\"name\": {{ name }}}</attachment></document>"
    )
    (told,) = errors(source)
    assert 'The attachment "a.json" is not JSON' in told
    assert rendered(source.replace("{{ name }}", '"{{ name }}"')).pages == 1


# --- the file -------------------------------------------------------------------------------------------


def test_a_file_is_listed_associated_and_described():
    with pikepdf.open(io.BytesIO(finished(NOTE))) as pdf:
        key, specification = pdf.Root.Names.EmbeddedFiles.Names
        assert str(key) == str(specification.F) == str(specification.UF) == "b.txt"
        assert specification.AFRelationship == "/Data"
        assert str(specification.Desc) == "A note"
        assert [one.objgen for one in pdf.Root.AF] == [specification.objgen]
        stream = specification.EF.F
        assert stream.read_bytes() == b"two"
        assert stream.Subtype == "/text/plain"
        assert stream.Params.Size == 3
        assert str(stream.Params.ModDate) == "D:20260302"
        assert bytes(stream.Params.CheckSum) == hashlib.md5(b"two").digest()
        assert pdf.check_pdf_syntax() == []


def test_a_file_without_a_time_has_one_that_no_clock_changes():
    file = rendered('<document><flow/><attachment name="a.txt">one</attachment></document>').pdf
    with pikepdf.open(io.BytesIO(file)) as pdf:
        _, specification = pdf.Root.Names.EmbeddedFiles.Names
        assert str(specification.EF.F.Params.ModDate) == write_date(UNDATED)


def test_files_are_listed_in_the_order_of_their_names():
    names = ["z.txt", "ä.txt", "a.txt", "漢.txt", "B.txt"]
    file = finished(*(Attachment(name, b"1", "text/plain", NOTE.modified) for name in names))
    with pikepdf.open(io.BytesIO(file)) as pdf:
        keys = [bytes(key) for key in list(pdf.Root.Names.EmbeddedFiles.Names)[::2]]
        assert keys == sorted(keys)
        assert set(pdf.attachments.keys()) == set(names)


def test_links_and_files_share_the_tree_of_names():
    document = (
        '<document><flow><h1 id="a">a</h1><p><a href="#a">b</a></p></flow>'
        '<attachment name="a.txt">one</attachment></document>'
    )
    with pikepdf.open(io.BytesIO(rendered(document).pdf)) as pdf:
        assert set(pdf.Root.Names.keys()) == {"/Dests", "/EmbeddedFiles"}


def test_files_are_encrypted_with_the_document():
    file = finished(NOTE, security=Security("secret", None))
    with pikepdf.open(io.BytesIO(file), password="secret") as pdf:
        assert pdf.attachments["b.txt"].get_file().read_bytes() == b"two"
    assert b"A note" not in file


def test_a_draft_carries_its_files():
    description = PdfMetadata(attachments=(NOTE,), is_draft=True)
    file = write_pages(LaidOutDocument([page()], []), description)
    with pikepdf.open(io.BytesIO(file)) as pdf:
        assert list(pdf.attachments) == ["b.txt"]


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (date(2026, 3, 2), "D:20260302"),
        (datetime(2026, 3, 2, 9, 30, tzinfo=UTC), "D:20260302093000Z"),
        (
            datetime(2026, 3, 2, 9, 30, tzinfo=timezone(timedelta(hours=5, minutes=30))),
            "D:20260302093000+05'30'",
        ),
        (
            datetime(2026, 3, 2, 9, 30, tzinfo=timezone(-timedelta(hours=3, minutes=30))),
            "D:20260302093000-03'30'",
        ),
    ],
)
def test_dates_are_written_as_pdf_does(moment, written):
    assert write_date(moment) == written


# --- what it holds --------------------------------------------------------------------------------------


def test_case_with_files():
    case = Case("attachment")
    made = files(case.source.decode())
    assert made == {
        "factur-x.xml": b"<a/>",
        "note.eml": b"Subject: 7 & 8",
        "order.xml": b'<order number="7 &amp; 8"/>',
        "picture.png": b"hello",
        "rows.json": b'[{"a": 1.50, "b": null}]',
    }


def test_text_is_taken_as_written():
    assert attached("<![CDATA[ a\n  b  ]]>") == b"a\n  b"
    assert attached("{{ '{{' }} ä") == "{{ ä".encode()


@pytest.mark.parametrize(
    ("inside", "held"),
    [
        ("<![CDATA[a;b\r\n1;2\r\n]]>", b"a;b\r\n1;2\r\n"),
        ("<![CDATA[a\rb\nc\r\n]]>", b"a\rb\nc\r\n"),
        ("<![CDATA[a\n\n]]>", b"a\n\n"),
        ("\r\n  <![CDATA[\r\na\r\n  b\r\n  ]]>\r\n", b"a\r\n  b\r\n"),
        ("<![CDATA[\n\na]]>", b"\na"),  # one line end puts the text on a line of its own
        ("<![CDATA[{{ 'ä' }}\r\n]]><![CDATA[ü\r\n]]>", "ä\r\nü\r\n".encode()),
        ("<!-- -->a\r\n<![CDATA[b\r\n]]> <!-- -->", b"a\nb\r\n"),
        ("a&#13;\r\nb\r\n", b"a\r\nb"),  # of other text XML itself makes line feeds (XML 1.0, 2.11)
    ],
)
def test_cdata_keeps_its_line_ends(inside: str, held: bytes):
    assert attached(inside) == held


def test_the_line_ends_of_xml_stay_but_for_those_around_it():
    written = "<![CDATA[\r\n<?xml version='1.0'?>\r\n<a>\r\n</a>\r\n]]>"
    held = b"<?xml version='1.0'?>\r\n<a>\r\n</a>"
    assert attached(written, type="application/xml") == held


def test_cdata_of_white_space_alone_is_an_empty_attachment():
    inside = "<attachment name='a'> <![CDATA[ \r\n ]]></attachment>"
    assert errors(f"<document><flow/>{inside}</document>")[0].endswith("[empty-attachment]")


def test_records_become_json_with_exact_numbers():
    data = '{"r": {"n": 0.10, "big": 12345678901234567890.5, "t": "a\\"b", "l": [true, null], "ä": ""}}'
    assert attached("", data, value="r").decode() == (
        '{"n": 0.10, "big": 12345678901234567890.5, "t": "a\\"b", "l": [true, null], "ä": ""}'
    )


def test_values_cannot_become_markup():
    data = '{"v": "</a><b c=\\"1\\"> & {{ x }}"}'
    assert attached("<![CDATA[<a>{{ v }}</a>]]>", data, type="application/xml") == (
        b"<a>&lt;/a&gt;&lt;b c=&quot;1&quot;&gt; &amp; {{ x }}</a>"
    )
    assert attached('<![CDATA[{"a": "{{ v }}"}]]>', data, type="application/json") == (
        b'{"a": "</a><b c=\\"1\\"> & {{ x }}"}'
    )
    assert attached("{{ v }}", data) == b'</a><b c="1"> & {{ x }}'


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("a.xml", "/text/xml"), ("A.PDF", "/application/pdf"), ("a", "/application/octet-stream")],
)
def test_the_type_follows_the_ending_of_the_name(name, media_type):
    document = (
        f'<document><flow/><attachment name="{name}"><![CDATA[<a/>]]></attachment></document>'
    )
    with pikepdf.open(io.BytesIO(rendered(document).pdf)) as pdf:
        assert pdf.Root.AF[0].EF.F.Subtype == media_type


@pytest.mark.parametrize("name", ["../a", "a\\b", ".a", "a\u202etxt.exe", "C:a", "a" * 151, ""])
def test_names_that_would_be_places_are_refused(name):
    assert (
        "file name"
        in errors(f'<document><flow/><attachment name="{name}">a</attachment></document>')[0]
    )


def test_files_are_bounded():
    many = "".join(f'<attachment name="{at}">a</attachment>' for at in range(101))
    assert errors(f"<document><flow/>{many}</document>")[0].endswith("[attachments-too-large]")
    assert "101 files" in errors(f"<document><flow/>{many}</document>")[0]
    data = f'<data><json>{{ "a": "{"a" * 1_000_000}" }}</json></data>'
    large = "".join(f'<attachment name="{at}" value="a"/>' for at in range(21))
    assert "21 files of 21,000,000 bytes" in errors(f"<document>{data}<flow/>{large}</document>")[0]


def test_entities_are_not_expanded():
    lines = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(12))
    bomb = f'<!DOCTYPE a [<!ENTITY a0 "x">{lines}]><a>&a12;</a>'
    assert attached(f"<![CDATA[{bomb}]]>", type="text/xml") == bomb.encode()


def test_a_payload_replaces_a_file_of_the_same_name():
    case = Case("attachment")
    overlay = '<document><attachment name="order.xml"><![CDATA[<own/>]]></attachment></document>'
    pdf = render(
        prepare_template(case.source), Payload(PayloadKind.XML, overlay.encode()), options=OPTIONS
    ).pdf
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        assert opened.attachments["order.xml"].get_file().read_bytes() == b"<own/>"
        assert len(opened.attachments) == 5


# --- electronic invoices --------------------------------------------------------------------------------


def written(profile: str) -> str:
    """Write an invoice without the XML declaration's line."""
    record, _ = read_record(samples.plain() if profile != "xrechnung" else samples.full())
    return write_invoice(record, PROFILES[profile]).decode()


def invoice(profile: str, name: str = "factur-x.xml", relationship: str = "alternative") -> str:
    return (
        f'<document profile="pdf/a-3b" title="t" lang="en"><flow><p>a</p></flow><attachment name="{name}" '
        f'relationship="{relationship}"><![CDATA[{written(profile)}]]></attachment></document>'
    )


@pytest.mark.parametrize(
    ("profile", "name", "relationship", "level"),
    [
        ("minimum", "factur-x.xml", "data", "MINIMUM"),
        ("basicwl", "factur-x.xml", "data", "BASIC WL"),
        ("basic", "factur-x.xml", "alternative", "BASIC"),
        ("en16931", "factur-x.xml", "source", "EN 16931"),
        ("extended", "factur-x.xml", "alternative", "EXTENDED"),
        ("xrechnung", "xrechnung.xml", "alternative", "XRECHNUNG"),
    ],
)
def test_an_invoice_is_declared_in_the_metadata(profile, name, relationship, level):
    made = rendered(invoice(profile, name, relationship))
    assert made.warnings == ()
    assert find_violations(made.pdf, 3) == []
    with pikepdf.open(io.BytesIO(made.pdf)) as pdf, pdf.open_metadata() as packet:
        assert packet[f"{FX}ConformanceLevel"] == level
        assert packet[f"{FX}DocumentFileName"] == name
        assert packet[f"{FX}DocumentType"] == "INVOICE"
        assert packet[f"{FX}Version"] == "1.0"


@pytest.mark.parametrize(
    ("document", "reported"),
    [
        (
            invoice("en16931").replace(">urn:cen.eu:en16931:2017<", ">urn:other<"),
            "states no guideline",
        ),
        (invoice("en16931", relationship="supplement"), '"alternative" or "source"'),
        (invoice("minimum"), 'asks for "data"'),
    ],
)
def test_an_invoice_that_readers_would_not_find_is_warned_of(document, reported):
    (warning,) = rendered(document).warnings
    assert warning.code == "attachment-invoice"
    assert warning.severity is Severity.WARNING
    assert reported in warning.message


def test_an_invoice_outside_of_a_pdf_a_3_is_warned_of_at_its_attachment():
    document = invoice("en16931")
    assert rendered(document).warnings == ()
    plain = document.replace(' profile="pdf/a-3b"', "")
    [warning] = rendered(plain).warnings
    assert warning.code == "invoice-profile"
    assert 'profile="pdf/a-3b"' in warning.message
    [place] = warning.chain
    assert place.tag_name == "attachment"


@pytest.mark.parametrize("text", ["&lt;a>", "&lt;?xml version='1.0' encoding='none-such'?>&lt;a/>"])
def test_validate_reports_errors_of_attached_files(text):
    document = f'<document><flow/><attachment name="a.xml" value="&quot;{text}&quot;"/></document>'
    found = validate(None, Payload(PayloadKind.XML, document.encode()), options=OPTIONS)
    assert [one.code for one in found.errors] == ["attachment-xml"]
