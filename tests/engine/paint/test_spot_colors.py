"""Spot colours: the plate of an ink has what is drawn in it, and no other plate has."""

from __future__ import annotations

import io
import subprocess

import pikepdf
from PIL import Image

from tests.golden.case import OPTIONS
from workers.engine.merged_pdf import MergedPart
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind

DOCUMENT = b"""<document tagged="false"><color name="brand" spot="PANTONE 186 C" value="cmyk(0 100 80 5)"/>
<page size="60mm 60mm" margin="0"/><flow>
<div height="20mm" background="brand"/><div height="20mm" background="brand" opacity="0.5"/>
<p color="brand" font-size="20pt">{{ name }}</p></flow></document>"""


def make() -> bytes:
    payload = Payload(PayloadKind.JSON, b'{"name": "HHHH"}')
    return render(prepare_template(DOCUMENT), payload, options=OPTIONS).pdf


def separate(pdf: bytes, folder) -> dict[str, Image.Image]:
    """Return the plates of the first page by Ghostscript; 0 is full ink."""
    (folder / "a.pdf").write_bytes(pdf)
    command = ["gs", "-q", "-sDEVICE=tiffsep", "-r72", "-dLastPage=1", "-oplate.tif", "a.pdf"]
    subprocess.run(command, cwd=folder, check=True)
    plates = {}
    for path in folder.glob("plate(*).tif"):
        with Image.open(path) as opened:
            plates[path.stem[6:-1]] = opened.copy()
    return plates


def test_an_ink_is_on_its_plate_alone(tmp_path):
    plates = separate(make(), tmp_path)
    assert plates.keys() == {"Cyan", "Magenta", "Yellow", "Black", "PANTONE 186 C"}
    ink = plates.pop("PANTONE 186 C")
    assert ink.getpixel((80, 20)) == 0
    assert abs(ink.getpixel((80, 80)) - 128) <= 1
    assert ink.crop((0, 120, 170, 170)).getextrema()[0] == 0
    assert {plate.getextrema() for plate in plates.values()} == {(255, 255)}


def test_an_ink_is_one_colour_space_of_the_file():
    with pikepdf.open(io.BytesIO(make())) as pdf:
        [found] = [
            each
            for each in pdf.objects
            if isinstance(each, pikepdf.Array) and each and each[0] == "/Separation"
        ]
        assert found[1] == "/PANTONE 186 C"
        assert pdf.pages[0].Resources.ColorSpace.Ink1.objgen == found.objgen
    payload = Payload(PayloadKind.JSON, b'{"name": "a"}')
    source = DOCUMENT.replace(b' color="brand"', b"").replace(b' background="brand"', b"")
    plain = render(prepare_template(source), payload, options=OPTIONS).pdf
    with pikepdf.open(io.BytesIO(plain)) as pdf:
        assert "/ColorSpace" not in pdf.pages[0].Resources


def test_merged_documents_share_the_ink(tmp_path):
    part = MergedPart(prepare_template(DOCUMENT), options=OPTIONS)
    for name in ("HHHH", "HHHH", "IIII"):
        part.add(Payload(PayloadKind.JSON, b'{"name": "%b"}' % name.encode()), name=name)
    merged = part.close()
    assert merged is not None
    with pikepdf.open(io.BytesIO(merged)) as pdf:
        spaces = {page.Resources.ColorSpace.Ink1.objgen for page in pdf.pages}
        assert len(spaces) == 1
    assert separate(merged, tmp_path)["PANTONE 186 C"].getextrema()[0] == 0
