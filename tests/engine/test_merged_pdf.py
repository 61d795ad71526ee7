"""Many documents in one PDF: what is shared, what stays each document's own, what is refused."""

from __future__ import annotations

import json
import subprocess
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from workers.engine.diagnostics import AuthoringError
from workers.engine.merged_pdf import MergedPart, join_parts
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, RenderOptions, Resources

INVOICE = Path(__file__).parents[1] / "bench" / "documents" / "invoice.xml"
LOGO = (Path(__file__).parents[1] / "golden" / "images" / "logo.png").read_bytes()
OPTIONS = RenderOptions(datetime(2026, 3, 1, tzinfo=UTC))

LETTER = b"""<document title="Letter to {{ name }}"><data><json>{"name": "", "notes": []}</json></data>
<flow><h1 id="top">Dear {{ name }}</h1><p>We write to you about <a href="#end">the end</a>.</p>
<h2>Notes</h2><p for="note in notes">{{ note }}</p><p id="end">Yours, always.</p></flow></document>"""


class _Logo(Resources):
    def find_image(self, name: str) -> bytes | None:
        return LOGO

    def find_remote_image(self, address: str) -> bytes | None:
        return None


def _invoice(number: int) -> Payload:
    return _payload(
        {
            "number": f"2026-{number:04}",
            "date": "2026-03-02",
            "seller": {"name": "Northwind Tools Ltd", "iban": "GB33BUKB20201555555555"},
            "buyer": {"name": f"Buyer {number}", "street": "Musterweg 5", "town": "10115 Berlin"},
            "lines": [
                {"text": f"Cordless drill, model {n}", "qty": n + 1, "price": 19.5 + 7 * n + number}
                for n in range(12)
            ],
        }
    )


def _letter(name: str, notes: Sequence[str] = ()) -> Payload:
    return _payload({"name": name, "notes": list(notes)})


def _payload(data: dict[str, Any]) -> Payload:
    return Payload(PayloadKind.JSON, json.dumps(data).encode())


def _merge(
    template: bytes,
    payloads: Sequence[Payload],
    folder: Path,
    *,
    part_size: int,
    options: RenderOptions = OPTIONS,
) -> Path:
    prepared = prepare_template(template)
    parts: list[Path] = []
    for first in range(0, len(payloads), part_size):
        part = MergedPart(prepared, options=options, resources=_Logo())
        for at, payload in enumerate(payloads[first : first + part_size], start=first):
            part.add(payload, name=f"Document {at + 1}")
        parts.append(folder / f"{first}.part")
        parts[-1].write_bytes(part.close() or b"")
    merged = folder / "merged.pdf"
    with merged.open("wb") as out:
        join_parts(parts, out, options=options)
    return merged


def _alone(template: bytes, payload: Payload, options: RenderOptions = OPTIONS) -> bytes:
    return render(prepare_template(template), payload, options=options, resources=_Logo()).pdf


def _text(pdf: Path, page: int) -> str:
    command = ["pdftotext", "-raw", "-f", str(page), "-l", str(page), str(pdf), "-"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _ink(pdf: Path, page: int) -> bytes:
    command = ["pdftoppm", "-r", "60", "-f", str(page), "-l", str(page), str(pdf)]
    return subprocess.run(command, check=True, capture_output=True).stdout


@pytest.mark.long
def test_five_hundred_invoices_take_less_than_15_percent_of_their_sum(tmp_path: Path) -> None:
    template = INVOICE.read_bytes()
    merged = _merge(template, [_invoice(n) for n in range(500)], tmp_path, part_size=200)
    sample = [len(_alone(template, _invoice(n))) for n in range(0, 500, 50)]
    assert merged.stat().st_size < 0.15 * 500 * sum(sample) / len(sample)
    with pikepdf.open(merged) as pdf:
        assert len(pdf.pages) == 500
        streams = [found for found in pdf.objects if isinstance(found, pikepdf.Stream)]
        images = sum(found.get("/Subtype") == "/Image" for found in streams)
        assert images == 2  # the logo and its mask
        fonts = [found for found in streams if "/Length1" in found]
        assert len(fonts) == 2  # regular and bold, in three parts


def test_a_letterhead_is_in_a_merged_file_once(tmp_path: Path) -> None:
    data = (Path(__file__).parents[1] / "golden" / "images" / "letterhead.pdf").read_bytes()
    address = f"data:application/pdf;base64,{b64encode(data).decode()}"
    template = LETTER.replace(b"<flow>", f'<page background-image="{address}"/><flow>'.encode())
    letters = [_letter(f"Buyer {n}") for n in range(12)]
    merged = _merge(template, letters, tmp_path, part_size=5)
    with pikepdf.open(merged) as pdf:
        streams = [found for found in pdf.objects if isinstance(found, pikepdf.Stream)]
        forms = [found for found in streams if found.get("/Subtype") == "/Form"]
        scaled = [found for found in forms if found.get("/Matrix", [1])[0] != 1]
        assert (len(pdf.pages), len(scaled)) == (12, 1)


def test_each_page_equals_the_page_of_its_single_document(tmp_path: Path) -> None:
    template = INVOICE.read_bytes()
    merged = _merge(template, [_invoice(n) for n in range(9)], tmp_path, part_size=4)
    for number in (0, 1, 5, 8):
        alone = tmp_path / "alone.pdf"
        alone.write_bytes(_alone(template, _invoice(number)))
        assert _text(merged, number + 1) == _text(alone, 1)
        assert _ink(merged, number + 1) == _ink(alone, 1)


def test_documents_of_different_length_share_nothing_wrong(tmp_path: Path) -> None:
    notes = [[f"Note {n} of {size}" for n in range(size)] for size in (0, 3, 120, 3, 1)]
    payloads = [_letter(f"Reader {at}", lines) for at, lines in enumerate(notes)]
    merged = _merge(LETTER, payloads, tmp_path, part_size=3)
    page = 0
    for payload in payloads:
        alone = tmp_path / "alone.pdf"
        alone.write_bytes(_alone(LETTER, payload))
        with pikepdf.open(alone) as pdf:
            count = len(pdf.pages)
        for own in range(1, count + 1):
            page += 1
            assert _ink(merged, page) == _ink(alone, own)
            assert _text(merged, page) == _text(alone, own)
    with pikepdf.open(merged) as pdf:
        assert len(pdf.pages) == page


def test_the_outline_has_one_entry_for_each_document_above_its_headings(tmp_path: Path) -> None:
    merged = _merge(LETTER, [_letter(name) for name in "ABCDE"], tmp_path, part_size=2)
    with pikepdf.open(merged) as pdf, pdf.open_outline() as outline:
        assert [entry.title for entry in outline.root] == [f"Letter to {name}" for name in "ABCDE"]
        pages = [entry.to_dictionary_object(pdf).Dest[0] for entry in outline.root]
        assert [pdf.pages.index(pikepdf.Page(page)) for page in pages] == [0, 1, 2, 3, 4]
        assert [child.title for child in outline.root[3].children] == ["Dear D"]
        assert [child.title for child in outline.root[3].children[0].children] == ["Notes"]
        assert pdf.Root.Outlines.Count == 5


def test_a_heading_that_is_the_title_is_not_listed_twice(tmp_path: Path) -> None:
    template = b'<document title="Invoice"><flow><h1>Invoice</h1><h1>Terms</h1></flow></document>'
    merged = _merge(template, [_payload({})], tmp_path, part_size=1)
    with pikepdf.open(merged) as pdf, pdf.open_outline() as outline:
        assert [entry.title for entry in outline.root] == ["Invoice"]
        assert [child.title for child in outline.root[0].children] == ["Terms"]


def test_a_document_without_title_is_listed_by_its_file_name_or_the_name_given(
    tmp_path: Path,
) -> None:
    template = b"""<document filename="{{ file }}"><data><field name="file"/></data>
<flow><p>Text</p></flow></document>"""
    part = MergedPart(prepare_template(template), options=OPTIONS)
    assert part.add(_payload({"file": "a.pdf"}), name="Document 1").title == "a.pdf"
    assert part.add(_payload({}), name="Document 2").title == "Document 2"


def test_links_lead_to_places_of_their_own_document(tmp_path: Path) -> None:
    payloads = [_letter(str(n), ["line"] * (n * 50)) for n in range(4)]
    merged = _merge(LETTER, payloads, tmp_path, part_size=2)
    with pikepdf.open(merged) as pdf:
        last_of_each, page = [], -1
        for payload in payloads:
            page += len(pikepdf.open(BytesIO(_alone(LETTER, payload))).pages)
            last_of_each.append(page)
        links = [link for found in pdf.pages for link in found.get("/Annots", [])]
        led_to = [pdf.pages.index(pikepdf.Page(link.Dest[0])) for link in links]
        assert led_to == last_of_each


def test_a_document_with_errors_leaves_the_part_as_it_was() -> None:
    template = b"""<document><data><field name="n" type="decimal" required="true"/></data>
<flow><p>{{ n }}</p><box height="4mm" if="n > 5"><p>Too much for its box</p></box></flow></document>"""
    prepared = prepare_template(template)
    only_good = MergedPart(prepared, options=OPTIONS)
    only_good.add(_payload({"n": 1}), name="one")
    with_bad = MergedPart(prepared, options=OPTIONS)
    with_bad.add(_payload({"n": 1}), name="one")
    for bad in ({"n": "x"}, {}, {"n": 6}):
        with pytest.raises(AuthoringError):
            with_bad.add(_payload(bad), name="bad")
    assert with_bad.close() == only_good.close()


def test_rejected_documents_are_counted_but_not_printed() -> None:
    part = MergedPart(prepare_template(LETTER), options=OPTIONS)
    asked: list[int] = []

    def refuse(pages: int) -> bool:
        asked.append(pages)
        return False

    added = part.add(_letter("A", ["x"] * 120), name="A", accepts=refuse)
    assert asked == [added.pages]
    assert added.pages > 1
    assert not added.was_included
    assert part.close() is None


def test_a_document_with_security_is_refused_unless_it_is_a_draft(tmp_path: Path) -> None:
    template = (
        b"""<document><security user-password="secret"/><flow><p>Text</p></flow></document>"""
    )
    part = MergedPart(prepare_template(template), options=OPTIONS)
    with pytest.raises(AuthoringError, match="output=zip"):
        part.add(_payload({}), name="A")
    draft = RenderOptions(OPTIONS.now, is_draft=True)
    merged = _merge(template, [_payload({})] * 3, tmp_path, part_size=2, options=draft)
    with pikepdf.open(merged) as pdf:
        assert not pdf.is_encrypted
        assert all(b"/Watermark" in page.Contents.read_bytes() for page in pdf.pages)


def test_a_document_with_security_names_the_rule() -> None:
    template = b"<document><security/><flow><p>Text</p></flow></document>"
    with pytest.raises(AuthoringError) as caught:
        MergedPart(prepare_template(template), options=OPTIONS).add(_payload({}), name="A")
    assert caught.value.diagnostics[0].code == "merged-security"


@pytest.mark.parametrize(
    "written",
    [
        b'<document profile="pdf/a-2b"><flow><p>Text</p></flow></document>',
        b'<document><flow><p>Text</p></flow><attachment name="a.txt">a</attachment></document>',
    ],
)
def test_settings_of_a_whole_file_are_rejected(written: bytes) -> None:
    part = MergedPart(prepare_template(written), options=OPTIONS)
    with pytest.raises(AuthoringError, match="output=zip") as caught:
        part.add(_payload({}), name="A")
    assert caught.value.diagnostics[0].code == "merged-archive"
    assert part.close() is None


def test_the_file_is_sound_and_the_same_each_time(tmp_path: Path) -> None:
    files = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        files.append(_merge(LETTER, [_letter(n) for n in "ABCDEFG"], folder, part_size=3))
    assert files[0].read_bytes() == files[1].read_bytes()
    subprocess.run(["qpdf", "--check", str(files[0])], check=True, capture_output=True)
    with pikepdf.open(files[0]) as pdf:
        assert pdf.docinfo["/Producer"] == "Pressroom"
        assert pdf.Root.PageMode == "/UseOutlines"


def test_an_empty_merge_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no parts"):
        join_parts([], BytesIO(), options=OPTIONS)
