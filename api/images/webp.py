"""The header of a WebP file (RFC 9649): what is judged before the file is unpacked."""

from __future__ import annotations

from typing import BinaryIO, Final

from api.images.refusal import RefusedImageError

_HEADER_BYTES: Final = 30
_ANIMATED: Final = 0x02  # flag of the extended header (RFC 9649, 2.7)


def is_webp(file: BinaryIO) -> bool:
    """Tell whether a file begins as a WebP does; it stands at its start again afterwards."""
    start = file.read(12)
    file.seek(0)
    return start[:4] == b"RIFF" and start[8:] == b"WEBP"


def read_webp_size(file: BinaryIO) -> tuple[int, int]:
    """Return width and height from the first chunk; the file stands at its start again afterwards.

    The size told is a claim until the file has been decoded.

    Raises:
        RefusedImageError: the header is damaged, or of an animated image.
    """
    header = file.read(_HEADER_BYTES)
    file.seek(0)
    kind, content = header[12:16], header[20:]
    match kind:
        case b"VP8X" if len(content) == 10:
            return _read_extended(content)
        # A lossless picture of one colour may be a header of 5 bytes and 3 of pixels.
        case b"VP8L" if content[:1] == b"\x2f" and len(content) >= 5:
            bits = int.from_bytes(content[1:5], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 " if content[3:6] == b"\x9d\x01\x2a" and len(content) == 10:
            # The upper two bits of each are a scale for displays.
            width, height = content[6:8], content[8:10]
            return _little(width) & 0x3FFF, _little(height) & 0x3FFF
    raise RefusedImageError("The WebP file is damaged: its first chunk is no image header")


def _read_extended(content: bytes) -> tuple[int, int]:
    if content[0] & _ANIMATED:
        raise RefusedImageError(
            "The WebP file is animated; a page shows still images",
            advice="Save one of its pictures as an image of its own.",
        )
    return _little(content[4:7]) + 1, _little(content[7:10]) + 1


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
