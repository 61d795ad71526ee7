"""PDF/VT-1: merged documents for print are one file of document parts, for one press."""

from __future__ import annotations

import io
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pikepdf
import pytest

from shared.batches.plans import FILE_BYTES
from tests.engine.finish.test_print_files import COLORED
from tests.golden.case import OPTIONS, FolderImages
from workers.engine.diagnostics import AuthoringError
from workers.engine.finish.merging import Placement
from workers.engine.merged_pdf import (
    MergedPart,
    join_parts,
    measure_documents,
    read_marks,
    sort_parts,
)
from workers.engine.pipeline import prepare_template
from workers.engine.ports import Payload, PayloadKind

LETTER = b"""<document profile="pdf/x-4" output-intent="press" title="Letter {{ n }}"><data><field name="n"/></data>
<page size="A6" margin="10mm" bleed="3mm"/><flow><p>Letter {{ n }}</p><img src="logo" alt="" width="9mm"/>
<p if="n == '2'" break-before="page">more</p></flow></document>"""
RECORDS = range(1, 5)  # the second has two pages, the others one


def write_parts(folder: Path, *, is_draft: bool = False) -> list[Path]:
    """Write two parts of two documents each."""
    prepared, options = prepare_template(LETTER), replace(OPTIONS, is_draft=is_draft)
    files = []
    for first in (1, 3):
        part = MergedPart(prepared, options=options, resources=FolderImages())
        for record in (first, first + 1):
            payload = Payload(PayloadKind.JSON, json.dumps({"n": str(record)}).encode())
            part.add(payload, name="unused")
        files.append(folder / f"{first}.part")
        files[-1].write_bytes(part.close() or b"")
    return files


def read_records(pdf: pikepdf.Pdf) -> dict[str, tuple[int, int]]:
    """Return the first and last page of each document part, by its title."""
    root = pdf.Root.DPartRoot
    assert (root.RecordLevel, list(root.NodeNameList)) == (1, ["/Run", "/Record"])
    assert root.DPartRootNode.Parent.objgen == root.objgen
    at = {page.obj.objgen: number for number, page in enumerate(pdf.pages, 1)}
    found = {}
    for part in root.DPartRootNode.DParts[0]:
        assert part.Parent.objgen == root.DPartRootNode.objgen
        first, last = at[part.Start.objgen], at[part.End.objgen]
        for page in pdf.pages[first - 1 : last]:
            assert page.DPart.objgen == part.objgen
        found[str(part.DPM.Record.Title)] = first, last
    return found


def find_operators(pdf: pikepdf.Pdf) -> set[str]:
    return {str(each.operator) for page in pdf.pages for each in pikepdf.parse_content_stream(page)}


def test_a_merged_file_has_a_document_part_for_each_record(tmp_path):
    out = io.BytesIO()
    assert join_parts(write_parts(tmp_path), out, options=OPTIONS) == 5
    assert out.getvalue().startswith(b"%PDF-1.6")
    with pikepdf.open(out) as pdf:
        assert read_records(pdf) == {
            "Letter 1": (1, 1),
            "Letter 2": (2, 3),
            "Letter 3": (4, 4),
            "Letter 4": (5, 5),
        }
        [intent] = pdf.Root.OutputIntents
        assert intent.DestOutputProfile.read_bytes() == FolderImages().find_image("press")
        packet = pdf.Root.Metadata.read_bytes()
        assert b">PDF/X-4</" in packet
        assert b">PDF/VT-1</" in packet
        assert (pdf.docinfo.Title, pdf.docinfo.Trapped) == ("Letter 1", "/False")
        assert not find_operators(pdf) & set(COLORED)
        assert all("/TrimBox" in page and "/BleedBox" in page for page in pdf.pages)
    file = tmp_path / "run.pdf"
    file.write_bytes(out.getvalue())
    checked = subprocess.run(["qpdf", "--check", file], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_parts_of_a_sorted_run_have_their_blank_backs(tmp_path):
    outs = [io.BytesIO(), io.BytesIO()]
    placed = [
        [Placement(0, 1, 1, 2, 2, 0, 1), Placement(0, 0, 2, 1, 1, 0, 1)],
        [Placement(1, 0, 1, 3, 1, 0, 1), Placement(None, 0, 1)],
    ]
    marks = read_marks({"type": "omr", "left": "4mm", "top": "40mm"})
    files = zip(write_parts(tmp_path), placed, strict=True)
    counts = sort_parts(files, outs, options=OPTIONS, is_duplex=True, marks=marks)
    assert counts == [4, 2]
    with pikepdf.open(outs[0]) as first, pikepdf.open(outs[1]) as second:
        assert read_records(first) == {"Letter 2": (1, 2), "Letter 1": (3, 4)}
        assert read_records(second) == {"Letter 3": (1, 2)}
        assert all("/TrimBox" in page and "/BleedBox" in page for page in first.pages)
        assert not find_operators(first) & set(COLORED) - {"g"}  # of the marks: black ink


def test_a_draft_has_no_colour_of_rgb_either(tmp_path):
    out = io.BytesIO()
    join_parts(write_parts(tmp_path, is_draft=True), out, options=replace(OPTIONS, is_draft=True))
    with pikepdf.open(out) as pdf:
        forms = [one for one in pdf.objects if isinstance(one, pikepdf.Stream)]
        drawn = [one for one in forms if one.get("/Subtype") == "/Form"]
        used = {str(each.operator) for one in drawn for each in pikepdf.parse_content_stream(one)}
        assert "k" in used
        assert not used & {"rg", "RG"}


@pytest.mark.parametrize("change", [('"press"', '"other"'), (' profile="pdf/x-4"', "")])
def test_a_document_for_another_press_is_refused(change):
    part = MergedPart(None, options=OPTIONS, resources=FolderImages())
    source = LETTER.decode().replace("{{ n }}", "1").replace("n == '2'", "false")
    part.add(Payload(PayloadKind.XML, source.encode()), name="a")
    with pytest.raises(AuthoringError, match=r"than those it is merged with|output-intent"):
        part.add(Payload(PayloadKind.XML, source.replace(*change).encode()), name="b")


def test_documents_that_are_not_for_print_make_no_claim(tmp_path):
    part = MergedPart(None, options=OPTIONS)
    source = b'<document title="a"><flow><p>a</p></flow></document>'
    part.add(Payload(PayloadKind.XML, source), name="a")
    file = tmp_path / "plain.part"
    file.write_bytes(part.close() or b"")
    out = io.BytesIO()
    join_parts([file, *write_parts(tmp_path)], out, options=OPTIONS)
    with pikepdf.open(out) as pdf:
        assert not {"/DPartRoot", "/OutputIntents"} & set(pdf.Root.keys())
        assert b"PDF/VT" not in pdf.Root.Metadata.read_bytes()


def test_a_file_for_print_has_no_more_bytes_than_are_told_of_its_documents(tmp_path):
    marks = read_marks({"type": "omr", "left": "3mm", "top": "3mm", "clear": "1mm"})
    pages = [[1, 2], [1, 1]]
    sizes: list[dict[str, int]] = []
    placed = []
    for path, own in zip(write_parts(tmp_path), pages, strict=True):
        sizes += measure_documents(path.read_bytes(), own, is_duplex=True, marks=marks)
        first = len(sizes)
        placed.append((path, [Placement(0, first + at, each) for at, each in enumerate(own)]))
    out = io.BytesIO()
    sort_parts(placed, [out], options=OPTIONS, is_duplex=True, marks=marks)
    resources = {name: size for each in sizes for name, size in each.items() if name}
    icc = FolderImages().find_image("press")
    assert icc is not None
    # The profile and the logo are resources of all, told once.
    assert all(each.keys() & sizes[0].keys() - {""} for each in sizes)
    most = FILE_BYTES + sum(each[""] for each in sizes) + sum(resources.values())
    assert most * 0.5 < len(out.getvalue()) <= most
    assert sum(each[""] for each in sizes) < len(icc) * len(sizes)
