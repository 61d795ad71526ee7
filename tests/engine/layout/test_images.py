"""Images: what is taken over, what is unpacked, and what is refused before it costs anything."""

from __future__ import annotations

import io
import random
import struct
import zlib

import pytest
from PIL import Image

from workers.engine.layout.elements.images import (
    PreparedImage,
    load_picture,
    prepare_image,
)
from workers.engine.layout.problems import Problem
from workers.engine.ports import NoImages
from workers.engine.tree.nodes import DataImage, StoredImage


def picture(mode: str = "RGB", size: tuple[int, int] = (12, 8)) -> Image.Image:
    return Image.linear_gradient("L").resize(size).convert(mode)


def encoded(image: Image.Image, kind: str = "PNG", **options) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def prepared(data: bytes) -> PreparedImage:
    image = prepare_image(data)
    assert isinstance(image, PreparedImage), image
    return image


def problem(data: bytes) -> str:
    found = prepare_image(data)
    assert isinstance(found, Problem), "a wrong image was prepared"
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


def test_sixteen_bits_are_kept():
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


def test_one_transparent_colour_is_kept_as_a_key():
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
    found = load_picture(StoredImage("logo"), NoImages())
    assert found == Problem("image-missing", 'The workspace holds no image named "logo"')


def test_image_of_a_data_address_is_prepared():
    assert isinstance(load_picture(DataImage(encoded(picture())), NoImages()), PreparedImage)


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b"GIF89a\x01\x00\x01\x00", b"%!PS-Adobe-3.0 EPSF", b"RIFF\x00\x00\x00\x00WEBP"],
)
def test_other_formats_are_refused_by_their_bytes(data):
    assert problem(data) == "The image is neither PNG nor JPEG"


def test_number_of_pixels_is_judged_by_the_header():
    assert "20000 × 20000" in problem(png(20_000, 20_000, b""))
    assert "no pixels" in problem(png(0, 5, b""))


def test_pixels_that_must_be_unpacked_have_a_lower_bound():
    assert "at most 32 megapixels" in problem(png(8000, 8000, b"", color_type=6))


def test_more_pixels_than_the_header_says_are_refused_without_unpacking_them():
    assert "more or fewer pixels" in problem(png(10, 10, bytes(50_000_000)))


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
    for _ in range(600):
        data = bytearray(chance.choice(good))
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        assert isinstance(
            prepare_image(bytes(data[: chance.randint(1, len(data))])), PreparedImage | Problem
        )
