"""Images: PNG, JPEG and WebP judged by their bytes, prepared once as the streams a PDF holds."""

from __future__ import annotations

import io
import struct
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from PIL import Image as Pillow

from workers.engine.layout.problems import Problem
from workers.engine.ports import Resources
from workers.engine.tree.nodes import DataImage, StoredImage

CODE: Final = "image-data"
MISSING_CODE: Final = "image-missing"
MAX_PIXELS: Final = 100_000_000  # contract.md; told by the header, before anything is decoded
MAX_DECODED_PIXELS: Final = 32_000_000  # what must be unpacked in memory: 128 MB at 4 bytes a pixel
# A WebP is unpacked whole, 16 bytes a pixel measured while it is read: 390 MB.
MAX_WEBP_PIXELS: Final = 24_000_000
CACHED_BYTES: Final = 48 * 1024 * 1024  # prepared images kept per process
POINTS_PER_PIXEL: Final = 0.75  # a CSS px, for an image that states no resolution

Matrix = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class PixelStream:
    """The pixels of an image as PDF stores them (PDF 1.7, 8.9.5). `data` is compressed already.

    `predictor_colors` is the number of components when the rows carry PNG filters, 0 when not;
    `color_key` is the one colour that is not painted (8.9.6.4), `is_inverted` when 0 is full ink, as in Adobe's CMYK JPEG files.
    """

    width: int
    height: int
    bits: int
    color_space: str  # DeviceGray, DeviceRGB, DeviceCMYK, Indexed
    filter: str  # FlateDecode, DCTDecode
    data: bytes
    palette: bytes = b""
    predictor_colors: int = 0
    color_key: tuple[int, ...] = ()
    is_inverted: bool = False


@dataclass(frozen=True, slots=True)
class PreparedImage:
    """An image ready to be placed: its size as shown, in pixels and in points, and its streams.

    `key` is the sha256 of the file: equal images are one object in a document. `matrix` turns the
    stored unit square into the shown one (EXIF orientation).
    """

    key: str
    width: int
    height: int
    width_points: float
    height_points: float
    pixels: PixelStream
    mask: PixelStream | None
    matrix: Matrix


def load_picture(picture: StoredImage | DataImage, resources: Resources) -> PreparedImage | Problem:
    """Fetch and prepare the image a document names; what is wrong with it is a problem."""
    if isinstance(picture, DataImage):
        return prepare_image(picture.data)
    data = resources.find_image(picture.name)
    if data is None:
        return Problem(MISSING_CODE, f'The workspace holds no image named "{picture.name}"')
    return prepare_image(data)


def prepare_image(data: bytes) -> PreparedImage | Problem:
    """Judge and prepare image bytes; the same bytes are prepared once while they stay in the cache."""
    key = sha256(data).hexdigest()
    known = _cache.find(key)
    if known is not None:
        return known
    try:
        prepared = _prepare(data, key)
    except _Wrong as wrong:
        return Problem(CODE, str(wrong))
    except _DECODER_ERRORS:
        return Problem(CODE, "The image is damaged: its data cannot be decoded")
    _cache.keep(prepared)
    return prepared


class _Wrong(Exception):
    """The image cannot be drawn; the text says why."""


# What Pillow's readers raise on damaged files, seen in its source and in fuzzing.
_DECODER_ERRORS: Final = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    EOFError,
    struct.error,
    zlib.error,
    Pillow.DecompressionBombError,
    Pillow.DecompressionBombWarning,
)


class _Cache:
    """The images prepared last, up to a number of bytes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, PreparedImage] = OrderedDict()
        self._size = 0

    def find(self, key: str) -> PreparedImage | None:
        image = self._kept.get(key)
        if image is not None:
            self._kept.move_to_end(key)
        return image

    def keep(self, image: PreparedImage) -> None:
        self._kept[image.key] = image
        self._size += _size(image)
        while self._size > CACHED_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._size -= _size(oldest)


_cache = _Cache()
# Pillow judges headers too; its own bound would refuse images that the contract takes.
Pillow.MAX_IMAGE_PIXELS = MAX_PIXELS


def _size(image: PreparedImage) -> int:
    return len(image.pixels.data) + (len(image.mask.data) if image.mask else 0)


def _prepare(data: bytes, key: str) -> PreparedImage:
    if data.startswith(_PNG_SIGNATURE):
        return _prepare_png(data, key)
    if data.startswith(b"\xff\xd8\xff"):
        return _prepare_jpeg(data, key)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _prepare_webp(data, key)
    raise _Wrong("The image is neither PNG, JPEG nor WebP")


def _judge_size(width: int, height: int) -> None:
    if not width or not height:
        raise _Wrong("The image has no pixels")
    if width * height > MAX_PIXELS:
        raise _Wrong(
            f"The image has {width} × {height} pixels; at most {MAX_PIXELS // 1_000_000} megapixels are drawn"
        )


def _points(pixels: int, per_inch: float) -> float:
    # A resolution outside this range is a writer's placeholder, not a size.
    return pixels * 72 / per_inch if 30 <= per_inch <= 2400 else pixels * POINTS_PER_PIXEL


# --- PNG (ISO/IEC 15948) ----------------------------------------------------------------------------


_PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
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


def _prepare_png(data: bytes, key: str) -> PreparedImage:
    header = _png_header(data)
    _judge_size(header.width, header.height)
    chunks = _png_chunks(data)
    pixels, mask = (
        (_passed_png(header, chunks), None)
        if _passes(header, chunks)
        else _decoded_png(data, header)
    )
    across, down = _png_resolution(chunks.get(b"pHYs", b""))
    return PreparedImage(
        key=key,
        width=header.width,
        height=header.height,
        width_points=_points(header.width, across),
        height_points=_points(header.height, down),
        pixels=pixels,
        mask=mask,
        matrix=_UPRIGHT,
    )


def _png_header(data: bytes) -> _PngHeader:
    if len(data) < 33 or data[12:16] != b"IHDR":
        raise _Wrong("The PNG file is damaged: it has no header")
    width, height, depth, color_type, _, _, interlace = struct.unpack(">IIBBBBB", data[16:29])
    if depth not in _DEPTHS.get(color_type, ()) or interlace > 1:
        raise _Wrong("The PNG file is damaged: its header is not of the standard")
    return _PngHeader(width, height, depth, color_type, bool(interlace))


def _png_chunks(data: bytes) -> dict[bytes, bytes]:
    """Give the chunks that matter by name, the pixel data joined; a wrong checksum is refused."""
    found: dict[bytes, bytes] = {}
    pixels: list[bytes] = []
    for name, content in _walk_chunks(data):
        if name == b"IDAT":
            pixels.append(content)
        elif name in (b"PLTE", b"tRNS", b"pHYs"):
            found[name] = content
    return found | {b"IDAT": b"".join(pixels)}


def _walk_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_PNG_SIGNATURE)
    while at + 12 <= len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        end = at + 8 + length
        if end + 4 > len(data) or name == b"IEND":
            break
        if zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            raise _Wrong(f"The PNG file is damaged: wrong checksum at byte {at}")
        yield name, data[at + 8 : end]
        at = end + 4


def _png_resolution(physical: bytes) -> tuple[float, float]:
    if len(physical) != 9 or physical[8] != 1:  # 1: pixels per metre
        return 0.0, 0.0
    across, down = struct.unpack(">II", physical[:8])
    return across * 0.0254, down * 0.0254


def _passes(header: _PngHeader, chunks: dict[bytes, bytes]) -> bool:
    if header.is_interlaced or header.color_type in (_GRAY_ALPHA, _RGBA):
        return False
    return header.color_type != _PALETTE or b"tRNS" not in chunks


def _passed_png(header: _PngHeader, chunks: dict[bytes, bytes]) -> PixelStream:
    """Take the rows over as they are: PDF reads PNG's filters (PDF 1.7, 7.4.4.4)."""
    components = _COMPONENTS[header.color_type]
    _check_rows(chunks[b"IDAT"], header, components)
    palette = chunks.get(b"PLTE", b"") if header.color_type == _PALETTE else b""
    if header.color_type == _PALETTE and not (3 <= len(palette) <= 768 and len(palette) % 3 == 0):
        raise _Wrong("The PNG file is damaged: its palette is missing or wrong")
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
    """Make sure the pixel data holds exactly the rows of the header, a few rows at a time."""
    row = 1 + (header.width * header.depth * components + 7) // 8
    expected = row * header.height
    inflater = zlib.decompressobj()
    seen, rest = 0, compressed
    while rest and not inflater.eof and seen <= expected:
        piece = inflater.decompress(rest, row * 64)
        if max(piece[::row], default=0) > 4:
            raise _Wrong("The PNG file is damaged: a row has an unknown filter")
        seen += len(piece)
        rest = inflater.unconsumed_tail
    if seen != expected:
        raise _Wrong("The PNG file is damaged: it has more or fewer pixels than its header says")


def _decoded_png(data: bytes, header: _PngHeader) -> tuple[PixelStream, PixelStream | None]:
    """Unpack what PDF cannot read as it is: transparency and interlaced rows."""
    if header.width * header.height > MAX_DECODED_PIXELS:
        raise _Wrong(
            f"The image has {header.width} × {header.height} pixels; with transparency or interlaced rows "
            f"at most {MAX_DECODED_PIXELS // 1_000_000} megapixels are drawn"
        )
    is_gray = header.color_type in (_GRAY, _GRAY_ALPHA)
    with Pillow.open(io.BytesIO(data), formats=("PNG",)) as opened:
        image = _eight_bits(opened).convert("LA" if is_gray else "RGBA")
    alpha = image.getchannel("A")
    color = image.convert("L" if is_gray else "RGB")
    mask = None if _is_opaque(alpha) else _flate(alpha)
    return _flate(color), mask


def _eight_bits(image: Pillow.Image) -> Pillow.Image:
    if not image.mode.startswith("I"):
        return image
    # Pillow keeps 16-bit gray as integers and would clip it at 255.
    return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")


def _flate(image: Pillow.Image) -> PixelStream:
    return PixelStream(
        width=image.width,
        height=image.height,
        bits=8,
        color_space="DeviceRGB" if image.mode == "RGB" else "DeviceGray",
        filter="FlateDecode",
        data=zlib.compress(image.tobytes(), 6),
    )


# --- Orientation (Exif 2.32) ------------------------------------------------------------------------


_UPRIGHT: Final[Matrix] = (1, 0, 0, 1, 0, 0)

# From the stored unit square to the shown one, by the value of the orientation tag.
_ORIENTATIONS: Final[dict[int, Matrix]] = {
    1: _UPRIGHT,
    2: (-1, 0, 0, 1, 1, 0),
    3: (-1, 0, 0, -1, 1, 1),
    4: (1, 0, 0, -1, 0, 1),
    5: (0, -1, -1, 0, 1, 1),
    6: (0, -1, 1, 0, 0, 1),
    7: (0, 1, 1, 0, 0, 0),
    8: (0, 1, -1, 0, 1, 0),
}
_ORIENTATION_TAG: Final = 0x0112


def _orientation(image: Pillow.Image) -> Matrix:
    return _ORIENTATIONS.get(image.getexif().get(_ORIENTATION_TAG, 1), _UPRIGHT)


# --- JPEG (ITU-T T.81) ------------------------------------------------------------------------------


_SPACES: Final = {1: "DeviceGray", 3: "DeviceRGB", 4: "DeviceCMYK"}
_DECODABLE_FRAMES: Final = (0xC0, 0xC1, 0xC2)  # Huffman: baseline, extended, progressive
_OTHER_FRAMES: Final = (0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)


@dataclass(frozen=True, slots=True)
class _JpegHeader:
    width: int
    height: int
    components: int
    is_adobe: bool


def _prepare_jpeg(data: bytes, key: str) -> PreparedImage:
    header = _jpeg_header(data)
    _judge_size(header.width, header.height)
    matrix, (across, down) = _checked_jpeg(data)
    is_turned = matrix[0] == 0
    width, height = (header.height, header.width) if is_turned else (header.width, header.height)
    return PreparedImage(
        key=key,
        width=width,
        height=height,
        width_points=_points(width, down if is_turned else across),
        height_points=_points(height, across if is_turned else down),
        pixels=PixelStream(
            width=header.width,
            height=header.height,
            bits=8,
            color_space=_SPACES[header.components],
            filter="DCTDecode",
            data=data,
            is_inverted=header.components == 4 and header.is_adobe,
        ),
        mask=None,
        matrix=matrix,
    )


def _jpeg_header(data: bytes) -> _JpegHeader:
    """Read size and components from the frame header, and whether Adobe's marker stands before it."""
    is_adobe = False
    for marker, content in _walk_segments(data):
        if marker == 0xEE and content.startswith(b"Adobe"):
            is_adobe = True
        if marker in _OTHER_FRAMES:
            raise _Wrong("The JPEG file is lossless or arithmetic coded, which PDF cannot hold")
        if marker in _DECODABLE_FRAMES and len(content) >= 6:
            precision, height, width, components = struct.unpack(">BHHB", content[:6])
            if precision != 8 or components not in _SPACES:
                raise _Wrong(
                    f"The JPEG file has {components} components of {precision} bits; 1, 3 or 4 of 8 bits are drawn"
                )
            return _JpegHeader(width, height, components, is_adobe)
    raise _Wrong("The JPEG file is damaged: it has no frame header")


def _walk_segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
            continue
        if marker == 0xDA:  # start of scan: no header follows
            return
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        yield marker, data[at + 4 : at + 2 + length]
        at += 2 + max(length, 2)


def _checked_jpeg(data: bytes) -> tuple[Matrix, tuple[float, float]]:
    """Decode the file once, at an eighth of its size, so that a damaged one is found here."""
    with Pillow.open(io.BytesIO(data), formats=("JPEG",)) as image:
        matrix = _orientation(image)
        across, down = image.info.get("dpi", (0.0, 0.0))
        image.draft(None, (max(1, image.width // 8), max(1, image.height // 8)))
        image.load()
    return matrix, (float(across), float(down))


# --- WebP (RFC 9649) --------------------------------------------------------------------------------


_ANIMATED: Final = 0x02  # flag of the extended header (RFC 9649, 2.7)


def _prepare_webp(data: bytes, key: str) -> PreparedImage:
    """Unpack the one picture of the file: PDF has no filter that reads WebP."""
    width, height = _webp_size(data)
    _judge_size(width, height)
    if width * height > MAX_WEBP_PIXELS:
        raise _Wrong(
            f"The image has {width} × {height} pixels; "
            f"of a WebP at most {MAX_WEBP_PIXELS // 1_000_000} megapixels are drawn"
        )
    image, matrix = _decoded_webp(data, (width, height))
    pixels, mask = _flate_with_mask(image)
    if matrix[0] == 0:
        width, height = height, width
    return PreparedImage(
        key=key,
        width=width,
        height=height,
        width_points=width * POINTS_PER_PIXEL,  # the format knows no resolution
        height_points=height * POINTS_PER_PIXEL,
        pixels=pixels,
        mask=mask,
        matrix=matrix,
    )


def _decoded_webp(data: bytes, size: tuple[int, int]) -> tuple[Pillow.Image, Matrix]:
    with Pillow.open(io.BytesIO(data), formats=("WEBP",)) as opened:
        if opened.size != size:
            raise _Wrong("The WebP file is damaged: its headers tell different sizes")
        # A copy lets go of the decoder, which holds the canvas twice.
        return opened.copy(), _orientation(opened)


def _webp_size(data: bytes) -> tuple[int, int]:
    """Read the size from the first chunk; the reader would make room for it before it looks further."""
    kind, content = data[12:16], data[20:30]
    if len(content) < 10:
        raise _Wrong("The WebP file is damaged: it has no header")
    if kind == b"VP8X":
        if content[0] & _ANIMATED:
            raise _Wrong("The WebP file is animated; a page shows still images")
        width, height = content[4:7], content[7:10]
        return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
    if kind == b"VP8L" and content[0] == 0x2F:
        bits = int.from_bytes(content[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and content[3:6] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", content[6:10])
        return width & 0x3FFF, height & 0x3FFF  # the upper two bits are a scale for displays
    raise _Wrong("The WebP file is damaged: its first chunk is no image header")


def _flate_with_mask(image: Pillow.Image) -> tuple[PixelStream, PixelStream | None]:
    if image.mode != "RGBA":
        return _flate(image), None
    alpha = image.getchannel("A")
    mask = None if _is_opaque(alpha) else _flate(alpha)
    return _flate(image.convert("RGB")), mask


def _is_opaque(alpha: Pillow.Image) -> bool:
    return alpha.getextrema()[0] == 255
