"""Images as a reader draws them: every kind of file next to the same file unpacked by its own library."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image, ImageChops, ImageOps

from tests.engine.paint.drawing import OWNER, page, printed, rendered
from workers.engine.layout.display import Picture
from workers.engine.layout.pictures import prepare_image
from workers.engine.prepared_images import PreparedImage

SIZE = (48, 32)
ADAM7 = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)


def source(mode: str) -> Image.Image:
    """A picture with slopes in all channels, no two of its corners alike."""
    across = Image.linear_gradient("L").resize(SIZE[::-1]).rotate(90, expand=True)
    down = Image.linear_gradient("L").resize(SIZE)
    picture = Image.merge("RGB", (across, down, ImageOps.invert(across)))
    if mode == "RGBA":
        picture.putalpha(down)
        return picture
    return picture.convert(mode)


def drawn(data: bytes) -> Image.Image:
    """Return an image on white paper, a pixel for a point."""
    image = prepare_image(data)
    assert isinstance(image, PreparedImage), image
    width, height = image.width, image.height
    return rendered(
        printed(page(Picture(0, 0, width, height, image, OWNER), width=width, height=height))
    )


def expected(data: bytes) -> Image.Image:
    """Return an image as its own library decodes it, on white."""
    picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    if picture.mode.startswith("I"):
        picture = picture.convert("I").point(lambda value: value / 257).convert("L")
    if "transparency" in picture.info or picture.mode in ("LA", "PA", "RGBA"):
        picture = picture.convert("RGBA")
        paper = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(paper, picture)
    return picture.convert("RGB")


def assert_alike(data: bytes, within: int) -> None:
    ours, theirs = drawn(data), expected(data)
    assert ours.size == theirs.size
    worst = max(high for _, high in ImageChops.difference(ours, theirs).getextrema())
    assert worst <= within, worst


def saved(picture: Image.Image, kind: str, **options) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def chunk(name: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + checksum


def png(depth: int, color_type: int, *, is_interlaced: bool = False, extra: bytes = b"") -> bytes:
    """A PNG of a kind that the library reads but does not write."""
    width, height = 17, 11
    components = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color_type]
    most = (1 << depth) - 1

    def sample(x: int, y: int, channel: int) -> int:
        return ((x * 5 + y * 11 + channel * 7) * (most // 8 + 1)) & most

    def row(y: int, xs: range) -> bytes:
        bits = "".join(f"{sample(x, y, c):0{depth}b}" for x in xs for c in range(components))
        bits += "0" * (-len(bits) % 8)
        return b"\0" + int(bits, 2).to_bytes(len(bits) // 8, "big")

    passes = ADAM7 if is_interlaced else ((0, 0, 1, 1),)
    pixels = b"".join(
        row(y, range(x0, width, dx))
        for x0, y0, dx, dy in passes
        if x0 < width
        for y in range(y0, height, dy)
    )
    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, int(is_interlaced))
    palette = bytes((n * 37) & 255 for n in range(3 * (1 << depth))) if color_type == 3 else b""
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + (chunk(b"PLTE", palette) if palette else b"")
        + extra
        + chunk(b"IDAT", zlib.compress(pixels))
        + chunk(b"IEND", b"")
    )


KINDS = [
    *((depth, 0) for depth in (1, 2, 4, 8, 16)),
    *((depth, 2) for depth in (8, 16)),
    *((depth, 3) for depth in (1, 2, 4, 8)),
    *((depth, color_type) for depth in (8, 16) for color_type in (4, 6)),
]


@pytest.mark.parametrize("is_interlaced", [False, True])
@pytest.mark.parametrize(("depth", "color_type"), KINDS)
def test_png_of_every_kind(depth: int, color_type: int, is_interlaced: bool):
    assert_alike(png(depth, color_type, is_interlaced=is_interlaced), 2)


@pytest.mark.parametrize("is_interlaced", [False, True])
@pytest.mark.parametrize(
    ("depth", "color_type", "transparent"),
    [
        (8, 0, struct.pack(">H", 5 * 32)),
        (8, 2, struct.pack(">HHH", 0, 224, 192)),
        (8, 3, bytes(range(0, 250, 2))),
        (2, 3, bytes([0, 128])),
    ],
)
def test_png_with_transparent_colours(depth, color_type, transparent, is_interlaced):
    extra = chunk(b"tRNS", transparent)
    assert_alike(png(depth, color_type, is_interlaced=is_interlaced, extra=extra), 2)


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("is_interlaced", [False, True])
def test_transparent_gray_is_the_sample_as_it_is_stored(depth: int, is_interlaced: bool):
    # The library compares it with samples it has widened to eight bits, so it is not a reference here.
    plain = png(depth, 0, is_interlaced=is_interlaced)
    gray = {1: 0, 2: 2, 4: 14, 8: 160, 16: 40960}[depth]
    keyed = png(
        depth, 0, is_interlaced=is_interlaced, extra=chunk(b"tRNS", struct.pack(">H", gray))
    )
    shown = gray * 255 // ((1 << depth) - 1)
    pairs = list(
        zip(drawn(plain).get_flattened_data(), drawn(keyed).get_flattened_data(), strict=True)
    )
    assert all(
        after == ((255,) * 3 if abs(before[0] - shown) < 2 else before) for before, after in pairs
    )
    assert any(before != after for before, after in pairs)


def test_gamma_of_a_png_changes_nothing_as_in_browsers_without_colour_management():
    assert_alike(png(8, 2, extra=chunk(b"gAMA", struct.pack(">I", 45455))), 2)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_turned_photographs(kind: str, orientation: int):
    exif = Image.Exif()
    exif[0x0112] = orientation
    assert_alike(saved(source("RGB"), kind, exif=exif, quality=95), 12)


@pytest.mark.parametrize(
    "options", [{}, {"progressive": True}, {"subsampling": 2}, {"optimize": True}]
)
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_jpeg(mode: str, options: dict):
    assert_alike(saved(source(mode), "JPEG", quality=95, **options), 12)


def test_cmyk_jpeg_has_the_inks_it_names():
    for ink, seen in (((255, 0, 0, 0), 0), ((0, 255, 0, 0), 1), ((0, 0, 255, 0), 2)):
        pixel = drawn(saved(Image.new("CMYK", SIZE, ink), "JPEG", quality=95)).getpixel((9, 9))
        # Cyan takes away red, magenta green, yellow blue.
        assert pixel[seen] == min(pixel), (ink, pixel)
        assert min(pixel) < 90, (ink, pixel)
        assert max(pixel) > 150, (ink, pixel)
    white = drawn(saved(Image.new("CMYK", SIZE, (0, 0, 0, 0)), "JPEG", quality=95))
    assert min(white.getpixel((9, 9))) > 245
    black = drawn(saved(Image.new("CMYK", SIZE, (0, 0, 0, 255)), "JPEG", quality=95))
    assert max(black.getpixel((9, 9))) < 60


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 95}])
@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_webp(mode: str, options: dict):
    assert_alike(saved(source(mode), "WEBP", **options), 12)


def test_damaged_exif_causes_no_rotation_and_no_warning():
    exif = Image.Exif()
    exif[0x0112] = 6
    whole = saved(source("RGB"), "JPEG", exif=exif)
    start = whole.index(b"Exif\0\0")
    damaged = whole[: start + 14] + b"\xff" * 8 + whole[start + 22 :]
    image = prepare_image(damaged)
    assert isinstance(image, PreparedImage)
