"""Bar codes in the dots of a printer: measured in pages drawn at its resolution."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from itertools import groupby

import pytest
import zxingcpp
from PIL import Image

from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, Rendered, RenderOptions

OPTIONS = RenderOptions(now=datetime(2026, 11, 21, tzinfo=UTC))


def draw(barcode: str, *, around: str = "{}", checks: str = "false", mark: str = "") -> Rendered:
    source = (
        f'<document print-checks="{checks}"><page size="4in 3in" margin="7.3mm"/>{mark}<flow>'
        f"{around.format(barcode)}</flow></document>"
    )
    return render(
        prepare_template(source.encode()), Payload(PayloadKind.JSON, b"{}"), options=OPTIONS
    )


def rasterise(pdf: bytes, dpi: int, program: str, folder) -> Image.Image:
    """Draw a page in the dots of a printer, without grey: poppler's by centres, Ghostscript's by touch."""
    (folder / "code.pdf").write_bytes(pdf)
    target = folder / "code.pgm"
    command = {
        "pdftoppm": ["pdftoppm", "-r", str(dpi), "-gray", "-aaVector", "no", "code.pdf", "code"],
        "gs": ["gs", "-q", "-dBATCH", "-dNOPAUSE", f"-r{dpi}", "-sDEVICE=pgmraw"],
    }[program]
    if program == "gs":
        command += [f"-sOutputFile={target}", "code.pdf"]
    subprocess.run(command, cwd=folder, check=True)
    found = next(folder.glob("code*.pgm"))
    return Image.open(found).convert("L")


def widths(lines: list[list[bool]]) -> set[int]:
    """Return the widths of the dark bars of lines, in dots."""
    runs = [(dark, len(list(run))) for line in lines for dark, run in groupby(line)]
    return {width for dark, width in runs if dark}


def rows_of(picture: Image.Image) -> list[list[bool]]:
    dots = [dot < 128 for dot in picture.tobytes()]
    return [dots[at : at + picture.width] for at in range(0, len(dots), picture.width)]


@pytest.mark.parametrize("program", ["pdftoppm", "gs"])
@pytest.mark.parametrize(
    ("dpi", "attributes", "dots", "fewer"),
    [
        (203, 'type="code128" value="003401234500000018" width="70mm"', 3, 0),
        (300, 'type="code128" value="003401234500000018" width="70mm"', 5, 0),
        (600, 'type="ean13" value="4012345678901" bar-width-reduction="0.08mm"', 8, 2),
        (203, 'type="datamatrix" value="003401234500000018|DE|20457" width="22.2mm"', 8, 0),
        (
            *(
                300,
                'type="qr" value="https://example.com/a" width="20mm" bar-width-reduction="0.1mm"',
            ),
            *(7, 1),
        ),
    ],
)
def test_bars_are_whole_numbers_of_dots(program, dpi, attributes, dots, fewer, tmp_path):
    made = draw(f'<barcode {attributes} dpi="{dpi}" alt=""/>')
    picture = rasterise(made.pdf, dpi, program, tmp_path)
    rows = rows_of(picture)
    across = widths(rows)
    assert {(width + fewer) % dots for width in across} == {0}
    assert min(across) == dots - fewer
    if "code128" not in attributes and "ean13" not in attributes:
        columns = [list(column) for column in zip(*rows, strict=True)]
        assert {(height + fewer) % dots for height in widths(columns)} == {0}
    (code,) = zxingcpp.read_barcodes(picture)
    assert code.text in attributes
    assert made.warnings == ()


def test_module_below_the_least_of_its_kind_is_a_warning():
    code = '<barcode type="ean13" value="4012345678901" width="25mm" {}alt=""/>'
    (warning,) = draw(code.format('dpi="300" ')).warnings
    assert warning.code == "barcode-module"
    assert "0.169 mm wide; readers ask for 0.249 mm at least" in warning.message
    assert draw(code.format("")).warnings == ()
    assert [one.code for one in draw(code.format(""), checks="true").warnings] == ["barcode-module"]


@pytest.mark.parametrize(
    ("around", "codes"),
    [
        (
            '<row gap="0mm"><p width="20mm" text-align="end">text</p>{}</row>',
            ["barcode-quiet-zone"],
        ),
        ('<row gap="9mm"><p width="20mm" text-align="end">text</p>{}</row>', []),
        ('<box padding="8mm" background="#ffd" border="1pt solid black">{}</box><p>text</p>', []),
    ],
)
def test_ink_in_the_quiet_zone_is_a_warning(around, codes):
    code = '<barcode type="code128" value="AB-12" width="36mm" quiet="false" dpi="203" alt=""/>'
    assert [warning.code for warning in draw(code, around=around).warnings] == codes


def test_a_watermark_below_the_text_is_no_ink_in_a_quiet_zone():
    code = '<barcode type="code128" value="AB-12" width="36mm" quiet="false" dpi="203" alt=""/>'
    assert draw(code, mark='<watermark text="COPY" layer="under"/>').warnings == ()


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ('type="code128" value="AB-1234567" width="10mm" dpi="203"', "each module is a dot at least"),
        ('type="qr" value="A" module="0.25mm" dpi="203" bar-width-reduction="0.3mm"', "leaves nothing"),
        ('type="usps-imb" value="01234567094987654321" dpi="203"', '"dpi" is not accepted'),
        ('type="maxicode" value="A" bar-width-reduction="0.1mm"', "is not accepted"),
        ('type="qr" value="A" dpi="204"', "203, 300 or 600"),
    ],
)  # fmt: skip
def test_code_that_dots_cannot_draw_is_an_error(attributes, message):
    with pytest.raises(AuthoringError, match=message):
        draw(f'<barcode {attributes} alt=""/>')
