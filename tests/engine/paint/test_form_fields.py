"""Form fields in the file: what readers find in them, and what is typed into them."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pikepdf
import pypdfium2
import pytest

from tests.engine.finish.accessibility_rules import find_violations
from tests.engine.finish.archive_rules import find_violations as find_archive_violations
from tests.engine.paint.pdfium_forms import fill_by_pdfium, read_by_pdfium
from tests.golden.case import OPTIONS, Case
from workers.engine.diagnostics import AuthoringError
from workers.engine.merged_pdf import MergedPart
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind
from workers.engine.raster import rasterise
from workers.engine.tree.build_state import LIMITS

PAGE = '<page size="A6" margin="10mm"/>'
FIELDS = (
    '<p>A <input name="who" label="Who" value="Ada" border="none"/> B <input name="to" label="To"/></p>'
    '<p><input type="checkbox" name="yes" label="Yes" value="1"/>'
    '<input type="radio" name="kind" value="a" label="A" checked="true"/>'
    '<input type="radio" name="kind" value="b &amp; c" label="B"/></p>'
    '<select name="land" label="Land"><option value="DE">Germany</option></select>'
    '<textarea name="note" label="Note" value="{{ \'one\\ntwo\' }}"/>'
    '<input name="pin" label="PIN" comb="4" required="true" readonly="true"/>'
    '<signature name="sign" label="Signature"/>'
)


def made(flow: str, attributes: str = 'title="T" lang="en"', around: str = PAGE) -> bytes:
    source = f"<document {attributes}>{around}<flow>{flow}</flow></document>"
    return render(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS).pdf


def fields_of(file: bytes) -> dict[str, Any]:
    with pikepdf.open(io.BytesIO(file)) as opened:
        return {str(one.T): described(one) for one in opened.Root.AcroForm.Fields}


def described(field: Any) -> tuple[str, Any, int]:
    value = field.get("/V")
    return str(field.FT), None if value is None else str(value), int(field.get("/Ff", 0))


def test_fields_have_their_types_values_and_flags():
    assert fields_of(made(FIELDS)) == {
        "who": ("/Tx", "Ada", 0),
        "to": ("/Tx", None, 0),
        "yes": ("/Btn", "/Off", 0),
        "kind": ("/Btn", "/a", 1 << 14 | 1 << 15),
        "land": ("/Ch", None, 1 << 17),
        "note": ("/Tx", "one\ntwo", 1 << 12),
        "pin": ("/Tx", None, 1 << 24 | 3),
        "sign": ("/Sig", None, 0),
    }


def test_equal_documents_are_equal_files():
    assert made(FIELDS) == made(FIELDS)


def test_fields_conform_to_pdf_ua_and_pdf_a():
    file = made(f"<h1>T</h1>{FIELDS}", 'title="T" lang="en" profile="pdf/a-3a pdf/ua-1"')
    assert find_violations(file) == []
    assert find_archive_violations(file, 3) == []


def test_a_field_without_a_label_is_an_error_of_pdf_ua():
    with pytest.raises(AuthoringError) as caught:
        made('<h1>T</h1><input name="a"/>', 'title="T" lang="en" profile="pdf/ua-1"')
    assert [one.code for one in caught.value.diagnostics] == ["missing-label"]


def test_a_field_is_read_between_the_texts_around_it():
    with pikepdf.open(io.BytesIO(made(FIELDS))) as opened:
        paragraph = opened.Root.StructTreeRoot.K.K.K[0]
        kinds = ["text" if isinstance(kid, int) else str(kid.S) for kid in paragraph.K]
    assert kinds == ["text", "/Form", "text", "/Form"]


def test_a_page_with_links_keeps_them():
    with pikepdf.open(
        io.BytesIO(made(f'<p><a href="https://example.com/">x</a></p>{FIELDS}'))
    ) as pdf:
        kinds = [str(one.Subtype) for one in pdf.pages[0].Annots]
    assert kinds == ["/Link", *["/Widget"] * 9]


def test_an_untagged_file_has_its_fields_too():
    file = made(FIELDS, 'title="T" tagged="false"')
    assert len(fields_of(file)) == 8
    with pikepdf.open(io.BytesIO(file)) as opened:
        assert "/StructTreeRoot" not in opened.Root
        assert len(opened.pages[0].Annots) == 9


def test_widgets_are_placed_on_a_sheet_with_bleed():
    page = '<page size="A6" margin="10mm" bleed="3mm"/>'
    plain, bled = (rectangle_of(made(FIELDS, around=around)) for around in (PAGE, page))
    assert [round(b - a, 1) for a, b in zip(plain, bled, strict=True)] == [8.5] * 4


def rectangle_of(file: bytes) -> list[float]:
    with pikepdf.open(io.BytesIO(file)) as opened:
        return [float(edge) for edge in opened.pages[0].Annots[0].Rect]


def test_what_is_typed_pressed_and_chosen_in_pdfium_is_stored_and_drawn():
    typed = {"who": "Grace Höpper", "note": "three\r\nfour", "to": "x" * 9}
    pressed = {"yes": "1", "kind": "b & c", "land": "Germany"}
    file = fill_by_pdfium(made(FIELDS), typed | pressed)
    values = fields_of(file)
    assert values["who"][1] == "Grace Höpper"
    assert values["to"][1] == "x" * 9
    assert [line.strip() for line in values["note"][1].splitlines()] == ["three", "four"]
    assert (values["yes"][1], values["kind"][1], values["land"][1]) == ("/1", "/b & c", "DE")
    assert read_by_pdfium(file)["kind"] == "b & c"
    assert pixels(file) != pixels(made(FIELDS))


def test_a_rasterised_page_shows_the_values():
    field = '<input name="a" label="A" value="{}"/>'
    filled, empty = (rasterise(made(field.format(value)), scale=1).data for value in ("Ada", ""))
    assert filled != empty


def pixels(file: bytes) -> bytes:
    with pypdfium2.PdfDocument(file) as document:
        document.init_forms()
        return bytes(document[0].render(scale=1).to_pil().tobytes())


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler is not installed")
def test_poppler_shows_the_values(tmp_path: Path):
    path = tmp_path / "a.pdf"
    path.write_bytes(
        render(None, Payload(PayloadKind.XML, Case("forms").source), options=OPTIONS).pdf
    )
    shown = subprocess.run(
        ["pdftotext", "-layout", str(path), "-"], capture_output=True, check=True, text=True
    )
    assert shown.stderr == ""
    assert "Jürgen Łukasz" in shown.stdout
    assert "France" in shown.stdout


def test_drafts_and_encrypted_files_keep_their_fields():
    security = '<security owner-password="secret" fill-forms="true" modify="false"/>'
    for options, around in ((OPTIONS, security + PAGE), (DRAFT, PAGE)):
        source = f'<document title="T" lang="en">{around}<flow>{FIELDS}</flow></document>'
        file = render(None, Payload(PayloadKind.XML, source.encode()), options=options).pdf
        with pikepdf.open(io.BytesIO(file)) as opened:
            assert len(opened.Root.AcroForm.Fields) == 8
            assert opened.allow.modify_form


DRAFT = OPTIONS.__class__(OPTIONS.now, is_draft=True)


def test_interactive_fields_are_refused_in_a_merged_file():
    source = '<document title="T" lang="en"><flow><input name="a" label="A" interactive="{}"/></flow></document>'
    part = MergedPart(prepare_template(source.format("true").encode()), options=OPTIONS)
    with pytest.raises(AuthoringError) as caught:
        part.add(None, name="a")
    assert caught.value.diagnostics[0].code == "merged-archive"
    assert "with form fields" in caught.value.diagnostics[0].text
    flat = MergedPart(prepare_template(source.format("false").encode()), options=OPTIONS)
    assert flat.add(None, name="a").was_included


def test_the_number_of_fields_has_a_limit():
    each = LIMITS["too-many-fields"].most // 2
    source = (
        '<document title="T" lang="en"><flow><group for="m in [1, 2, 3]"><p><input type="checkbox" '
        f'for="n in range(1, {each + 1})" name="{{{{ m }}}}-{{{{ n }}}}" label="A"/></p></group>'
        "</flow></document>"
    )
    payload = Payload(PayloadKind.XML, source.encode())
    with pytest.raises(AuthoringError) as caught:
        render(None, payload, options=OPTIONS)
    assert caught.value.diagnostics[0].code == "too-many-fields"


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ('<input name="a" label="A" value="{{ \'x\' * 2 }}"/>', "expression"),
        ('<textarea name="a" label="A" value="{{ long }}"/>', "field-value"),
        (
            '<select name="a" label="A"><option for="n in many">{{ n }}</option></select>',
            "field-options",
        ),
    ],
)
def test_values_and_options_have_limits(field: str, code: str):
    data = f'<data><json>{{"long": "{"x" * 10_001}", "many": {list(range(1_001))}}}</json></data>'
    with pytest.raises(AuthoringError) as caught:
        made(field, around=data + PAGE)
    assert caught.value.diagnostics[0].code == code
