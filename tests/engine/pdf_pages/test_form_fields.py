"""Form fields of other PDFs are read as viewers read them, and hostile files end in a clear error."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String

from tests.engine.paint.pdfium_forms import fill_by_pdfium
from tests.engine.paint.test_form_fields import FIELDS, made
from tests.engine.pdf_pages.files import new_page, save
from workers.engine.pdf_pages import file as pdf_file
from workers.engine.pdf_pages import form_fields
from workers.engine.pdf_pages.form_fields import (
    AcroField,
    AcroFieldOption,
    AcroFieldType,
    FormReport,
    read_form,
)
from workers.engine.pdf_pages.objects import UnusablePdfError


def widget(**entries: Any) -> Dictionary:
    return Dictionary(Type=Name.Annot, Subtype=Name.Widget, Rect=Array([0, 0, 9, 9]), **entries)


def form(*fields: Dictionary, on_page: bool = True, **entries: Any) -> pikepdf.Pdf:
    """Return a PDF of one page with fields, to be changed and saved."""
    pdf = new_page()
    placed = Array([pdf.make_indirect(each) for each in fields])
    pdf.Root.AcroForm = Dictionary(Fields=placed, **entries)
    if on_page:
        pdf.pages[0].obj.Annots = placed
    return pdf


def read(*fields: Dictionary, **entries: Any) -> tuple[AcroField, ...]:
    return read_form(save(form(*fields, **entries))).fields


def refused(data: bytes) -> str:
    with pytest.raises(UnusablePdfError) as caught:
        read_form(data)
    assert caught.value.advice
    return str(caught.value)


def test_fields_of_our_own_documents_are_read_back():
    report = read_form(made(FIELDS))
    found = {each.name: (each.type.value, each.value) for each in report.fields}
    assert found == {
        "who": ("text", "Ada"),
        "to": ("text", None),
        "yes": ("checkbox", None),
        "kind": ("radio", "a"),
        "land": ("select", None),
        "note": ("text", "one\ntwo"),
        "pin": ("text", None),
        "sign": ("signature", None),
    }
    by_name = {each.name: each for each in report.fields}
    assert by_name["kind"].options == (AcroFieldOption("a", "a"), AcroFieldOption("b & c", "b & c"))
    assert by_name["land"].options == (AcroFieldOption("DE", "Germany"),)
    pin = by_name["pin"]
    assert (pin.label, pin.page, pin.max_length) == ("PIN", 1, 4)
    assert (pin.is_required, pin.is_read_only) == (True, True)
    assert not report.has_xfa


def test_values_typed_in_a_viewer_are_read():
    typed = fill_by_pdfium(made(FIELDS), {"to": "Łukasz", "note": "a"})
    values = {each.name: each.value for each in read_form(typed).fields}
    assert (values["to"], values["note"], values["who"]) == ("Łukasz", "a", "Ada")


def test_a_report_has_only_what_a_field_has():
    field = AcroField("a", AcroFieldType.SIGNATURE, None, False, False, is_signed=True)
    options = (AcroFieldOption("x", "X"),)
    chosen = AcroField("b", AcroFieldType.LIST, ("x",), False, False, None, options, "B", 2)
    report = FormReport((field, chosen), has_xfa=True).to_report()
    assert json.loads(json.dumps(report)) == {
        "fields": [
            {
                "name": "a",
                "type": "signature",
                "value": None,
                "required": False,
                "read_only": False,
                "signed": True,
            },
            {
                "name": "b",
                "type": "list",
                "value": ["x"],
                "required": False,
                "read_only": False,
                "options": [{"value": "x", "label": "X"}],
                "label": "B",
                "page": 2,
            },
        ],
        "xfa": True,
    }


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"\x80 \xa0 \xe9", "• € é"),
        (b"\xfe\xff\x01\x0d\x00a", "ča"),
        (b"\xff\xfe\x0d\x01", "č"),
        (b"\xef\xbb\xbf\xc4\x8d", "č"),
        (b"\xfe\xff\x00\x1b\x00d\x00e\x00\x1b\x00a", "a"),
        (b"\xfe\xff\xd8\x3d\xde\x00", "😀"),
        (b"\xfe\xff\xd8\x3d\x00a", "\ufffda"),
        (b"\xfe\xff\x00a\x00", "a\ufffd"),
        (b"a\r\nb\rc\nd", "a\nb\nc\nd"),
        (b"", ""),
    ],
    ids=[
        *("PDFDocEncoding", "UTF-16", "UTF-16 LE", "UTF-8", "language", "pair", "half a pair"),
        *("half a unit", "line ends", "empty"),
    ],
)
def test_a_text_is_decoded_as_viewers_do(written, text):
    (field,) = read(widget(FT=Name.Tx, T=String("a"), V=String(written)))
    assert field.value == text
    field.value.encode()


def test_a_long_text_may_be_a_stream():
    pdf = form(widget(FT=Name.Tx, T=String("a")))
    pdf.Root.AcroForm.Fields[0].V = pdf.make_stream(b"long")
    assert read_form(save(pdf, compress_streams=True)).fields[0].value == "long"


def test_names_and_attributes_come_from_the_groups_above():
    pdf = form(Dictionary(T=String("buyer"), FT=Name.Tx, Ff=2))
    group = pdf.Root.AcroForm.Fields[0]
    inner = pdf.make_indirect(Dictionary(T=String("name"), Parent=group, V=String("Ada")))
    other = pdf.make_indirect(Dictionary(T=String("ok"), Parent=group, FT=Name.Btn, Ff=0))
    shown = pdf.make_indirect(widget(Parent=inner))
    inner.Kids, group.Kids = Array([shown]), Array([inner, other])
    pdf.pages[0].obj.Annots = Array([shown])
    assert [
        (each.name, each.type.value, each.value, each.page, each.is_required)
        for each in read_form(save(pdf)).fields
    ] == [("buyer.name", "text", "Ada", 1, True), ("buyer.ok", "checkbox", None, None, False)]


def states(*names: str) -> Dictionary:
    return Dictionary(N=Dictionary({f"/{name}": Dictionary() for name in names}))


def test_a_box_has_the_value_of_its_state():
    on = widget(FT=Name.Btn, T=String("a"), V=Name.Yes, AS=Name.Yes, AP=states("Yes", "Off"))
    off = widget(FT=Name.Btn, T=String("b"), V=Name.Off, AP=states("Yes", "Off"))
    by_appearance = widget(FT=Name.Btn, T=String("c"), AS=Name("/1"), AP=states("1"))
    values = [(each.value, each.options) for each in read(on, off, by_appearance)]
    yes = (AcroFieldOption("Yes", "Yes"),)
    assert values == [("Yes", yes), (None, yes), ("1", (AcroFieldOption("1", "1"),))]


def test_numbered_states_stand_for_the_values_of_the_field():
    pdf = form(
        Dictionary(
            FT=Name.Btn,
            Ff=1 << 15,
            T=String("a"),
            V=Name("/1"),
            Opt=Array([String("žena"), String("muž")]),
        ),
        on_page=False,
    )
    field = pdf.Root.AcroForm.Fields[0]
    field.Kids = Array(
        pdf.make_indirect(widget(Parent=field, AP=states(number, "Off"))) for number in "01"
    )
    (found,) = read_form(save(pdf)).fields
    assert (found.type, found.value) == (AcroFieldType.RADIO, "muž")
    assert [each.value for each in found.options] == ["žena", "muž"]


@pytest.mark.parametrize(
    ("name", "text"), [(b"/caf#c3#a9", "café"), (b"/caf#e9", "café")], ids=["UTF-8", "Latin"]
)
def test_a_state_may_have_any_name(name, text):
    data = save(form(widget(FT=Name.Btn, T=String("a"), V=Name.OnlyThisState)))
    (field,) = read_form(data.replace(b"/OnlyThisState", name.ljust(14))).fields
    assert field.value == text


def test_several_options_are_a_list_where_several_can_be_chosen():
    options = Array([Array([String("1"), String("One")]), String("2")])
    entries = {"FT": Name.Ch, "Opt": options}
    one = widget(T=String("a"), V=String("1"), **entries)
    several = widget(T=String("b"), V=Array([String("1"), String("2")]), Ff=1 << 21, **entries)
    none = widget(T=String("c"), Ff=1 << 21, **entries)
    fields = read(one, several, none)
    assert [each.value for each in fields] == ["1", ("1", "2"), ()]
    assert fields[0].options == (AcroFieldOption("1", "One"), AcroFieldOption("2", "2"))
    assert fields[0].type is AcroFieldType.LIST


def test_a_signature_is_reported_as_signed_or_not():
    signed = widget(FT=Name.Sig, T=String("a"), V=Dictionary(Type=Name.Sig, Contents=String("x")))
    fields = read(signed, widget(FT=Name.Sig, T=String("b")))
    assert [(each.is_signed, each.value) for each in fields] == [(True, None), (False, None)]


def test_fields_without_a_known_type_are_listed():
    fields = read(widget(T=String("a"), V=String("x")), widget(T=String("b"), FT=Name.Xy))
    assert [(each.type, each.value) for each in fields] == [(AcroFieldType.UNKNOWN, None)] * 2


@pytest.mark.filterwarnings("ignore:This document has")  # of pikepdf, when it is saved
def test_a_field_that_only_a_page_has_is_read():
    pdf = form(widget(FT=Name.Tx, T=String("a"), V=String("x")))
    pdf.Root.AcroForm.Fields = Array()
    assert [each.name for each in read_form(save(pdf)).fields] == ["a"]
    del pdf.Root.AcroForm
    assert [each.name for each in read_form(save(pdf)).fields] == ["a"]


def test_restrictions_do_not_matter_but_a_password_does():
    pdf = form(widget(FT=Name.Tx, T=String("a"), V=String("secret")))
    restricted = save(pdf, encryption=pikepdf.Encryption(owner="o", user=""))
    assert read_form(restricted).fields[0].value == "secret"
    locked = save(pdf, encryption=pikepdf.Encryption(owner="o", user="u"))
    assert refused(locked) == "The PDF is encrypted"


def test_a_stream_of_a_restricted_file_is_decrypted():
    pdf = form(widget(FT=Name.Tx, T=String("a")))
    pdf.Root.AcroForm.Fields[0].V = pdf.make_stream(b"long")
    restricted = save(pdf, encryption=pikepdf.Encryption(owner="o", user=""))
    assert read_form(restricted).fields[0].value == "long"


# --- files that are no forms, and hostile ones


def cycle() -> bytes:
    pdf = form(Dictionary(T=String("a"), FT=Name.Tx))
    group = pdf.Root.AcroForm.Fields[0]
    kid = pdf.make_indirect(Dictionary(T=String("b"), Parent=group))
    kid.Kids = Array([group])
    group.Kids = Array([kid, kid, group])
    end = pdf.make_indirect(Dictionary(T=String("end"), FT=Name.Tx))
    pdf.Root.AcroForm.Fields.append(end)
    return save(pdf)


def test_a_tree_that_contains_itself_is_read_once():
    assert [each.name for each in read_form(cycle()).fields] == ["end"]


@pytest.mark.filterwarnings("ignore:This document has")  # of pikepdf, when it is saved
def test_parents_that_lead_to_each_other_are_an_error():
    pdf = form(widget(T=String("a")))
    first = pdf.Root.AcroForm.Fields[0]
    second = pdf.make_indirect(Dictionary(Parent=first))
    first.Parent = second
    del pdf.Root.AcroForm
    assert "nested more than 32" in refused(save(pdf))


def deep() -> bytes:
    pdf = form(Dictionary(T=String("a")))
    node = pdf.Root.AcroForm.Fields[0]
    for _ in range(2_000):
        kid = pdf.make_indirect(Dictionary(T=String("a")))
        node.Kids = Array([kid])
        node = kid
    return save(pdf)


def crowded(count: int, objects: int) -> bytes:
    """Return a form with as many references to fields, and as many fields, written by hand."""
    head = b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields["
    fields = b" ".join(b"%d 0 R" % (number + 4) for number in range(count))
    bodies = b"".join(
        b"%d 0 obj<</FT/Tx/T(f%d)/V(x)>>endobj\n" % (number + 4, number)
        for number in range(objects)
    )
    pages = b"2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n"
    return head + fields + b"]>>>>endobj\n" + pages + bodies + b"trailer<</Root 1 0 R>>\n"


def shared_text() -> bytes:
    """Return a form of which each of 1,000 fields has the same value of a megabyte."""
    pdf = new_page()
    value = pdf.make_stream(zlib.compress(b"x" * 1_000_000), Filter=Name.FlateDecode)
    pdf.Root.AcroForm = Dictionary(
        Fields=Array(
            pdf.make_indirect(widget(FT=Name.Tx, T=String(f"f{number}"), V=value))
            for number in range(1_000)
        )
    )
    return save(pdf)


def bomb(megabytes: int) -> bytes:
    pdf = form(widget(FT=Name.Tx, T=String("a")))
    packed = zlib.compress(b"\0" * (megabytes * 1024 * 1024), 1)
    pdf.Root.AcroForm.Fields[0].V = pdf.make_stream(packed, Filter=Name.FlateDecode)
    return save(pdf)


def named(length: int) -> bytes:
    return save(form(widget(FT=Name.Tx, T=String("n" * length))))


def xfa(*fields: Dictionary) -> bytes:
    pdf = form(*fields)
    pdf.Root.AcroForm.XFA = pdf.make_stream(b"<xdp/>")
    return save(pdf)


def nested_arrays() -> bytes:
    data = save(form(widget(FT=Name.Tx, T=String("a"), V=String("0123456789"))))
    return data.replace(b"(0123456789)", b"[" * 300_000)


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (lambda: b"<html/>", "not a PDF"),
        (lambda: b"%PDF-1.7 nothing", "damaged"),
        (lambda: save(new_page()), "no form fields"),
        (lambda: save(form(Dictionary())), "no form fields"),
        (deep, "nested more than 32 deep"),
        (shared_text, "more than 2,000,000 characters"),
        (lambda: named(1_001), "name of more than 1,000 characters"),
        (xfa, "XFA"),
        (nested_arrays, "no form fields"),
    ],
    ids=[
        *("html", "cut short", "flat", "deleted field", "deep"),
        *("shared text", "long name", "XFA alone", "nested arrays"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(
    file: Callable[[], bytes], reason: str
) -> None:
    assert reason in refused(file())


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (lambda: crowded(10_001, 10_001), "more than 10,000 form fields"),
        (lambda: crowded(200_001, 0), "more than 200,000"),
        (lambda: bomb(129), "larger than 128 MB"),
    ],
    ids=["10,001 fields", "200,001 nodes", "zip bomb"],
)
def test_a_file_beyond_a_limit_is_refused_at_full_size(
    file: Callable[[], bytes], reason: str
) -> None:
    assert reason in refused(file())


def test_a_file_beyond_a_limit_is_refused_and_one_at_the_limit_read(monkeypatch):
    monkeypatch.setattr(form_fields, "MAX_FIELDS", 20)
    assert [each.name for each in read_form(crowded(20, 20)).fields][-1] == "f19"
    assert "more than 20 form fields" in refused(crowded(21, 21))
    monkeypatch.setattr(form_fields, "MAX_NODES", 100)
    assert "more than 100 form fields, options and annotations" in refused(crowded(101, 0))
    monkeypatch.setattr(pdf_file, "MAX_DECODED_BYTES", 1024 * 1024)
    assert "larger than 1 MB" in refused(bomb(2))


@pytest.mark.long
def test_a_file_of_the_most_fields_is_read():
    fields = read_form(crowded(10_000, 10_000)).fields
    assert (len(fields), fields[-1].name) == (10_000, "f9999")


def test_xfa_beside_fields_is_reported():
    report = read_form(xfa(widget(FT=Name.Tx, T=String("a"), V=String("x"))))
    assert (report.has_xfa, report.fields[0].value) == (True, "x")


def test_every_prefix_and_change_of_a_file_is_an_error_or_an_answer():
    data = made(FIELDS)
    step = len(data) // 40
    for at in range(0, len(data), step):
        for changed in (data[:at], data[:at] + b"/Kids[4 0 R]>>" + data[at + 14 :]):
            with suppress(UnusablePdfError):
                json.dumps(read_form(changed).to_report()).encode()


def test_limits_are_those_of_the_documentation():
    api = (Path(__file__).parents[3] / "deploy" / "docs" / "api.md").read_text()
    assert f"{form_fields.MAX_FIELDS:,}, or more than {form_fields.MAX_TEXT:,} characters" in api
