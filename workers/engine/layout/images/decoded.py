"""Pictures of formats that PDF has no filter for: decoded by Pillow, within bounds."""

from __future__ import annotations

import io
from typing import Final

from PIL import Image as Pillow

from workers.engine.layout.images.colors import read_profile, to_srgb
from workers.engine.layout.images.orientation import find_orientation
from workers.engine.prepared_images import (
    SMALLER,
    PixelStream,
    PreparedImage,
    UndrawableError,
    check_size,
    is_opaque,
    pack_pixels,
    to_points,
)

# Decoding a WebP takes 16 bytes a pixel, measured: 390 MB. The others take less.
MAX_PIXELS: Final = 24_000_000


def prepare_decoded(data: bytes, key: str, kind: str) -> PreparedImage:
    """Decode the first picture of a file; `kind` is the format by Pillow's name.

    Raises:
        UndrawableError: Damaged, or too large.
    """
    with _open(data, kind) as opened:
        check_pixels(*opened.size, kind)
        image = opened.copy()  # frees the decoder, which may have the canvas twice
        matrix = find_orientation(opened)
        across, down = opened.info.get("dpi", (0.0, 0.0))
        profile = read_profile(opened.info.get("icc_profile"))
    pixels, mask = pack_with_mask(to_srgb(_to_eight_bits(image), profile))
    width, height = image.size
    if matrix[0] == 0:
        (width, height), (across, down) = (height, width), (down, across)
    return PreparedImage(
        key=key,
        width=width,
        height=height,
        width_points=to_points(width, float(across)),
        height_points=to_points(height, float(down)),
        pixels=pixels,
        mask=mask,
        matrix=matrix,
    )


def _open(data: bytes, kind: str) -> Pillow.Image:
    try:
        return Pillow.open(io.BytesIO(data), formats=(kind,))
    except Pillow.DecompressionBombError:  # by its header
        raise _too_large("The image is too large", kind) from None


def check_pixels(width: int, height: int, kind: str) -> None:
    """Check the number of pixels of a file that is decoded.

    Raises:
        UndrawableError: No pixels, or more than `MAX_PIXELS`.
    """
    check_size(width, height)
    if width * height > MAX_PIXELS:
        raise _too_large(f"The image has {width} × {height} pixels", kind)


def _too_large(what: str, kind: str) -> UndrawableError:
    name = kind.replace("WEBP", "WebP")
    most = f"of a {name} at most {MAX_PIXELS // 1_000_000} megapixels are drawn"
    return UndrawableError(f"{what}; {most}", advice=SMALLER)


def _to_eight_bits(image: Pillow.Image) -> Pillow.Image:
    """Return an image of mode L, LA, RGB, RGBA or CMYK."""
    image = narrow_gray(image)
    if image.has_transparency_data:
        return image.convert("LA" if image.mode in ("1", "L", "LA") else "RGBA")
    if image.mode in ("1", "F"):
        return image.convert("L")
    return image if image.mode in ("L", "RGB", "CMYK") else image.convert("RGB")


def narrow_gray(image: Pillow.Image) -> Pillow.Image:
    """Return gray of 16 bits in 8: Pillow has it as integers and would clip it at 255."""
    if not image.mode.startswith("I"):
        return image
    return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")


def pack_with_mask(image: Pillow.Image) -> tuple[PixelStream, PixelStream | None]:
    """Return the pixels of a decoded image, and its mask if it is transparent anywhere."""
    if image.mode in ("L", "RGB"):
        return pack_pixels(image), None
    if image.mode == "CMYK":
        return pack_pixels(image.convert("RGB")), None
    alpha = image.getchannel("A")
    mask = None if is_opaque(alpha) else pack_pixels(alpha)
    return pack_pixels(image.convert(image.mode.removesuffix("A"))), mask
