"""Pictures that are decoded by Pillow, within bounds: formats that PDF has no filter for, and colours that are not sRGB."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import Final

from PIL import Image as Pillow
from PIL import ImageCms

from workers.engine.prepared_images import (
    DECODER_ERRORS,
    SMALLER,
    UPRIGHT,
    Matrix,
    PixelStream,
    PreparedImage,
    UndrawableError,
    check_size,
    is_opaque,
    pack_pixels,
    prepare_pixels,
)

# Decoding a WebP and packing its pixels takes 24 bytes a pixel, measured: 570 MB. The others take less.
MAX_PIXELS: Final = 24_000_000


def prepare_decoded(data: bytes, key: str, kind: str) -> PreparedImage:
    """Decode the first picture of a file; `kind` is the format by Pillow's name.

    Raises:
        UndrawableError: Damaged, or too large.
    """
    image, matrix, (across, down) = _decode(data, kind)
    pixels, mask = pack_with_mask(image)
    per_inch = (float(across), float(down))
    return prepare_pixels(key, pixels, mask=mask, matrix=matrix, per_inch=per_inch)


def _decode(data: bytes, kind: str) -> tuple[Pillow.Image, Matrix, tuple[float, float]]:
    """Return a picture in sRGB, its matrix and its pixels per inch.

    What the decoder keeps, up to 16 bytes a pixel, ends with the call.
    """
    with _open(data, kind) as opened:
        check_pixels(*opened.size, kind)
        image, matrix = opened.copy(), find_orientation(opened)
        profile = read_profile(opened.info.get("icc_profile"))
        per_inch = opened.info.get("dpi", (0.0, 0.0))
    del opened
    return to_srgb(_to_eight_bits(image), profile), matrix, per_inch


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
        mode = "LA" if image.mode in ("1", "L", "LA") else "RGBA"
    elif image.mode in ("L", "CMYK"):
        mode = image.mode
    else:
        mode = "L" if image.mode in ("1", "F") else "RGB"
    return image if image.mode == mode else image.convert(mode)


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


# --- orientation (Exif 2.32, 4.6.4 A) ---------------------------------------------------------

# From the stored unit square to the displayed one, by the value of the orientation tag.
_ORIENTATIONS: Final[dict[int, Matrix]] = {
    1: UPRIGHT,
    2: (-1, 0, 0, 1, 1, 0),
    3: (-1, 0, 0, -1, 1, 1),
    4: (1, 0, 0, -1, 0, 1),
    5: (0, -1, -1, 0, 1, 1),
    6: (0, -1, 1, 0, 0, 1),
    7: (0, 1, 1, 0, 0, 0),
    8: (0, 1, -1, 0, 1, 0),
}
_ORIENTATION_TAG: Final = 0x0112


def find_orientation(image: Pillow.Image) -> Matrix:
    """Return the matrix from the stored unit square to the displayed one."""
    return _read(image.getexif)


def read_orientation(exif: bytes) -> Matrix:
    """Return that matrix of Exif data by themselves."""

    def load() -> Pillow.Exif:
        loaded = Pillow.Exif()
        loaded.load(exif)
        return loaded

    return _read(load)


def _read(load: Callable[[], Pillow.Exif]) -> Matrix:
    try:
        return _ORIENTATIONS.get(load().get(_ORIENTATION_TAG, 1), UPRIGHT)
    except DECODER_ERRORS:  # damaged metadata are ignored
        return UPRIGHT


# --- colours, as browsers show them -----------------------------------------------------------

_SRGB: Final = ImageCms.createProfile("sRGB")
_MODES: Final = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
_DISPLAY_GAMMA: Final = 2.2
_LEAST_CHANGE: Final = 0.02  # of an exponent, that anybody sees


def read_profile(data: bytes | None) -> ImageCms.ImageCmsProfile | None:
    """Return an ICC profile, None for one that is damaged or sRGB itself."""
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(data)) if data else None
        if profile is None or "srgb" in ImageCms.getProfileDescription(profile).lower():
            return None
    except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
        return None
    return profile


def to_srgb(image: Pillow.Image, profile: ImageCms.ImageCmsProfile | None) -> Pillow.Image:
    """Return an image in sRGB; one that its profile does not fit is returned as it is."""
    if profile is None:
        return image
    mode = _MODES.get(profile.profile.xcolor_space.strip())
    alpha = image.getchannel("A") if image.mode in ("LA", "RGBA") else None
    color = image.convert(image.mode.removesuffix("A")) if alpha else image
    if color.mode != mode:
        return image
    try:
        converted = ImageCms.profileToProfile(color, profile, _SRGB, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
        return image
    assert converted is not None, "the image is not changed in place"
    if mode == "L":
        converted = converted.convert("L")
    if alpha is not None:
        converted.putalpha(alpha)
    return converted


def find_exponent(gamma: float) -> float | None:
    """Return the exponent from samples of a gamma to those of a display, None where they are alike."""
    if not gamma:
        return None
    exponent = 1 / (gamma * _DISPLAY_GAMMA)
    return exponent if abs(exponent - 1) > _LEAST_CHANGE else None


def apply_exponent(image: Pillow.Image, exponent: float) -> Pillow.Image:
    """Return an image of mode L, LA, RGB or RGBA with its colours to the power of an exponent."""
    curve = [round(255 * (level / 255) ** exponent) for level in range(256)]
    bands = len(image.getbands())
    same = list(range(256)) if bands in (2, 4) else []
    return image.point(curve * (bands - bool(same)) + same)


# --- WebP (RFC 9649): its size is read before its decoder runs --------------------------------

STILL: Final = "Save one of its pictures as an image of its own."
_ANIMATED: Final = 0x02  # flag of the extended header (RFC 9649, 2.7)


def prepare_webp(data: bytes, key: str) -> PreparedImage:
    """Decode a still WebP image.

    Raises:
        UndrawableError: Damaged, animated, or too large.
    """
    size = _read_size(data)
    check_pixels(*size, "WEBP")
    image = prepare_decoded(data, key, "WEBP")
    if (image.pixels.width, image.pixels.height) != size:
        raise UndrawableError("The WebP file is damaged: its headers have different sizes")
    return image


def _read_size(data: bytes) -> tuple[int, int]:
    """Return the size from the first chunk: the decoder would allocate memory for it before checking more."""
    kind, content = data[12:16], data[20:30]
    if kind == b"VP8X" and len(content) == 10:
        if content[0] & _ANIMATED:
            raise UndrawableError(
                "The WebP file is animated; a page shows still images", advice=STILL
            )
        width, height = content[4:7], content[7:10]
        return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
    # A lossless image of one colour may be a header of 5 bytes and 3 of pixels.
    if kind == b"VP8L" and content[:1] == b"\x2f" and len(content) >= 5:
        bits = int.from_bytes(content[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and content[3:6] == b"\x9d\x01\x2a" and len(content) == 10:
        width, height = struct.unpack("<HH", content[6:10])
        return width & 0x3FFF, height & 0x3FFF  # the upper two bits are a display scale
    raise UndrawableError("The WebP file is damaged: its first chunk is not an image header")
