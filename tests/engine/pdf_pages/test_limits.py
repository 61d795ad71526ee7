"""Hostile and damaged PDFs end in an error with a reason, soon and without much memory."""

from __future__ import annotations

import io
import random
import zlib

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Encryption, Name

from tests.engine.pdf_pages.files import form, imported, new_page, save
from tests.golden.case import FOLDER
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.pictures import prepare_image
from workers.engine.pdf_pages import file as pdf_file
from workers.engine.pdf_pages.objects import UnusablePdfError
from workers.engine.pdf_pages.pages import ImportedPage, import_page

FILES = [(FOLDER / "images" / f"{name}.pdf").read_bytes() for name in ("letterhead", "foreign")]


def refuse(data: bytes, words: str, page: int = 1) -> None:
    with pytest.raises(UnusablePdfError, match=words):
        import_page(data, page, "k")


@pytest.mark.parametrize("user", ["", "secret"])
def test_an_encrypted_file_is_refused_with_or_without_a_password(user):
    refuse(save(new_page(), encryption=Encryption(owner="owner", user=user)), "is encrypted")


def test_a_page_that_is_not_there_and_files_without_pages_are_refused():
    data = save(new_page())
    refuse(data, "has 1 page, and page 2 is drawn", 2)
    refuse(data, "has 1 page, and page 0 is drawn", 0)
    pdf = pikepdf.new()
    refuse(save(pdf), "no pages")
    refuse(b"%PDF-1.7\nnothing", "damaged")
    refuse(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>", "damaged")


def test_page_trees_with_loops_and_of_great_depth_are_read_or_refused():
    pdf = new_page()
    tree = pdf.Root.Pages
    tree.Kids.append(tree)
    tree.Count = 2_000_000_000
    refuse(save(pdf), "damaged")
    pdf = new_page()
    top = pdf.Root.Pages
    for _ in range(20_000):
        top = pdf.make_indirect(Dictionary(Type=Name.Pages, Kids=Array([top]), Count=1))
    pdf.Root.Pages = top
    found = prepare_image(save(pdf))
    assert isinstance(found, ImportedPage) or "damaged" in found.text


def test_objects_nested_deeply_are_refused():
    pdf = new_page(b"/S gs")
    pdf.pages[0].obj.Resources = Dictionary(ExtGState=Dictionary(S=Dictionary(D=Array([]))))
    data = save(pdf, compress_streams=False)
    for depth in (90, 5_000, 200_000):
        nested = b"[" * depth + b"]" * depth
        refuse(data.replace(b"/D [ ]", b"/D " + nested), "damaged|nested")


def test_content_that_draws_itself_or_is_drawn_too_often_is_refused():
    pdf = new_page(b"/X Do")
    own = form(pdf, b"/X Do")
    own.Resources = Dictionary(XObject=Dictionary(X=own))
    pdf.pages[0].obj.Resources = Dictionary(XObject=Dictionary(X=own))
    refuse(save(pdf), "draws itself")
    inner = form(pdf, b"0 0 1 1 re f " * 10, Resources=Dictionary())
    for _ in range(8):
        inner = form(pdf, b"/X Do " * 10, Resources=Dictionary(XObject=Dictionary(X=inner)))
    pdf.pages[0].obj.Resources = Dictionary(XObject=Dictionary(X=inner))
    refuse(save(pdf), "more than 2,000,000 instructions")
    pdf.pages[0].obj.Contents = pdf.make_stream(b"q " * 101)
    refuse(save(pdf), "graphics states")


@pytest.mark.parametrize(
    ("step", "matrix", "words"),
    [
        (0.001, [1, 0, 0, 1, 0, 0], "repeated too often"),
        (1, [0.001, 0, 0, 0.001, 0, 0], "repeated too often"),
        (1, [1, 0, 1000, 0.001, 0, 0], "repeated too often"),
        (0, [1, 0, 0, 1, 0, 0], "repeated too often"),
        (1, [0, 0, 0, 0, 0, 0], "repeated too often"),
        (0.2, [1, 0, 0, 1, 0, 0], "instructions"),
    ],
)
def test_tiles_of_a_pattern_count_as_often_as_they_are_painted(step, matrix, words):
    pdf = new_page(b"/Pattern cs /P scn 0 0 100 100 re f")
    pattern = pdf.make_stream(
        b"0 0 1 1 re f " * 4, PatternType=1, PaintType=1, TilingType=1, BBox=Array([0, 0, 1, 1]),
        XStep=step, YStep=step, Matrix=Array(matrix), Resources=Dictionary(),
    )  # fmt: skip
    pdf.pages[0].obj.Resources = Dictionary(Pattern=Dictionary(P=pattern))
    refuse(save(pdf), words)
    pattern.XStep = pattern.YStep = 20
    pattern.Matrix = Array([1, 0, 0, 1, 0, 0])
    assert imported(save(pdf))


@pytest.mark.parametrize("megabytes", [1, pytest.param(128, marks=pytest.mark.long)])
def test_pictures_and_data_that_grow_are_refused(megabytes, monkeypatch):
    monkeypatch.setattr(pdf_file, "MAX_DECODED_BYTES", megabytes * 1024 * 1024)
    larger = f"larger than {megabytes} MB"
    pdf = new_page(b"/I Do")
    image = pdf.make_stream(b"\0", Type=Name.XObject, Subtype=Name.Image, Width=20_000, Height=20_000, ColorSpace=Name.DeviceGray, BitsPerComponent=1)  # fmt: skip
    pdf.pages[0].obj.Resources = Dictionary(XObject=Dictionary(I=image))
    refuse(save(pdf), "20000 × 20000 pixels")
    refuse(save(new_page(b"BI /W 20000 /H 20000 /BPC 1 /IM true ID x\nEI ")), "pixels")
    bomb = zlib.compress(b" " * ((megabytes + 1) * 1024 * 1024), 1)
    pdf = new_page()
    pdf.pages[0].obj.Contents.write(bomb, filter=Name.FlateDecode)
    raw = {"stream_decode_level": pikepdf.StreamDecodeLevel.none, "compress_streams": False}
    refuse(save(pdf, **raw), larger)
    pdf.pages[0].obj.Contents.write(
        zlib.compress(bomb), filter=Array([Name.FlateDecode, Name.FlateDecode])
    )
    refuse(save(pdf, **raw), f"{larger}|compressed twice")
    pdf.pages[0].obj.Contents.write(b"x", filter=Array([Name.ASCIIHexDecode] * 9))
    refuse(save(pdf, **raw), "filters")
    pdf.pages[0].obj.Contents.write(b"x", filter=Name.Evil)
    refuse(save(pdf, **raw), "unknown format")
    pdf.pages[0].obj.Contents = pdf.make_stream(b"", F=pikepdf.String("/etc/passwd"))
    refuse(save(pdf, **raw), "another file")


@pytest.mark.parametrize("box", [[0, 0, 1e9, 10], [0, 0, 20_000, 10], [0, 0, 0.5, 0.5]])
def test_pages_of_impossible_sizes_are_refused(box):
    pdf = new_page()
    pdf.pages[0].obj.MediaBox = Array(box)
    refuse(save(pdf), "sides of|damaged")


def test_more_pages_than_a_letterhead_has_are_refused():
    pdf = new_page()
    tree = pdf.Root.Pages
    page = Dictionary(Type=Name.Page, MediaBox=Array([0, 0, 9, 9]), Parent=tree)
    tree.Kids = Array([pdf.make_indirect(page) for _ in range(10_001)])
    refuse(save(pdf), "more than 10,000 pages")


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_drawn_or_refused(seed):
    chance = random.Random(seed)
    alphabet = (b"/", b"<<", b">>", b"[", b"(", b"0", b"-1", b"999999999999", b"obj", b"R", b"endstream", b"\0", b"\xff")  # fmt: skip
    plain = [qdf(data) for data in FILES]
    for _ in range(60):
        data = bytearray(chance.choice((*FILES, *plain)))
        for _ in range(chance.randint(1, 12)):
            at = chance.randrange(len(data))
            match chance.randrange(4):
                case 0:
                    data[at] = chance.randrange(256)
                case 1:
                    data[at : at + chance.randint(1, 200)] = b""
                case 2:
                    data[at:at] = chance.choice(alphabet)
                case _:
                    data[at:at] = data[(start := chance.randrange(len(data))) : start + 100]
        found = prepare_image(b"%PDF-1.7\n" + bytes(data), chance.choice((1, 1, 2)))
        if isinstance(found, ContentProblem):
            assert found.code == "image-data"
            assert found.text
            assert found.advice


def qdf(data: bytes) -> bytes:
    with pikepdf.open(io.BytesIO(data)) as pdf:
        return save(pdf, qdf=True, object_stream_mode=pikepdf.ObjectStreamMode.disable)
