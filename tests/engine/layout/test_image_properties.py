"""Properties of image files: the type by their bytes, the size at which renders draw them."""

from __future__ import annotations

import pytest
from PIL import Image

from tests.images import (
    ACCEPTED,
    BEYOND_COUNTING,
    NOTHING,
    REFUSED,
    encode,
    one_color,
    plain,
    svg,
    with_exif,
)
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.pictures import ImageProperties, prepare_image, read_image_properties
from workers.engine.svg.canvas import VectorImage

ALL = {**REFUSED, **BEYOND_COUNTING, **ACCEPTED, "nothing": NOTHING}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize("name", ALL)
def test_an_image_rejected_by_a_render_has_the_same_problem_and_no_properties(name: str):
    facts, prepared = read_image_properties(ALL[name]), prepare_image(ALL[name])
    assert isinstance(facts, ContentProblem) is (name not in ACCEPTED)
    if isinstance(facts, ContentProblem):
        is_drawable = not isinstance(prepared, ContentProblem)
        if is_drawable or "is neither" in facts.text:  # a render draws more formats than are stored
            assert facts.text == "The image is neither PNG, JPEG, WebP, SVG nor PDF"
        else:
            assert facts == prepared
        assert facts.text
        assert facts.advice


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="9" height="7"', (9, 7)),
        ('width="9.4px" height="6.6px"', (9, 7)),
        ('width="1in" height="25.4mm"', (96, 96)),
        ('width="2cm" height="6pc"', (76, 96)),
        ('width="72pt" height="4em"', (96, 64)),
        ('viewBox="0 0 24 12"', (24, 12)),
        ('viewBox="-5,-5,24,12" width="48"', (48, 24)),
        ('height="6" viewBox="0 0 24 12"', (12, 6)),
        ('width="100%" height="50%" viewBox="0 0 24 12"', (24, 12)),
        ('viewBox="0 0 0 12"', (300, 150)),
        ('width="0.2" height="0.2"', (1, 1)),
        ("", (300, 150)),
    ],
)
def test_the_size_of_an_svg_is_the_one_at_which_it_is_drawn(attributes: str, size: tuple[int, int]):
    data = svg("", attributes)
    assert read_image_properties(data) == ImageProperties("image/svg+xml", *size)
    image = prepare_image(data)
    assert isinstance(image, VectorImage)
    assert (max(1, round(image.width)), max(1, round(image.height))) == size


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (16, 16), (300, 200), (16_383, 1)])
@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 50}, {"method": 0}])
@pytest.mark.parametrize(
    ("mode", "color"),
    [("RGB", "red"), ("RGB", "black"), ("RGBA", (9, 9, 9, 128)), ("RGBA", 0), ("L", 255)],
)
def test_a_webp_of_one_colour_has_its_size(mode, color, options, size):
    data = encode("WEBP", Image.new(mode, size, color), **options)
    assert read_image_properties(data) == ImageProperties("image/webp", *size)


@pytest.mark.parametrize(
    ("data", "media_type", "size"),
    [
        (encode("PNG", plain()), "image/png", (24, 16)),
        (encode("JPEG", plain()), "image/jpeg", (24, 16)),
        (ACCEPTED["jpeg of two pictures"], "image/jpeg", (24, 16)),
        (one_color(37, 20, (255, 1, 2, 3)), "image/webp", (37, 20)),
        # Turned by a quarter: the size is that of the stored pixels.
        (with_exif(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"), "image/jpeg", (24, 16)),
        (svg().decode().replace("9", "30").encode("utf-16"), "image/svg+xml", (30, 7)),
    ],
)  # fmt: skip
def test_the_bytes_decide_the_type_and_the_stored_pixels_the_size(data, media_type, size):
    assert read_image_properties(data) == ImageProperties(media_type, *size)
