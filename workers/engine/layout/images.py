"""Images in pixels as PDF streams: PNG (ISO/IEC 15948) and JPEG (ITU-T T.81) unchanged where PDF can
decode them, and all others decoded by Pillow, within bounds.

A JPEG is decoded once to find damage.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from PIL import Image as Pillow
from PIL import ImageCms

from workers.engine.prepared_images import (
    DECODER_ERRORS,
    MAX_DECODED_PIXELS,
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
    image, matrix, (across, down) = _decode_first(data, kind)
    pixels, mask = pack_with_mask(image)
    per_inch = (float(across), float(down))
    return prepare_pixels(key, pixels, mask=mask, matrix=matrix, per_inch=per_inch)


def _decode_first(data: bytes, kind: str) -> tuple[Pillow.Image, Matrix, tuple[float, float]]:
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


PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_READ: Final = frozenset({b"PLTE", b"tRNS", b"pHYs", b"eXIf", b"gAMA", b"sRGB", b"iCCP"})
_MAX_PROFILE: Final = 4 * 1024 * 1024
_GRAY, _RGB, _PALETTE, _GRAY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_COMPONENTS: Final = {_GRAY: 1, _RGB: 3, _PALETTE: 1, _GRAY_ALPHA: 2, _RGBA: 4}
_DEPTHS: Final = {
    _GRAY: (1, 2, 4, 8, 16),
    _RGB: (8, 16),
    _PALETTE: (1, 2, 4, 8),
    _GRAY_ALPHA: (8, 16),
    _RGBA: (8, 16),
}


@dataclass(frozen=True, slots=True)
class _PngHeader:
    width: int
    height: int
    depth: int
    color_type: int
    is_interlaced: bool


def prepare_png(data: bytes, key: str) -> PreparedImage:
    """Prepare a PNG file for embedding.

    Raises:
        UndrawableError: Damaged, or too large.
    """
    header = _read_header(data)
    check_size(header.width, header.height)
    chunks = _read_chunks(data)
    _check_palette(header, chunks)
    colors = _read_colors(chunks)
    pixels, mask = (
        (_embed_rows(header, chunks), None)
        if _can_embed(header, chunks) and colors is None
        else _decode(header, chunks, colors)
    )
    per_inch = _read_resolution(chunks.get(b"pHYs", b""))
    matrix = read_orientation(chunks[b"eXIf"]) if b"eXIf" in chunks else UPRIGHT
    return prepare_pixels(key, pixels, mask=mask, matrix=matrix, per_inch=per_inch)


def _read_header(data: bytes) -> _PngHeader:
    if len(data) < 33 or data[12:16] != b"IHDR":
        raise UndrawableError("The PNG file is damaged: it has no header")
    width, height, depth, color_type, packing, filtering, interlace = struct.unpack(
        ">IIBBBBB", data[16:29]
    )
    is_standard = data[8:12] == b"\0\0\0\x0d" and depth in _DEPTHS.get(color_type, ())
    if not is_standard or packing or filtering or interlace > 1:
        raise UndrawableError("The PNG file is damaged: its header is not valid")
    return _PngHeader(width, height, depth, color_type, bool(interlace))


def _read_chunks(data: bytes) -> dict[bytes, bytes]:
    """Return the relevant chunks by name, the pixel data joined; raise at a wrong checksum."""
    found: dict[bytes, bytes] = {}
    pixels: list[bytes] = []
    for name, content in _walk_chunks(data):
        if name == b"IDAT":
            pixels.append(content)
        elif name in _READ or (name == b"IHDR" and name not in found):
            found[name] = content
    return found | {b"IDAT": b"".join(pixels)}


def _walk_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(PNG_SIGNATURE)
    while at + 12 <= len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        end = at + 8 + length
        if end + 4 > len(data) or name == b"IEND":
            break
        if zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            raise UndrawableError(f"The PNG file is damaged: wrong checksum at byte {at}")
        yield name, data[at + 8 : end]
        at = end + 4


def _read_resolution(physical: bytes) -> tuple[float, float]:
    if len(physical) != 9 or physical[8] != 1:  # 1: pixels per metre
        return 0.0, 0.0
    across, down = struct.unpack(">II", physical[:8])
    return across * 0.0254, down * 0.0254


def _read_colors(chunks: dict[bytes, bytes]) -> ImageCms.ImageCmsProfile | float | None:
    """Return the profile or exponent to sRGB; a profile has priority over sRGB, and that over a gamma."""
    if b"iCCP" in chunks:
        packed = chunks[b"iCCP"].partition(b"\0")[2][1:]
        try:
            profile = zlib.decompressobj().decompress(packed, _MAX_PROFILE)
        except zlib.error:
            return None
        return read_profile(profile)
    gamma = chunks.get(b"gAMA", b"")
    if b"sRGB" in chunks or len(gamma) != 4:
        return None
    return find_exponent(int.from_bytes(gamma, "big") / 100_000)


def _check_palette(header: _PngHeader, chunks: dict[bytes, bytes]) -> None:
    size = len(chunks.get(b"PLTE", b""))
    if header.color_type == _PALETTE and not (3 <= size <= 768 and size % 3 == 0):
        raise UndrawableError("The PNG file is damaged: its palette is missing or wrong")


def _can_embed(header: _PngHeader, chunks: dict[bytes, bytes]) -> bool:
    if header.is_interlaced or header.color_type in (_GRAY_ALPHA, _RGBA):
        return False
    return header.color_type != _PALETTE or b"tRNS" not in chunks


def _embed_rows(header: _PngHeader, chunks: dict[bytes, bytes]) -> PixelStream:
    """Return the rows unchanged: PDF decodes PNG's filters (ISO 32000-1 7.4.4.4)."""
    components = _COMPONENTS[header.color_type]
    _check_rows(chunks[b"IDAT"], header, components)
    palette = chunks.get(b"PLTE", b"") if header.color_type == _PALETTE else b""
    return PixelStream(
        width=header.width,
        height=header.height,
        bits=header.depth,
        color_space={_GRAY: "DeviceGray", _RGB: "DeviceRGB", _PALETTE: "Indexed"}[
            header.color_type
        ],
        filter="FlateDecode",
        data=chunks[b"IDAT"],
        palette=palette,
        predictor_colors=components,
        color_key=_color_key(chunks.get(b"tRNS", b""), components, header.depth),
    )


def _color_key(transparent: bytes, components: int, depth: int) -> tuple[int, ...]:
    if len(transparent) != 2 * components:
        return ()
    values = struct.unpack(f">{components}H", transparent)
    return tuple(value & ((1 << depth) - 1) for value in values for _ in range(2))


def _check_rows(compressed: bytes, header: _PngHeader, components: int) -> None:
    """Check that the pixel data have exactly the rows of the header, a few rows at a time."""
    row = 1 + (header.width * header.depth * components + 7) // 8
    expected = row * header.height
    inflater = zlib.decompressobj()
    length, rest = 0, compressed
    while rest and not inflater.eof and length <= expected:
        rows = inflater.decompress(rest, row * 64)
        if max(rows[::row], default=0) > 4:
            raise UndrawableError("The PNG file is damaged: a row has an unknown filter")
        length += len(rows)
        rest = inflater.unconsumed_tail
    if length != expected:
        raise UndrawableError(
            "The PNG file is damaged: the number of pixels differs from its header"
        )


def _decode(
    header: _PngHeader, chunks: dict[bytes, bytes], colors: ImageCms.ImageCmsProfile | float | None
) -> tuple[PixelStream, PixelStream | None]:
    """Decode images that PDF cannot: with transparency, interlaced rows or colours other than sRGB."""
    if header.width * header.height > MAX_DECODED_PIXELS:
        raise UndrawableError(
            f"The image has {header.width} × {header.height} pixels; with transparency, interlaced rows "
            f"or a colour profile at most {MAX_DECODED_PIXELS // 1_000_000} megapixels are drawn",
            advice=SMALLER,
        )
    is_gray = header.color_type in (_GRAY, _GRAY_ALPHA)
    with Pillow.open(
        io.BytesIO(_remove_ancillary_chunks(header, chunks)), formats=("PNG",)
    ) as opened:
        image = narrow_gray(opened)
        if "transparency" in opened.info and header.color_type in (_GRAY, _RGB):
            image.info["transparency"] = _scale_to_8_bits(opened.info["transparency"], header.depth)
        image = image.convert("LA" if is_gray else "RGBA")
    image = apply_exponent(image, colors) if isinstance(colors, float) else to_srgb(image, colors)
    return pack_with_mask(image)


def _remove_ancillary_chunks(header: _PngHeader, chunks: dict[bytes, bytes]) -> bytes:
    """Return a PNG of pixels and transparency only, so that damaged text or profiles refuse no image."""
    critical = [(b"IHDR", chunks[b"IHDR"])]
    transparent = chunks.get(b"tRNS", b"")
    if header.color_type == _PALETTE:
        critical.append((b"PLTE", chunks[b"PLTE"]))
        critical.append((b"tRNS", transparent[:256]))
    elif len(transparent) == 2 * _COMPONENTS[header.color_type]:
        critical.append((b"tRNS", transparent))
    critical += [(b"IDAT", chunks[b"IDAT"]), (b"IEND", b"")]
    return PNG_SIGNATURE + b"".join(
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(content, zlib.crc32(name)))
        for name, content in critical
    )


def _scale_to_8_bits(sample: Any, depth: int) -> object:
    """Return the transparent colour in eight bits: Pillow widens the pixels, but not this value."""
    if isinstance(sample, tuple):
        return tuple(_scale_to_8_bits(part, depth) for part in sample)
    return sample >> 8 if depth == 16 else sample * 255 // ((1 << depth) - 1)


PLAIN: Final = "Save it as a baseline or progressive JPEG of 8 bits."
_SPACES: Final = {1: "DeviceGray", 3: "DeviceRGB", 4: "DeviceCMYK"}
_DECODABLE_FRAMES: Final = (0xC0, 0xC1, 0xC2)  # Huffman coded: baseline, extended, progressive
# Encoders write up to 255 for a colour profile and some hundred for metadata before the first scan.
_MAX_SEGMENTS: Final = 10_000
_QUALITY: Final = 95  # of a file whose colours are converted: the difference is not seen
_STRAY: Final = 0  # a byte between segments, which decoders skip after the frame header
_OTHER_FRAMES: Final = (0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)


@dataclass(frozen=True, slots=True)
class _JpegHeader:
    width: int
    height: int
    components: int
    is_adobe: bool


def prepare_jpeg(data: bytes, key: str) -> PreparedImage:
    """Prepare a JPEG file for embedding.

    Raises:
        UndrawableError: Damaged, too large, or of a kind that PDF cannot embed.
    """
    header = _read_frame(data)
    check_size(header.width, header.height)
    matrix, per_inch, profile = _verify_by_decoding(data)
    if profile is not None:
        data = _convert_colors(data, header, profile)
    pixels = PixelStream(
        width=header.width,
        height=header.height,
        bits=8,
        color_space=_SPACES[header.components],
        filter="DCTDecode",
        data=data,
        is_inverted=header.components == 4 and header.is_adobe,
    )
    return prepare_pixels(key, pixels, mask=None, matrix=matrix, per_inch=per_inch)


def _read_frame(data: bytes) -> _JpegHeader:
    """Return size and components from the frame header, and whether an Adobe marker precedes it."""
    is_adobe = False
    header: _JpegHeader | None = None
    for steps, (marker, at, end) in enumerate(_walk_segments(data)):
        if steps >= _MAX_SEGMENTS:
            raise UndrawableError(
                f"The JPEG file is damaged: it has more than {_MAX_SEGMENTS:,} segments before its pixels"
            )
        if header is not None:
            continue
        if marker == _STRAY:
            break
        content = data[at : min(end, at + 6)]
        if marker == 0xEE and content.startswith(b"Adobe"):
            is_adobe = True
        if marker in _OTHER_FRAMES:
            raise UndrawableError(
                "The JPEG file is lossless or arithmetic coded, which PDF cannot embed",
                advice=PLAIN,
            )
        if marker in _DECODABLE_FRAMES and len(content) == 6:
            precision, height, width, components = struct.unpack(">BHHB", content)
            if precision != 8 or components not in _SPACES:
                raise UndrawableError(
                    f"The JPEG file has {components} components of {precision} bits; 1, 3 or 4 of 8 bits are drawn",
                    advice=PLAIN,
                )
            header = _JpegHeader(width, height, components, is_adobe)
    if header is None:
        raise UndrawableError("The JPEG file is damaged: it has no frame header")
    return header


def _walk_segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield marker, start and end of the segments before the first scan; stray bytes one by one."""
    at = 2
    while at + 4 <= len(data):
        marker = data[at + 1] if data[at] == 0xFF else _STRAY
        if marker in (0xFF, _STRAY):  # 0xFF: a fill byte, allowed before any marker
            at += 1
            yield marker, at, at
            continue
        if marker == 0xDA:  # start of scan: no header follows
            return
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        yield marker, at + 4, at + 2 + length
        at += 2 + max(length, 2)


def _convert_colors(data: bytes, header: _JpegHeader, profile: ImageCms.ImageCmsProfile) -> bytes:
    """Return a JPEG in sRGB; ink and what is too large to be decoded stay as they are."""
    if header.components == 4 or header.width * header.height > MAX_DECODED_PIXELS:
        return data
    with Pillow.open(io.BytesIO(data), formats=("JPEG",)) as opened:
        converted = to_srgb(opened, profile)
        if converted is opened:
            return data
        file = io.BytesIO()
        converted.save(file, "JPEG", quality=_QUALITY, subsampling=0)
        return file.getvalue()


def _verify_by_decoding(
    data: bytes,
) -> tuple[Matrix, tuple[float, float], ImageCms.ImageCmsProfile | None]:
    """Decode the file at an eighth of its size, to find damage."""
    with Pillow.open(io.BytesIO(data), formats=("JPEG",)) as image:
        matrix = find_orientation(image)
        profile = read_profile(image.info.get("icc_profile"))
        across, down = image.info.get("dpi", (0.0, 0.0))
        image.draft(None, (max(1, image.width // 8), max(1, image.height // 8)))
        image.load()
    return matrix, (float(across), float(down)), profile
