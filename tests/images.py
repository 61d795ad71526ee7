"""Image files that renders refuse or draw: the corpus of the tests of uploads."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from PIL import Image

from shared.auth.accounts import CreatedAccount
from shared.blobs.store import BlobStore
from shared.clock import now
from shared.db.session import Database
from shared.files.repository import IMAGES

GOLDEN = Path(__file__).parent / "golden" / "images"
LETTERHEAD = (GOLDEN / "letterhead.pdf").read_bytes()


def encode(kind: str, image: Image.Image, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def plain(mode: str = "RGB", size: tuple[int, int] = (24, 16)) -> Image.Image:
    return Image.linear_gradient("L").resize(size).convert(mode)


# --- files ------------------------------------------------------------------------------------------


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(
    width: int,
    height: int,
    pixels: bytes,
    *,
    color_type: int = 0,
    depth: int = 8,
    interlaced: int = 0,
    more: bytes = b"",
    last: bytes = b"",
) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, interlaced)
    parts = [chunk(b"IHDR", header), more, chunk(b"IDAT", pixels), last, chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def packed(rows: bytes) -> bytes:
    return zlib.compress(rows)


def with_frame(marker: int, *, precision: int = 8, components: int = 3) -> bytes:
    """A JPEG whose frame header says something else than its data."""
    data = bytearray(encode("JPEG", plain()))
    at = data.index(b"\xff\xc0")
    data[at + 1] = marker
    data[at + 4] = precision
    data[at + 9] = components
    return bytes(data)


def with_segments(number: int, what: bytes = b"\xff\xfe\x00\x02") -> bytes:
    data = encode("JPEG", plain())
    return data[:2] + what * number + data[2:]


def with_exif(exif: bytes) -> bytes:
    return encode("JPEG", plain(), exif=b"Exif\0\0" + exif)


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"WEBP" + b"".join(
        name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2) for name, data in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def one_color(width: int, height: int, argb: tuple[int, int, int, int]) -> bytes:
    """A lossless WebP of one colour, without palette: five codes of one symbol each (RFC 9649, 3.7)."""
    bits: list[int] = []

    def put(value: int, count: int) -> None:
        bits.extend(value >> bit & 1 for bit in range(count))

    put(0x2F, 8)
    put(width - 1, 14)
    put(height - 1, 14)
    put(int(argb[0] < 255), 1)
    put(0, 3 + 3)  # version; no transform, no colour cache, one group of codes
    alpha, red, green, blue = argb
    for symbol in (green, red, blue, alpha, 0):
        put(1, 2)  # a simple code of one symbol
        put(int(symbol > 1), 1)
        put(symbol, 8 if symbol > 1 else 1)
    content = bytes(
        sum(bit << place for place, bit in enumerate(bits[at : at + 8]))
        for at in range(0, len(bits), 8)
    )
    return riff((b"VP8L", content))


def canvas(width: int, height: int, flags: int = 0) -> tuple[bytes, bytes]:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"VP8X", bytes([flags, 0, 0, 0]) + sides


def animated() -> bytes:
    frames = [plain(), plain().rotate(180)]
    return encode("WEBP", frames[0], save_all=True, append_images=frames[1:])


def svg(content: str = "", attributes: str = 'width="9" height="7"') -> bytes:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{content}</svg>'.encode()


def path(segments: int) -> str:
    return "M0 0" + "l1 1" * (segments - 1)


def copies(levels: int) -> str:
    steps = (
        f'<g id="a{level}">' + f'<use href="#a{level - 1}"/>' * 10 + "</g>"
        for level in range(1, levels)
    )
    return f'<rect id="a0"/>{"".join(steps)}'


def embedded(number: int, size: tuple[int, int]) -> str:
    """An `image` of its own in an SVG."""
    data = base64.b64encode(encode("PNG", Image.new("1", size)))
    address = f"data:image/png;x={number};base64,{data.decode()}"
    return f'<image width="9" height="9" href="{address}"/>'


def store_image(
    database: Database, blobs: BlobStore, made: CreatedAccount, name: str, data: bytes
) -> str:
    """Store bytes as an image without a check, as an earlier release may have; return the blob's key."""
    digest = sha256(data).hexdigest()
    key = IMAGES.blob_key(made.workspace_id, digest)
    blobs.put(key, io.BytesIO(data), len(data))
    record_image(database, made, name, sha256=digest, bytes=len(data))
    return key


def record_image(
    database: Database,
    made: CreatedAccount,
    name: str,
    *,
    at: datetime | None = None,
    **properties: object,
) -> None:
    """Record an image of one pixel, of which other properties are given."""
    found = {"content_type": "image/png", "width": 1, "height": 1} | properties
    with database.session() as session:
        IMAGES.record(
            session, made.workspace_id, name, properties=found, user=made.user, at=at or now()
        )


NOTHING = b""  # refused before it comes to a worker
REFUSED = {
    "pdf without objects": b"%PDF-1.7\nhello",
    "pdf without its cross-reference": LETTERHEAD[:-40],
    "no image": b"hello",
    "gif": encode("GIF", plain("P")),
    "arithmetic jpeg": with_frame(0xC9),
    "progressive arithmetic jpeg": with_frame(0xCA),
    "lossless jpeg": with_frame(0xC3),
    "12 bit jpeg": with_frame(0xC1, precision=12),
    "jpeg of 2 components": with_frame(0xC0, components=2),
    "jpeg without frame": b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(50),
    "jpeg of three bytes": b"\xff\xd8\xff",
    "cut jpeg": encode("JPEG", plain(size=(200, 200)))[:900],
    "jpeg of 20,000 segments": with_segments(20_000),
    "jpeg of 20,000 fill bytes": with_segments(20_000, b"\xff"),
    "large jpeg": with_frame(0xC0).replace(b"\x00\x10\x00\x18", b"\xff\xff\xff\xff"),
    "png without header": b"\x89PNG\r\n\x1a\n",
    "png with a header of another size": b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes(20)),
    "png of an unknown colour type": png(2, 1, packed(bytes(3)), color_type=5),
    "png of an impossible depth": png(2, 1, packed(bytes(13)), color_type=2, depth=4),
    "png of an unknown interlacing": png(2, 1, packed(bytes(3)), interlaced=2),
    "png without pixels": png(0, 5, packed(b"")),
    "png of 400 megapixels": png(20_000, 20_000, packed(b"")),
    "9000 x 9000 rgba of 16 bits": png(9000, 9000, packed(b""), color_type=6, depth=16),
    "9000 x 9000 gray and alpha": png(9000, 9000, packed(b""), color_type=4),
    "9000 x 9000 interlaced": png(9000, 9000, packed(b""), interlaced=1),
    "9000 x 9000 palette with alpha": png(
        *(9000, 9000, packed(b"")),
        color_type=3,
        more=chunk(b"PLTE", bytes(6)) + chunk(b"tRNS", bytes(2)),
    ),
    "png with an unknown filter": png(2, 1, packed(b"\x09\0\0")),
    "png with an unknown filter, with alpha": png(2, 1, packed(b"\x09\0\0\0\0"), color_type=4),
    "png with an unknown filter, interlaced": png(
        3, 3, packed(b"\0\0\0\0\0\0\0\0\x07\0\0\0\0\0"), interlaced=1
    ),
    "lossless webp that is cut": encode("WEBP", Image.effect_noise((64, 64), 90), lossless=True)[
        :300
    ],
    "png of too few pixels": png(10, 10, packed(bytes(50))),
    "png of too few pixels, with alpha": png(10, 10, packed(bytes(50)), color_type=6),
    "png of too many pixels": png(10, 10, packed(bytes(5000))),
    "png whose pixels are no stream": png(10, 10, b"hello"),
    "png whose pixels are no stream, with alpha": png(10, 10, b"hello", color_type=6),
    "png without palette": png(2, 1, packed(bytes(3)), color_type=3),
    "png of a broken palette": png(
        2, 1, packed(bytes(3)), color_type=3, more=chunk(b"PLTE", bytes(5))
    ),
    "png of a wrong checksum": png(2, 1, packed(bytes(3)), more=b"\0\0\0\2tEXtab\0\0\0\0"),
    "png cut in its pixels": encode("PNG", plain())[:60],
    "webp without chunks": riff(),
    "webp of another chunk": riff((b"ICCP", bytes(20))),
    "animated webp": animated(),
    "webp of 400 megapixels": riff(canvas(20_000, 20_000)),
    "webp of 25 megapixels": riff(canvas(5000, 5000)),
    "webp without pixels": riff(canvas(8, 6)),
    "webp of two sizes": riff(canvas(9, 9), (b"VP8L", one_color(2, 2, (1, 1, 1, 1))[20:])),
    "cut webp": encode("WEBP", plain(size=(200, 200)))[:60],
    "webp whose header is cut": one_color(2, 2, (1, 1, 1, 1))[:24],
    "svg with entities": b"<!DOCTYPE svg [<!ENTITY a SYSTEM 'b'>]>" + svg("&a;"),
    "svg that is not closed": svg("<g>"),
    "svg of an unknown encoding": b"<?xml version='1.0' encoding='none-such'?>" + svg(),
    "svg of another namespace": b"<x:svg xmlns:x='http://example.org/other'/>",
    "svg of too many bytes": svg(" " * 8_000_000),
    "svg of too many elements": svg("<g/>" * 50_000),
    "svg nested too deep": svg("<g>" * 101 + "</g>" * 101),
    "svg of too many attributes": svg("<g " + " ".join(f'a{n}="1"' for n in range(201)) + "/>"),
    "svg of no width": svg("", 'width="0" height="9"'),
    "svg of the width of a planet": svg("", 'width="9" height="1e300"'),
    "svg of too many copies": svg(copies(7)),
    "svg of too many style rules": svg("<style>" + "a{fill:red}" * 2001 + "</style>"),
    "svg of too many selectors": svg("<style>@x{a,b{}}a" + ",b" * 2000 + "{}</style>"),
    "svg of a long path": svg(f'<path d="{path(300_001)}"/>'),
    "svg of many closed pieces": svg(f'<path d="M0 0{"h1z" * 150_000}"/>'),
    "svg of a long polygon": svg('<polygon points="' + "1 2 " * 300_001 + '"/>'),
    "svg of a long line": svg(
        f'<g style="fill:none;stroke:#000;stroke-width:.5;opacity:1"><path d="{path(300_001)}"/></g>'
    ),
    "svg of a path filled and stroked": svg(f'<path stroke="#a00" d="{path(150_001)}"/>'),
    "svg of copies of a path": svg(
        f'<g fill="#123"><path id="a" transform="scale(2)" d="{path(10_000)}"/></g>'
        + '<use href="#a"/>' * 31
    ),
}

# Drawings over a bound that is reached only while they are drawn.
BEYOND_COUNTING = {
    "svg painted by its style sheet": svg(
        f'<style>path{{stroke:#a00}}</style><path d="{path(150_001)}"/>'
    ),
    "svg shown by its style sheet": svg(
        f'<style>.a{{fill:#a00}}</style><g fill="none"><path class="a" d="{path(300_001)}"/></g>'
    ),
    "svg of a long mask": svg(
        f'<mask id="m"><path fill="#fff" d="{path(300_001)}"/></mask>'
        '<rect width="9" height="7" mask="url(#m)"/>'
    ),
    "svg of a long clip": svg(
        f'<clipPath id="c"><path d="{path(300_001)}"/></clipPath>'
        '<rect width="9" height="7" clip-path="url(#c)"/>'
    ),
    "svg of a long pattern": svg(
        f'<pattern id="p" width="1" height="1"><path d="{path(300_001)}"/></pattern>'
        '<rect width="9" height="7" fill="url(#p)"/>'
    ),
    "svg of many patterns": svg(
        f'<pattern id="p" width="1" height="1"><path d="{path(10_000)}"/></pattern>'
        + "".join(f'<rect x="{n}" width="9" height="{n + 1}" fill="url(#p)"/>' for n in range(40))
    ),
    "svg of long markers": svg(
        f'<marker id="a"><path d="{path(1_000)}"/></marker>'
        f'<path fill="none" stroke="red" marker-mid="url(#a)" d="{path(400)}"/>'
    ),
    "svg of many markers": svg(
        '<marker id="a"><rect width="1" height="1"/></marker>'
        f'<path fill="none" stroke="red" marker-mid="url(#a)" d="{path(30_000)}"/>'
    ),
    "svg of long text": svg("<text>" + "word " * 1_300_000 + "</text>"),
    "svg of much text": svg('<text id="t">' + "word" * 5_000 + "</text>" + '<use href="#t"/>' * 20),
    "svg of too many comparisons of style rules": svg(
        "<style>" + "g{fill:red}" * 2_000 + "</style>" + "<g><g/></g>" * 300
    ),
    "svg of too many comparisons of ancestors": svg(
        "<style>" + "a b g{fill:red}" * 200 + "</style>" + "<g/>" * 60
    ),
    "svg of too many images": svg("".join(embedded(n, (1, 1)) for n in range(201))),
    "svg of images of too many pixels": svg(
        "".join(embedded(n, (4_000, 4_000 + n)) for n in range(3))
    ),
}

ACCEPTED = {
    **{f"png {mode}": encode("PNG", plain(mode)) for mode in ("1", "P", "RGBA", "LA", "I;16")},
    **{f"webp {mode}": encode("WEBP", plain(mode)) for mode in ("RGB", "RGBA")},
    "lossless webp": encode("WEBP", plain("RGBA"), lossless=True),
    "progressive jpeg": encode("JPEG", plain(), progressive=True),
    "cmyk jpeg": encode("JPEG", plain("CMYK")),
    "interlaced png": png(3, 3, packed(bytes(15)), interlaced=1),
    "pdf": LETTERHEAD,
    "pdf with what is left out": (GOLDEN / "foreign.pdf").read_bytes(),
    "webp of one colour without palette": one_color(1, 1, (1, 0, 0, 0)),
    "large webp of one colour": one_color(4800, 4800, (1, 1, 1, 1)),
    "opaque webp of one colour": one_color(37, 20, (255, 255, 0, 0)),
    "webp of one colour of long codes": one_color(37, 20, (255, 3, 4, 5)),
    "extended webp of one colour": riff(
        canvas(37, 20, 0x10), (b"VP8L", one_color(37, 20, (1, 0, 1, 0))[20:28])
    ),
    "jpeg of two pictures": encode("MPO", plain(), save_all=True, append_images=[plain()]),
    "jpeg with damaged exif": with_exif(b"II*\0\xff\xff\xff\xff"),
    "jpeg with an exif of other types": with_exif(
        b"II*\0\x08\0\0\0\x01\0\x12\x01\x02\0\x02\0\0\0a\0\0\0\0\0\0\0"
    ),
    "jpeg with fill bytes": with_segments(10, b"\xff"),
    "jpeg of 9,000 comments": with_segments(9000),
    "9000 x 9000 gray": png(9000, 9000, packed(bytes(9001) * 9000)),
    "png with a damaged profile": png(
        2, 1, packed(bytes(5)), color_type=4, more=chunk(b"iCCP", b"x\0\0bad")
    ),
    "png with a bomb of text": png(
        *(2, 1, packed(bytes(5))),
        color_type=4,
        last=chunk(b"zTXt", b"x\0\0" + packed(bytes(3_000_000))),
    ),
    "interlaced png with a transparency of another size": png(
        1, 1, packed(bytes(2)), interlaced=1, more=chunk(b"tRNS", b"\0")
    ),
    "palette png with too much transparency": png(
        *(1, 1, packed(bytes(2))),
        color_type=3,
        more=chunk(b"PLTE", bytes(3)) + chunk(b"tRNS", bytes(300)),
    ),
    "svg of the longest path": svg(f'<path d="{path(299_000)}"/>'),
    "svg of a path that is not painted": svg(f'<path fill="none" d="{path(300_001)}"/>'),
    "svg of a path that is not shown": svg(
        f'<style>.a{{display:none}}</style><path class="a" d="{path(300_001)}"/>'
    ),
    "svg of a long line of no width": svg(
        f'<path fill="none" stroke="#000" stroke-width="0" d="{path(300_001)}"/>'
    ),
    "svg of a path in defs": svg(f'<defs><path d="{path(300_001)}"/></defs>'),
    "svg of as many style rules as are read": svg("<style>" + "a{fill:red}" * 2000 + "</style>"),
}
