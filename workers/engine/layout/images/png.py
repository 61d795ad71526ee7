"""PNG (ISO/IEC 15948): embedded unchanged where PDF can decode it, else decoded."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from PIL import Image as Pillow
from PIL import ImageCms

from workers.engine.layout.images.decoded import (
    apply_exponent,
    find_exponent,
    narrow_gray,
    pack_with_mask,
    read_orientation,
    read_profile,
    to_srgb,
)
from workers.engine.prepared_images import (
    MAX_DECODED_PIXELS,
    SMALLER,
    UPRIGHT,
    PixelStream,
    PreparedImage,
    UndrawableError,
    check_size,
    prepare_pixels,
)

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
    header: _PngHeader,
    chunks: dict[bytes, bytes],
    colors: ImageCms.ImageCmsProfile | float | None,
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


def _scale_to_8_bits(sample: Any, depth: int) -> Any:
    """Return the transparent colour in eight bits: Pillow widens the pixels, but not this value."""
    if isinstance(sample, tuple):
        return tuple(_scale_to_8_bits(part, depth) for part in sample)
    return sample >> 8 if depth == 16 else sample * 255 // ((1 << depth) - 1)
