"""Images: what is taken over, what is unpacked, and what is refused before it costs anything."""

from __future__ import annotations

import io
import random
import struct
import zlib

import pytest
from PIL import Image, ImageCms

from tests.images import packed
from tests.images import png as png_with
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.pictures import load_image, prepare_image
from workers.engine.ports import Resources
from workers.engine.prepared_images import PreparedImage
from workers.engine.syntax.identifiers import ImageSource


def picture(mode: str = "RGB", size: tuple[int, int] = (12, 8)) -> Image.Image:
    return Image.linear_gradient("L").resize(size).convert(mode)


def encoded(image: Image.Image, kind: str = "PNG", **options) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def webp(image: Image.Image, **options) -> bytes:
    return encoded(image, "WEBP", **options)


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"WEBP" + b"".join(
        name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)
        for name, content in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def canvas(width: int, height: int, flags: int = 0) -> tuple[bytes, bytes]:
    """The extended header of a WebP (RFC 9649, 2.7)."""
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"VP8X", bytes([flags, 0, 0, 0]) + sides


def lossless_header(width: int, height: int) -> tuple[bytes, bytes]:
    bits = (width - 1) | (height - 1) << 14
    return b"VP8L", b"\x2f" + struct.pack("<I", bits) + bytes(20)


def prepared(data: bytes) -> PreparedImage:
    image = prepare_image(data)
    assert isinstance(image, PreparedImage), image
    return image


def problem(data: bytes) -> str:
    found = prepare_image(data)
    assert isinstance(found, ContentProblem), "a wrong image was prepared"
    return found.text


def chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)


def png(width: int, height: int, pixels: bytes, *, color_type: int = 0, depth: int = 8) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(pixels)), chunk(b"IEND", b"")]
    )


@pytest.mark.parametrize(
    ("mode", "space", "bits"),
    [("1", "DeviceGray", 1), ("L", "DeviceGray", 8), ("RGB", "DeviceRGB", 8), ("P", "Indexed", 8)],
)
def test_png_without_transparency_is_taken_over_with_its_filters(mode, space, bits):
    data = encoded(picture(mode))
    pixels = prepared(data).pixels
    assert (pixels.color_space, pixels.bits, pixels.filter) == (space, bits, "FlateDecode")
    assert pixels.predictor_colors == (3 if mode == "RGB" else 1)
    assert pixels.data in data


def test_sixteen_bit_samples_are_preserved():
    pixels = prepared(png(2, 1, bytes([0, 0, 1, 255, 255]), depth=16)).pixels
    assert (pixels.bits, pixels.color_space) == (16, "DeviceGray")


def test_transparency_becomes_a_mask():
    image = picture("RGBA")
    image.putalpha(128)
    taken = prepared(encoded(image))
    assert taken.mask is not None
    assert taken.mask.color_space == "DeviceGray"
    assert zlib.decompress(taken.mask.data) == bytes([128]) * 12 * 8
    assert zlib.decompress(taken.pixels.data) == image.convert("RGB").tobytes()


def test_gray_with_transparency_stays_gray():
    image = picture("LA")
    image.putalpha(7)
    taken = prepared(encoded(image))
    assert taken.pixels.color_space == "DeviceGray"
    assert taken.mask is not None


def test_a_mask_that_hides_nothing_is_left_out():
    assert prepared(encoded(picture("RGBA"))).mask is None


def test_palette_with_transparency_becomes_colours_and_a_mask():
    image = picture("P")
    taken = prepared(encoded(image, transparency=image.getpixel((0, 0))))
    assert taken.pixels.color_space == "DeviceRGB"
    assert taken.mask is not None


def test_one_transparent_colour_becomes_a_colour_key_mask():
    assert prepared(encoded(picture("L"), transparency=9)).pixels.color_key == (9, 9)


def test_jpeg_is_embedded_as_it_is():
    data = encoded(picture("RGB"), "JPEG")
    pixels = prepared(data).pixels
    assert (pixels.filter, pixels.color_space, pixels.data) == ("DCTDecode", "DeviceRGB", data)


def test_adobe_cmyk_is_inverted():
    pixels = prepared(encoded(picture("CMYK"), "JPEG")).pixels
    assert (pixels.color_space, pixels.is_inverted) == ("DeviceCMYK", True)


def test_resolution_gives_the_size_in_points():
    image = prepared(encoded(picture(size=(300, 150)), "JPEG", dpi=(300, 300)))
    assert (image.width_points, image.height_points) == pytest.approx((72, 36))
    image = prepared(encoded(picture(size=(300, 150)), dpi=(300, 300)))
    assert (image.width_points, image.height_points) == pytest.approx((72, 36), abs=0.01)


def test_without_a_believable_resolution_a_pixel_is_a_css_pixel():
    assert prepared(encoded(picture(size=(100, 60)))).width_points == 75
    assert prepared(encoded(picture(size=(100, 60)), "JPEG", dpi=(1, 1))).width_points == 75


def test_turned_photograph_swaps_its_sides():
    exif = Image.Exif()
    exif[0x0112] = 6
    image = prepared(encoded(picture(size=(12, 8)), "JPEG", exif=exif))
    assert (image.width, image.height) == (8, 12)
    assert (image.pixels.width, image.pixels.height) == (12, 8)


def test_equal_bytes_are_prepared_once():
    data = encoded(picture())
    assert prepared(data) is prepared(bytes(bytearray(data)))


def test_stored_image_that_is_missing_is_named():
    found = load_image(ImageSource("logo"), Resources())
    assert isinstance(found, ContentProblem)
    assert (found.code, found.text) == (
        "image-missing",
        'The workspace holds no image named "logo"',
    )
    assert found.advice == "Store the image, or correct its name."


def test_a_remote_image_is_loaded_from_the_resources_by_its_address():
    class Remote(Resources):
        def find_remote_image(self, address: str) -> bytes | None:
            return encoded(picture()) if address == "https://a.example/b.png" else None

    good = load_image(ImageSource("https://a.example/b.png"), Remote())
    assert isinstance(good, PreparedImage)
    missing = load_image(ImageSource("https://a.example/c.png"), Remote())
    assert isinstance(missing, ContentProblem)
    assert (missing.code, missing.text) == (
        "image-missing",
        'The image at "https://a.example/c.png" cannot be fetched',
    )


def test_the_advice_matches_the_error():
    damaged = encoded(picture())[:60]
    large = png(20_000, 20_000, b"")
    advice = [found.advice for found in map(prepare_image, (damaged, large, b"PSD"))]
    assert advice == [
        "Export it again from its source, or use another one.",
        "Make it smaller.",
        "Convert it to one of these.",
    ]


def test_image_of_a_data_address_is_prepared():
    assert isinstance(load_image(ImageSource(encoded(picture())), Resources()), PreparedImage)


def test_lossless_webp_keeps_every_pixel():
    source = picture("RGB", (33, 17))
    image = prepared(webp(source, lossless=True))
    assert (image.width, image.height, image.width_points) == (33, 17, 33 * 0.75)
    assert (image.pixels.color_space, image.pixels.filter) == ("DeviceRGB", "FlateDecode")
    assert zlib.decompress(image.pixels.data) == source.tobytes()
    assert image.mask is None


def test_lossy_webp_is_the_picture_within_its_loss():
    source = picture("RGB", (64, 64))
    pixels = zlib.decompress(prepared(webp(source, quality=90)).pixels.data)
    assert max(abs(a - b) for a, b in zip(pixels, source.tobytes(), strict=True)) <= 8


@pytest.mark.parametrize("options", [{"lossless": True, "exact": True}, {"quality": 90}])
def test_transparency_of_webp_becomes_a_mask(options):
    source = picture("RGB", (32, 32)).convert("RGBA")
    source.putalpha(picture("L", (32, 32)).rotate(90))
    image = prepared(webp(source, **options))
    assert image.mask is not None
    assert zlib.decompress(image.mask.data) == source.getchannel("A").tobytes()
    if options.get("exact"):
        assert zlib.decompress(image.pixels.data) == source.convert("RGB").tobytes()


def test_turned_webp_swaps_its_sides():
    exif = Image.Exif()
    exif[0x0112] = 6
    image = prepared(webp(picture(size=(12, 8)), exif=exif))
    assert (image.width, image.height) == (8, 12)
    assert (image.pixels.width, image.pixels.height) == (12, 8)


def test_animated_webp_is_refused():
    frames = [picture("RGB"), picture("RGB").rotate(180)]
    data = webp(frames[0], save_all=True, append_images=frames[1:])
    assert "animated" in problem(data)


@pytest.mark.parametrize(
    "data",
    [
        riff(lossless_header(16_384, 16_384)),
        riff((b"VP8 ", b"\0\0\0\x9d\x01\x2a\xff\x3f\xff\x3f")),
        riff(canvas(1 << 24, 1 << 24), lossless_header(2, 2)),
    ],
)
def test_pixels_of_webp_are_judged_by_the_header_before_room_is_made(data):
    assert "at most 100 megapixels" in problem(data)


def test_pixels_of_webp_have_a_lower_bound():
    assert "of a WebP at most 24 megapixels" in problem(riff(lossless_header(6001, 4000)))


@pytest.mark.parametrize("claimed", [(2, 2), (4000, 4000)])
def test_canvas_that_is_not_the_pictures_size_is_damage(claimed):
    small = webp(picture(), lossless=True)
    assert "damaged" in problem(riff(canvas(*claimed), (b"VP8L", small[20:])))


def test_frames_without_the_flag_of_an_animation_are_damage():
    frames = [picture("RGB"), picture("RGB").rotate(180)]
    data = bytearray(webp(frames[0], save_all=True, append_images=frames[1:]))
    data[20] &= ~0x02
    assert "damaged" in problem(bytes(data))


@pytest.mark.parametrize("lossless", [True, False])
def test_cut_webp_is_refused_also_when_its_lengths_are_mended(lossless):
    noise = Image.frombytes("RGB", (64, 64), random.Random(3).randbytes(64 * 64 * 3))
    data = webp(noise, lossless=lossless)
    name, content = data[12:16], data[20:]
    assert "damaged" in problem(data[: len(data) // 2])
    assert "damaged" in problem(riff((name, content[: len(content) // 2])))
    assert "damaged" in problem(riff((name, content[:6])))
    assert "damaged" in problem(riff())


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"BM, a text", b"%!PS-Adobe-3.0 EPSF", b"RIFF\x00\x00\x00\x00WAVE"]
)
def test_other_formats_are_refused_by_their_bytes(data):
    assert (
        problem(data) == "The image is neither PNG, JPEG, WebP, AVIF, GIF, BMP, TIFF, SVG nor PDF"
    )


def test_number_of_pixels_is_judged_by_the_header():
    assert "20000 × 20000" in problem(png(20_000, 20_000, b""))
    assert "no pixels" in problem(png(0, 5, b""))


def test_pixels_that_must_be_unpacked_have_a_lower_bound():
    assert "at most 32 megapixels" in problem(png(8000, 8000, b"", color_type=6))


def test_pixels_beyond_the_header_size_are_rejected_before_decoding():
    assert "number of pixels differs" in problem(png(10, 10, bytes(50_000_000)))


def test_unknown_row_filter_is_refused():
    assert "unknown filter" in problem(png(2, 1, b"\x09\x00\x00"))


def test_wrong_checksum_is_refused():
    data = bytearray(encoded(picture()))
    data[30] ^= 1
    assert "checksum" in problem(bytes(data))


def test_cut_jpeg_is_refused():
    data = encoded(picture(size=(200, 200)), "JPEG")
    assert "damaged" in problem(data[: len(data) // 2])


def test_damaged_files_are_problems_and_nothing_else():
    chance = random.Random(7)
    good = [encoded(picture(mode)) for mode in ("RGBA", "P", "RGB")]
    good += [encoded(picture(mode), "JPEG") for mode in ("L", "RGB", "CMYK")]
    good += [webp(picture(mode), lossless=way) for mode in ("RGB", "RGBA") for way in (0, 1)]
    for _ in range(1000):
        data = bytearray(chance.choice(good))
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        assert isinstance(
            prepare_image(bytes(data[: chance.randint(1, len(data))])),
            PreparedImage | ContentProblem,
        )


# --- what browsers honour ---------------------------------------------------------------------------


def encoded_as(kind: str, image: Image.Image, **options) -> bytes:
    return encoded(image, kind, **options)


def corners(size: tuple[int, int] = (30, 20)) -> Image.Image:
    """A picture that is red at the left of its top, and else blue."""
    image = Image.new("RGB", size, (0, 0, 255))
    image.paste((255, 0, 0), (0, 0, size[0] // 2, size[1] // 2))
    return image


def pixels_of(image: PreparedImage) -> Image.Image:
    stream = image.pixels
    if stream.filter == "DCTDecode":
        return Image.open(io.BytesIO(stream.data)).convert("RGB")
    mode = {"DeviceRGB": "RGB", "DeviceGray": "L"}[stream.color_space]
    size = (stream.width, stream.height)
    return Image.frombytes(mode, size, zlib.decompress(stream.data)).convert("RGB")


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF"])
@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P"])
def test_formats_of_old_are_drawn(kind: str, mode: str):
    image = prepared(encoded_as(kind, corners().convert(mode)))
    assert (image.width, image.height, image.mask) == (30, 20, None)
    expected = corners().convert(mode).convert("RGB")
    assert pixels_of(image).getpixel((2, 2)) == expected.getpixel((2, 2))


def test_pictures_in_avif_are_drawn_within_bounds():
    data = encoded_as("AVIF", corners(), quality=100, subsampling="4:4:4")
    image = prepared(data)
    assert (image.width, image.height, image.mask) == (30, 20, None)
    assert pixels_of(image).getpixel((2, 2)) == pytest.approx((255, 0, 0), abs=3)
    at = data.index(b"ispe") + 8  # the size, which is checked before pixels are decoded
    assert "at most 24 megapixels" in problem(
        data[:at] + struct.pack(">II", 9000, 9000) + data[at + 8 :]
    )


@pytest.mark.parametrize("mode", ["RGBA", "LA", "CMYK", "I;16"])
def test_the_modes_of_tiff_are_drawn(mode: str):
    source = Image.new(mode, (9, 9), {"I;16": 0x8000}.get(mode, 0))
    image = prepared(encoded_as("TIFF", source))
    assert (image.mask is not None) is mode.endswith("A")
    assert pixels_of(image).getpixel((0, 0)) == (
        {"CMYK": (255, 255, 255), "I;16": (128, 128, 128)}.get(mode, (0, 0, 0))
    )


def test_the_first_picture_of_an_animation_is_drawn():
    others = [Image.new("RGB", (30, 20), "black")] * 50
    data = encoded_as("GIF", corners(), save_all=True, append_images=others, duration=10)
    assert pixels_of(prepared(data)).getpixel((2, 2)) == (255, 0, 0)


@pytest.mark.parametrize(
    "data",
    [
        b"GIF89a"
        + struct.pack("<HHBBB", 65_535, 65_535, 0, 0, 0)
        + b",\0\0\0\0\xff\xff\xff\xff\0\x02\0;",
        b"BM"
        + struct.pack("<IIIIiiHHIIiiII", 99, 0, 54, 40, 30_000, 30_000, 1, 24, 0, 0, 0, 0, 0, 0),
    ],
)
def test_large_pictures_are_refused_before_they_are_decoded(data: bytes):
    assert "at most" in problem(data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
@pytest.mark.parametrize(
    ("turned", "size", "matrix"),
    [
        (3, (30, 20), (-1, 0, 0, -1, 1, 1)),
        (6, (20, 30), (0, -1, 1, 0, 0, 1)),
        (8, (20, 30), (0, 1, -1, 0, 1, 0)),
    ],
)
def test_a_turned_picture_is_drawn_upright(kind: str, turned: int, size: tuple, matrix: tuple):
    exif = Image.Exif()
    exif[0x0112] = turned
    image = prepared(encoded_as(kind, corners(), exif=exif))
    assert (image.width, image.height) == size
    assert image.matrix == (
        matrix if kind != "TIFF" else (1, 0, 0, 1, 0, 0)
    )  # Pillow turns that one


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF"])
def test_a_resolution_is_that_of_the_file(kind: str):
    image = prepared(encoded_as(kind, corners((300, 300)), dpi=(300, 150)))
    assert (image.width_points, image.height_points) == pytest.approx((72, 144), rel=0.01)


def wide_profile() -> bytes:
    """A profile whose red and green are exchanged: what ignores it is seen."""
    srgb = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, green = srgb.index(b"rXYZ"), srgb.index(b"gXYZ")
    srgb[red : red + 4], srgb[green : green + 4] = b"gXYZ", b"rXYZ"
    return bytes(srgb).replace("sRGB".encode("utf-16-be"), "RGBs".encode("utf-16-be"))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_colours_are_those_of_the_profile(kind: str):
    quality = {"quality": 100, "subsampling": 0} if kind == "JPEG" else {}
    quality |= {"lossless": True} if kind == "WEBP" else {}
    image = prepared(encoded_as(kind, corners(), icc_profile=wide_profile(), **quality))
    red, green, blue = pixels_of(image).getpixel((2, 2))
    assert green > 240
    assert red < 15
    assert blue < 15


@pytest.mark.parametrize(
    ("more", "level"),
    [
        (chunk(b"gAMA", struct.pack(">I", 45_455)), 128),
        (chunk(b"gAMA", struct.pack(">I", 100_000)), 186),
        (chunk(b"gAMA", struct.pack(">I", 100_000)) + chunk(b"sRGB", b"\0"), 128),
        (chunk(b"gAMA", b"\0\0\0\0"), 128),
        (chunk(b"iCCP", b"x\0\0" + b"no profile"), 128),
        (chunk(b"eXIf", b"no Exif"), 128),
    ],
)
def test_a_gamma_of_a_png_is_honoured_unless_srgb_is_declared(more: bytes, level: int):
    data = png_with(8, 1, packed(b"\0" + b"\x80" * 8), more=more)
    image = prepared(data)
    rows = zlib.decompress(image.pixels.data)
    assert rows[-1] == pytest.approx(level, abs=1)
