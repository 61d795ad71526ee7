"""Pages as pixels, within bounds."""

from __future__ import annotations

import io
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from workers.engine.raster import MAX_PIXELS, MAX_SIDE, bound_scale, rasterise

# As `write_pages` writes: the smallest page there is would do as well.
PAGE = b"""%PDF-1.7
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 %s] /Contents 4 0 R >> endobj
4 0 obj << /Length 26 >> stream
1 0 0 rg 0 0 10 10 re f
endstream endobj
trailer << /Root 1 0 R >>"""


def page(width, height):
    return PAGE.replace(b"%s", f"{width} {height}".encode())


@pytest.mark.parametrize("is_webp", [False, True])
def test_a_page_is_drawn_on_white(is_webp):
    raster = rasterise(page(20, 30), scale=2.0, is_webp=is_webp)
    assert (raster.width, raster.height, raster.scale) == (40, 60, 2.0)
    drawn = Image.open(io.BytesIO(raster.data)).convert("RGB")
    assert drawn.size == (40, 60)
    assert drawn.getpixel((5, 55)) == (255, 0, 0)
    assert drawn.getpixel((35, 5)) == (255, 255, 255)


@pytest.mark.parametrize("width", [20, 21, 22, 23])
def test_both_formats_have_the_same_pixels_whatever_the_width(width):
    """Lines of pixels are not aligned in memory."""
    drawn = [
        Image.open(io.BytesIO(rasterise(page(width, 30), scale=1.0, is_webp=is_webp).data))
        for is_webp in (False, True)
    ]
    png, webp = (picture.convert("RGB") for picture in drawn)
    assert png.tobytes() == webp.tobytes()
    red, white = (255, 0, 0), (255, 255, 255)
    row = [red] * 10 + [white] * (width - 10)
    assert [png.getpixel((x, 29)) for x in range(width)] == row


def test_a_png_has_its_three_chunks_and_right_sums():
    data = rasterise(page(3, 5), scale=1.0).data
    at, names = 8, []
    while at < len(data):
        size = int.from_bytes(data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert zlib.crc32(name + body) == int.from_bytes(data[at + 8 + size : at + 12 + size])
        names.append(name)
        at += 12 + size
    assert names == [b"IHDR", b"IDAT", b"IEND"]


@pytest.mark.parametrize(
    ("width", "height"), [(14_400, 14_400), (14_400, 3), (3, 14_400), (1_000_000, 0.001)]
)
def test_a_page_of_any_size_is_drawn_within_the_bounds(width, height):
    raster = rasterise(page(width, height), scale=8.0)
    assert raster.width * raster.height <= MAX_PIXELS
    assert 1 <= raster.width <= MAX_SIDE
    assert 1 <= raster.height <= MAX_SIDE


@given(st.floats(0.01, 8.0), st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_a_scale_is_lowered_no_more_than_needed(scale, width, height):
    bounded = bound_scale(scale, width, height)
    assert 0 < bounded <= scale
    pixels = (width * bounded + 1) * (height * bounded + 1)
    longest = max(width, height) * bounded + 1
    assert pixels <= MAX_PIXELS * (1 + 1e-9)
    assert longest <= MAX_SIDE * (1 + 1e-9)
    if bounded < scale:
        assert pixels >= MAX_PIXELS * (1 - 1e-6) or longest >= MAX_SIDE * (1 - 1e-6)
